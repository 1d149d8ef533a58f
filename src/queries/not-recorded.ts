/** Reads the number of pushes without a log entry from the push counts, for the filter of a log query. */
import { ALL_REASONS } from '../protocol/errors';
import type { CountQuery, LogFilter } from '../storage/push-log';

/** An instant after every push. */
const LATEST = Date.UTC(9999, 11, 31);

/**
 * Whether the counts can answer the filter. The counts do not contain clients, matters, keys and request ids of pushes.
 */
export function isCountable(filter: LogFilter): boolean {
  const { requestId, batchId, externalId, idempotencyKey, clientId } = filter;
  return [requestId, batchId, externalId, idempotencyKey, clientId].every((it) => it === undefined);
}

/**
 * The query of the counts for a filter. The window begins at a whole minute. Pushes without a log entry were always
 * rejected.
 */
export function countQueryOf(filter: LogFilter): CountQuery {
  const { systemCode, from = 0, to = LATEST, operation, result, state } = filter;
  const asked = result === undefined ? undefined : [result].flat();
  const isRejected = state === undefined || state === 'REFUSED';
  const failures = isRejected ? (asked ?? ALL_REASONS) : [];
  const window = { from: from - (from % 60_000), to, operation, results: failures };
  return systemCode === undefined ? window : { systemCode, ...window };
}

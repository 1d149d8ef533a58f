/** Converts a log filter to a query that counts pushes without a log entry. */
import { ALL_REASONS } from '../protocol/errors';
import type { CountQuery, LogFilter } from '../storage/push-log';

const LATEST = Date.UTC(9999, 11, 31);

/** The push counts cannot select pushes by request id, batch, matter, idempotency key or client. */
export function isCountable(filter: LogFilter): boolean {
  const { requestId, batchId, externalId, idempotencyKey, clientId } = filter;
  return [requestId, batchId, externalId, idempotencyKey, clientId].every((it) => it === undefined);
}

/** The window begins at a whole minute, because each count covers one minute. */
export function countQueryOf(filter: LogFilter): CountQuery {
  const { systemCode, from = 0, to = LATEST, operation, result, state } = filter;
  const requested = result === undefined ? undefined : [result].flat();
  // Every push without a log entry was rejected.
  const isRejected = state === undefined || state === 'REFUSED';
  const results = isRejected ? (requested ?? ALL_REASONS) : [];
  const window = { from: from - (from % 60_000), to, operation, results };
  return systemCode === undefined ? window : { systemCode, ...window };
}

/** How many pushes like those of an answer have no entry in the log, as the counts tell. */
import { ALL_REASONS } from '../protocol/errors';
import type { LogFilter } from '../storage/push-log/log-filter';
import type { CountQuery } from '../storage/push-log/read-counts';

/** Beyond every time. */
const EVER = Date.UTC(9999, 11, 31);

/** Whether the counts know what a filter asks for: they know no single push, and no mends. */
export function isCountable(filter: LogFilter): boolean {
  const { requestId, batchId, externalId, idempotencyKey, clientId } = filter;
  return [requestId, batchId, externalId, idempotencyKey, clientId].every((it) => it === undefined);
}

/** To the minute. What has no entry was rejected, whatever else is asked for. */
export function countQueryOf(filter: LogFilter): CountQuery {
  const { systemCode, from = 0, to = EVER, operation, result, state } = filter;
  const asked = result === undefined ? undefined : [result].flat();
  const isRejected = state === undefined || state === 'REFUSED';
  const failures = isRejected ? (asked ?? ALL_REASONS) : [];
  const window = { from: from - (from % 60_000), to, operation, results: failures };
  return systemCode === undefined ? window : { systemCode, ...window };
}

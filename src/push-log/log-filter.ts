/** What a search of the push log can ask for; what is absent does not narrow it. */
import type { LogEntry, LogState } from './entry-model';

export interface LogFilter {
  readonly systemCode?: string | undefined;
  readonly clientId?: string | undefined;
  /** 24 hex digits. */
  readonly requestId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly externalId?: string | undefined;
  readonly operation?: string | undefined;
  /** An outcome or a reason. */
  readonly result?: string | undefined;
  readonly state?: LogState | undefined;
  /** Epoch milliseconds of receipt: the first that belongs to the window. */
  readonly from?: number | undefined;
  /** The first that does not. */
  readonly to?: number | undefined;
}

/** Whether an entry has what a filter asks for; window and request id are left to the ids. */
export function matchesFilter(entry: LogEntry, filter: LogFilter): boolean {
  return fieldsOf(filter).every(([field, value]) => entry[field as keyof LogEntry] === value);
}

/** The part that one index answers alone; in each of them the id follows (entry-model.ts), or is all. */
export function toIndexFilter(filter: LogFilter): Partial<LogFilter> {
  const { systemCode, externalId, idempotencyKey, result } = filter;
  if (systemCode === undefined) return {};
  if (externalId !== undefined) return { systemCode, externalId };
  if (idempotencyKey !== undefined) return { systemCode, idempotencyKey };
  return result === undefined ? { systemCode } : { systemCode, result };
}

/**
 * The name of that index (entry-model.ts). The server is told: by its own statistics it would take
 * another one now and then, and look at much of the log.
 */
export function indexOf(filter: LogFilter): string {
  if (filter.requestId !== undefined) return '_id_';
  const { systemCode, externalId, idempotencyKey, result } = toIndexFilter(filter);
  if (systemCode === undefined) return '_id_';
  if (externalId !== undefined) return 'matter_history';
  if (idempotencyKey !== undefined) return 'key_uses';
  return result === undefined ? 'system_newest' : 'results';
}

/** Whether its index leaves nothing to be looked at. */
export function isCovered(filter: LogFilter): boolean {
  return fieldsOf(filter).length === Object.keys(toIndexFilter(filter)).length;
}

/** The fields that an entry must have, without window and request id. */
function fieldsOf({ requestId: _id, from: _from, to: _to, ...fields }: LogFilter) {
  return Object.entries(fields).filter(([, value]) => value !== undefined);
}

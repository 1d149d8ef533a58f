/** The filter of a search in the push log. An absent field does not restrict the search. */
import { OUTCOMES } from '../../domain/decide';
import { ALL_REASONS } from '../../protocol/errors';
import type { LogState } from '../../protocol/log-states';
import { BATCH, RESEND } from '../../protocol/paths';
import { KEY_INDEX, type LogEntry } from './entry';

export interface LogFilter {
  readonly systemCode?: string | undefined;
  readonly clientId?: string | undefined;
  /** 24 hex digits. */
  readonly requestId?: string | undefined;
  /**
   * Request id of a batch, 24 hex digits. The filter selects the lines of the batch, or the batch itself if it was
   * rejected as a whole.
   */
  readonly batchId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly externalId?: string | undefined;
  readonly operation?: string | undefined;
  /** The entry must have one of these outcomes or reasons. */
  readonly result?: string | readonly string[] | undefined;
  readonly state?: LogState | undefined;
  /** True: only rejected and expired pushes. False does not restrict the search. */
  readonly failed?: boolean | undefined;
  /** True: only failed pushes that no later push has resolved (`mended.ts`). */
  readonly stillFailed?: boolean | undefined;
  /** Start of the window of receipt times, inclusive; epoch milliseconds. */
  readonly from?: number | undefined;
  /** End of the window, exclusive; epoch milliseconds. */
  readonly to?: number | undefined;
}

/** An index of `entry.ts`, and how a search uses it. */
interface IndexUse {
  readonly name: string;
  /** The conditions that the database checks, without the range of ids. */
  readonly indexFields: Readonly<Record<string, string | { readonly $in: readonly string[] }>>;
  /** The fields of the filter that `indexFields` checks completely. The search need not check these fields again. */
  readonly answers: readonly (keyof LogFilter)[];
}

/**
 * Whether an entry matches the filter. The function does not check the window and the request id, because a search
 * reads only entries whose ids match both.
 */
export function matchesFilter(entry: LogEntry, filter: LogFilter): boolean {
  return Object.entries(conditionsOf(filter)).every(([field, value]) => {
    if (field === 'failed') return hasFailed(entry);
    if (field === 'stillFailed') return hasFailed(entry) && !isRejectedBatch(entry);
    if (field === 'batchId') return batchOf(entry) === value;
    const own = entry[field as keyof LogEntry];
    return Array.isArray(value) ? value.includes(own) : own === value;
  });
}

/** Request id of the batch to which an entry belongs, 24 hex digits; undefined for a single push. */
function batchOf({ _id, operation, batchId }: LogEntry): string | undefined {
  if (batchId) return String(batchId);
  return hasManyPushes(operation) ? String(_id) : undefined;
}

/**
 * Whether an entry is a batch that was rejected as a whole. The batch names no matter, and its lines have no entries,
 * so no search can find a later push that resolves the batch. Therefore the batch does not count as still failed.
 */
export const isRejectedBatch = ({ operation, batchId }: Pick<LogEntry, 'operation' | 'batchId'>) =>
  hasManyPushes(operation) && batchId === undefined;

/** Whether a request of this operation contains many pushes. */
const hasManyPushes = (operation: string) => operation === BATCH || operation === RESEND;

/** The states of failed pushes: rejected and expired. */
export const FAILED_STATES: LogState[] = ['REFUSED', 'EXPIRED'];

/** Whether the push was rejected or has expired. */
export const hasFailed = ({ state }: Pick<LogEntry, 'state'>) => FAILED_STATES.includes(state);

/**
 * The index of a search. The search passes the name of the index as a hint. Without the hint, MongoDB sometimes chooses
 * another index and reads much of the log.
 */
export function indexUse(filter: LogFilter): IndexUse {
  const { systemCode, externalId, idempotencyKey, result } = filter;
  const failed = filter.failed || filter.stillFailed;
  if (filter.requestId !== undefined || systemCode === undefined) return byId(systemCode);
  // The lines of a batch have neighbouring ids, so a search with this index reads few other entries.
  if (filter.batchId !== undefined) return byFields('system_newest', { systemCode });
  if (externalId !== undefined) return byFields('matter_history', { systemCode, externalId });
  if (idempotencyKey !== undefined) {
    return byFields(KEY_INDEX, { systemCode, idempotencyKey });
  }
  const results = result === undefined ? undefined : [...new Set([result].flat())];
  // Outcomes need no index of their own: most entries have one of a few outcomes, so a page fills quickly.
  if (results ? results.some(isOutcome) : !failed) return byFields('system_newest', { systemCode });
  // In the index, the entries of each reason are one range. MongoDB merges the ranges in the order of ids.
  const indexFields = { systemCode, failure: { $in: results ?? ALL_REASONS } };
  return { name: 'failures', indexFields, answers: ['systemCode', 'failed', 'result'] };
}

const isOutcome = (result: string) => (OUTCOMES as readonly string[]).includes(result);

/** Whether all entries that the index selects match the filter. Then the search need not check the entries. */
export function isCovered(filter: LogFilter): boolean {
  const { answers } = indexUse(filter);
  return Object.keys(conditionsOf(filter)).every((part) =>
    answers.includes(part as keyof LogFilter),
  );
}

/** Fields that decide whether a later push has resolved a failed push. */
const RESOLUTION_FIELDS = [
  ...['state', 'systemCode', 'clientId'],
  ...['operation', 'externalId', 'idempotencyKey', 'batchId', 'resentFrom'],
];

/** The fields of entries that `matchesFilter` and the search for resolving pushes need. */
export function fieldsToRead(filter: LogFilter): readonly string[] {
  const fields = Object.keys(conditionsOf(filter)).flatMap((part) => {
    if (part === 'failed') return 'state';
    if (part === 'batchId') return ['batchId', 'operation'];
    return part === 'stillFailed' ? RESOLUTION_FIELDS : part;
  });
  return [...new Set(fields)];
}

/** A search across systems or for one request uses the index of ids. */
function byId(systemCode: string | undefined): IndexUse {
  return systemCode === undefined
    ? { name: '_id_', indexFields: {}, answers: [] }
    : { name: '_id_', indexFields: { systemCode }, answers: ['systemCode'] };
}

function byFields(name: string, indexFields: Readonly<Record<string, string>>): IndexUse {
  return { name, indexFields, answers: Object.keys(indexFields) as (keyof LogFilter)[] };
}

/** The fields of the filter that are set, without window and request id. */
function conditionsOf(filter: LogFilter) {
  const { requestId: _id, from: _from, to: _to, failed, stillFailed, ...fields } = filter;
  const flags = { ...(failed && { failed }), ...(stillFailed && { stillFailed }) };
  const given = Object.entries({ ...fields, ...flags });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

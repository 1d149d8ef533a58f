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
  /** Request id of a batch, 24 hex digits. */
  readonly batchId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly externalId?: string | undefined;
  readonly operation?: string | undefined;
  /** The entry must have one of these outcomes or reasons. */
  readonly result?: string | readonly string[] | undefined;
  readonly state?: LogState | undefined;
  /** If true, the search finds only rejected and expired pushes. */
  readonly failed?: boolean | undefined;
  /** If true, the search finds only unresolved failures (`mended.ts`). */
  readonly stillFailed?: boolean | undefined;
  /** Earliest time of receipt, inclusive; epoch milliseconds. */
  readonly from?: number | undefined;
  /** Latest time of receipt, exclusive; epoch milliseconds. */
  readonly to?: number | undefined;
}

interface IndexUse {
  readonly name: string;
  /** The conditions of the MongoDB query, without the range of ids. */
  readonly indexFields: Readonly<Record<string, string | { readonly $in: readonly string[] }>>;
  /** The filter fields that `indexFields` checks. */
  readonly answers: readonly (keyof LogFilter)[];
}

/** Ignores `from`, `to` and `requestId`, because the range of ids covers these fields. */
export function matchesFilter(entry: LogEntry, filter: LogFilter): boolean {
  return Object.entries(conditionsOf(filter)).every(([field, value]) => {
    if (field === 'failed') return hasFailed(entry);
    if (field === 'stillFailed') return hasFailed(entry) && !isRejectedBatch(entry);
    if (field === 'batchId') return batchOf(entry) === value;
    const own = entry[field as keyof LogEntry];
    return Array.isArray(value) ? value.includes(own) : own === value;
  });
}

function batchOf({ _id, operation, batchId }: LogEntry): string | undefined {
  if (batchId) return String(batchId);
  return hasManyPushes(operation) ? String(_id) : undefined;
}

/** Whether the entry is a batch that was rejected as a whole. */
export const isRejectedBatch = ({ operation, batchId }: Pick<LogEntry, 'operation' | 'batchId'>) =>
  hasManyPushes(operation) && batchId === undefined;

const hasManyPushes = (operation: string) => operation === BATCH || operation === RESEND;

export const FAILED_STATES: LogState[] = ['REFUSED', 'EXPIRED'];

export const hasFailed = ({ state }: Pick<LogEntry, 'state'>) => FAILED_STATES.includes(state);

/** Chooses the index for the hint of a search. Without a hint, MongoDB sometimes chooses a slow index. */
export function indexUse(filter: LogFilter): IndexUse {
  const { systemCode, externalId, idempotencyKey, result } = filter;
  const failed = filter.failed || filter.stillFailed;
  if (filter.requestId !== undefined || systemCode === undefined) return byId(systemCode);
  // The lines of a batch have neighbouring ids, so the index `system_newest` finds the lines quickly.
  if (filter.batchId !== undefined) return byFields('system_newest', { systemCode });
  if (externalId !== undefined) return byFields('matter_history', { systemCode, externalId });
  if (idempotencyKey !== undefined) {
    return byFields(KEY_INDEX, { systemCode, idempotencyKey });
  }
  const results = result === undefined ? undefined : [...new Set([result].flat())];
  // A search for an outcome needs no index of outcomes, because matching entries are frequent.
  if (results ? results.some(isOutcome) : !failed) return byFields('system_newest', { systemCode });
  const indexFields = { systemCode, failure: { $in: results ?? ALL_REASONS } };
  return { name: 'failures', indexFields, answers: ['systemCode', 'failed', 'result'] };
}

const isOutcome = (result: string) => (OUTCOMES as readonly string[]).includes(result);

/** Whether the index and the range of ids check the whole filter. If true, a search does not need `matchesFilter`. */
export function isCovered(filter: LogFilter): boolean {
  const { answers } = indexUse(filter);
  return Object.keys(conditionsOf(filter)).every((part) =>
    answers.includes(part as keyof LogFilter),
  );
}

const RESOLUTION_FIELDS = [
  ...['state', 'systemCode', 'clientId'],
  ...['operation', 'externalId', 'idempotencyKey', 'batchId', 'resentFrom'],
];

export function fieldsToRead(filter: LogFilter): readonly string[] {
  const fields = Object.keys(conditionsOf(filter)).flatMap((part) => {
    if (part === 'failed') return 'state';
    if (part === 'batchId') return ['batchId', 'operation'];
    return part === 'stillFailed' ? RESOLUTION_FIELDS : part;
  });
  return [...new Set(fields)];
}

function byId(systemCode: string | undefined): IndexUse {
  return systemCode === undefined
    ? { name: '_id_', indexFields: {}, answers: [] }
    : { name: '_id_', indexFields: { systemCode }, answers: ['systemCode'] };
}

function byFields(name: string, indexFields: Readonly<Record<string, string>>): IndexUse {
  return { name, indexFields, answers: Object.keys(indexFields) as (keyof LogFilter)[] };
}

function conditionsOf(filter: LogFilter) {
  const { requestId: _id, from: _from, to: _to, failed, stillFailed, ...fields } = filter;
  const flags = { ...(failed && { failed }), ...(stillFailed && { stillFailed }) };
  const conditions = Object.entries({ ...fields, ...flags });
  return Object.fromEntries(conditions.filter(([, value]) => value !== undefined));
}

/** What a search of the push log can ask for; what is absent does not narrow it. */
import { OUTCOMES } from '../../domain/decide';
import { ALL_REASONS } from '../../protocol/errors';
import type { LogState } from '../../protocol/log-states';
import { BATCH } from '../../protocol/paths';
import { KEY_INDEX, type LogEntry } from './entry-model';

export interface LogFilter {
  readonly systemCode?: string | undefined;
  readonly clientId?: string | undefined;
  /** 24 hex digits. */
  readonly requestId?: string | undefined;
  /** The same of a batch: its lines, or the batch itself where it was rejected as a whole. */
  readonly batchId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly externalId?: string | undefined;
  readonly operation?: string | undefined;
  /** An outcome or a reason, or several of which one must hold. */
  readonly result?: string | readonly string[] | undefined;
  readonly state?: LogState | undefined;
  /** True: only what ended without an effect, rejected or expired. False is no filter. */
  readonly failed?: boolean | undefined;
  /** True: only what of that nothing mended, as those look up who search (see mended.ts). */
  readonly stillFailed?: boolean | undefined;
  /** Epoch milliseconds of receipt: the first that belongs to the window. */
  readonly from?: number | undefined;
  /** The first that does not. */
  readonly to?: number | undefined;
}

/** One index (entry-model.ts), and what it answers alone; in each of them the id follows, or is all. */
interface IndexUse {
  readonly name: string;
  /** Fields of entries, each with its value or with several. */
  readonly along: Readonly<Record<string, string | { readonly $in: readonly string[] }>>;
  /** The parts of the filter that it answers. */
  readonly answers: readonly (keyof LogFilter)[];
}

/** Whether an entry has what a filter asks for; window and request id are left to the ids. */
export function matchesFilter(entry: LogEntry, filter: LogFilter): boolean {
  return Object.entries(asked(filter)).every(([field, value]) => {
    if (field === 'failed') return hasFailed(entry);
    if (field === 'stillFailed') return hasFailed(entry) && !isRefusedBatch(entry);
    if (field === 'batchId') return batchOf(entry) === value;
    const own = entry[field as keyof LogEntry];
    return Array.isArray(value) ? value.includes(own) : own === value;
  });
}

/** The id of its batch, 24 hex digits. */
function batchOf({ _id, operation, batchId }: LogEntry): string | undefined {
  if (batchId) return String(batchId);
  return operation === BATCH ? String(_id) : undefined;
}

/**
 * Whether it is a batch that was rejected as a whole. It names no matter, and its lines have no entries: nothing
 * that comes later can be seen to mend it, so it is not told as still failed.
 */
export const isRefusedBatch = ({ operation, batchId }: Pick<LogEntry, 'operation' | 'batchId'>) =>
  operation === BATCH && batchId === undefined;

/** Of what ended without an effect. */
export const FAILED_STATES: LogState[] = ['REFUSED', 'EXPIRED'];

/** Whether it ended without an effect. */
export const hasFailed = ({ state }: Pick<LogEntry, 'state'>) => FAILED_STATES.includes(state);

/**
 * The index that a search reads along. The server is told its name: by its own statistics it would
 * take another one now and then, and look at much of the log.
 */
export function indexUse(filter: LogFilter): IndexUse {
  const { systemCode, externalId, idempotencyKey, result } = filter;
  const failed = filter.failed || filter.stillFailed;
  if (filter.requestId !== undefined || systemCode === undefined) return byId(systemCode);
  // The ids of its lines are few, and beside its own: no other index would leave fewer.
  if (filter.batchId !== undefined) return alongField('system_newest', { systemCode });
  if (externalId !== undefined) return alongField('matter_history', { systemCode, externalId });
  if (idempotencyKey !== undefined) {
    return alongField(KEY_INDEX, { systemCode, idempotencyKey });
  }
  const results = result === undefined ? undefined : [...new Set([result].flat())];
  // Outcomes have no index (entry-model.ts): most entries have one of a few, so a page is filled soon.
  if (results ? results.some(isOutcome) : !failed)
    return alongField('system_newest', { systemCode });
  // One range of ids for each reason, merged.
  const along = { systemCode, failure: { $in: results ?? ALL_REASONS } };
  return { name: 'failures', along, answers: ['systemCode', 'failed', 'result'] };
}

const isOutcome = (result: string) => (OUTCOMES as readonly string[]).includes(result);

/** Whether its index leaves nothing to be looked at. */
export function isCovered(filter: LogFilter): boolean {
  const { answers } = indexUse(filter);
  return Object.keys(asked(filter)).every((part) => answers.includes(part as keyof LogFilter));
}

/** What tells whether a failure was mended. */
const MENDED_BY = [
  ...['state', 'systemCode', 'clientId'],
  ...['operation', 'externalId', 'idempotencyKey', 'batchId'],
];

/** The fields of entries that `matchesFilter`, and the look for what was mended, look at. */
export function fieldsLookedAt(filter: LogFilter): readonly string[] {
  const fields = Object.keys(asked(filter)).flatMap((part) => {
    if (part === 'failed') return 'state';
    if (part === 'batchId') return ['batchId', 'operation'];
    return part === 'stillFailed' ? MENDED_BY : part;
  });
  return [...new Set(fields)];
}

/** Across systems, or for one request, the ids are all. */
function byId(systemCode: string | undefined): IndexUse {
  return systemCode === undefined
    ? { name: '_id_', along: {}, answers: [] }
    : { name: '_id_', along: { systemCode }, answers: ['systemCode'] };
}

function alongField(name: string, along: Readonly<Record<string, string>>): IndexUse {
  return { name, along, answers: Object.keys(along) as (keyof LogFilter)[] };
}

/** What an entry must have, without window and request id. */
function asked(filter: LogFilter) {
  const { requestId: _id, from: _from, to: _to, failed, stillFailed, ...fields } = filter;
  const flags = { ...(failed && { failed }), ...(stillFailed && { stillFailed }) };
  const given = Object.entries({ ...fields, ...flags });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

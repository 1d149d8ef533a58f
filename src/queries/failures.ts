/** `push-logs/failures`: which failed, why, and are they mended? */
import type { Clock } from '../concurrency/clock';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import { ALL_REASONS } from '../protocol/errors';
import { type Failures, failuresSchema, type Mended } from '../protocol/failures';
import { readQuery } from '../protocol/query-body';
import { BY_ANYBODY } from '../storage/push-log/by-anybody';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { LogFilter } from '../storage/push-log/log-filter';
import type { FindMended, MendingEntry } from '../storage/push-log/mended';
import type { ReadCounts } from '../storage/push-log/read-counts';
import type { LogSearch } from '../storage/push-log/search';
import {
  type FailedSubject,
  groupsOf,
  isBatch,
  isStillFailed,
  rowOf,
  subjectOf,
  totalsOf,
} from './failure-groups';
import { countQueryOf } from './not-recorded';
import type { AnswerQuery } from './open-query';

export interface FailuresDependencies {
  readonly search: Pick<LogSearch, 'all'>;
  readonly findMended: FindMended;
  readonly counts: Pick<ReadCounts, 'unrecorded'>;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  readonly clock: Clock;
  /** Failures that a page looks at; 5,000 where absent. */
  readonly maxLookedAt?: number;
}

const MAX_LOOKED_AT = 5_000;
const POSITION = /^[0-9a-f]{24}$/;
/**
 * What is asked for where no reason is named. What anybody can cause is not among it: who knows a
 * client's id must not be able to hide its failures behind his own.
 */
const OWN_FAILURES = ALL_REASONS.filter((reason) => !BY_ANYBODY.includes(reason));

/**
 * @returns a query that answers `Failures`. A page looks at a stretch of the failures, the newest
 *   first, of so many entries and so many matters at most; only `nextCursor: null` means the end.
 * @throws (what is built) PushError VALIDATION_FAILED naming what is wrong
 */
export function createFailures(deps: FailuresDependencies): AnswerQuery {
  const { search, findMended, counts, timeZone, retention, clock } = deps;
  const { maxLookedAt = MAX_LOOKED_AT } = deps;
  const schema = failuresSchema(timeZone);

  return async ({ systemCode, body }): Promise<Failures> => {
    const { from, to, reason, stillFailed = false, limit, cursor } = readQuery(schema, body);
    const filter = {
      systemCode,
      result: reason ?? OWN_FAILURES,
      failed: true,
      from,
      to,
    } satisfies LogFilter;
    // `stillFailed` is no part of it: mended failures are left out after a page was read.
    const query = { systemCode, reason, from, to };
    const after = cursor === undefined ? undefined : decodeCursor(cursor, query, POSITION);
    const bounds = { maxRows: limit, maxLookedAt };
    const { bySubject, next } = await readStretch(search.all(filter, { after }), bounds);
    const [mended, notRecorded] = await Promise.all([
      findMended(systemCode, [...bySubject.values()].flatMap(newest)),
      counts.unrecorded(countQueryOf(filter)),
    ]);
    const all = [...bySubject.values()].map((entries) => toSubject(entries, mended));
    const subjects = stillFailed ? all.filter(isStillFailed) : all;
    return {
      totals: totalsOf(subjects),
      ...groupsOf(subjects),
      rows: subjects.map(rowOf),
      refusedBatches: all.filter(isBatch).length,
      notRecorded,
      complete: next === undefined,
      nextCursor: next === undefined ? null : encodeCursor(query, next),
      keptSince: new Date(clock() - retention).toISOString(),
    };
  };
}

interface Stretch {
  /** In the order of their last failures, the newest first; so are the failures of each. */
  readonly bySubject: ReadonlyMap<string, readonly LogEntry[]>;
  /** The last one that was looked at, where there may be more. */
  readonly next: string | undefined;
}

async function readStretch(
  failures: AsyncIterable<LogEntry>,
  { maxRows, maxLookedAt }: { readonly maxRows: number; readonly maxLookedAt: number },
): Promise<Stretch> {
  const bySubject = new Map<string, LogEntry[]>();
  let looked = 0;
  let last: string | undefined;
  for await (const entry of failures) {
    const name = subjectOf(entry);
    const entries = bySubject.get(name);
    const isFull = !entries && bySubject.size === maxRows;
    if (isFull || looked === maxLookedAt) return { bySubject, next: last };
    if (entries) entries.push(entry);
    else bySubject.set(name, [entry]);
    looked += 1;
    last = String(entry._id);
  }
  return { bySubject, next: undefined };
}

const newest = (entries: readonly LogEntry[]) => entries.slice(0, 1);

function toSubject(
  entries: readonly LogEntry[],
  mended: ReadonlyMap<string, MendingEntry>,
): FailedSubject {
  const found = mended.get(String(entries[0]?._id));
  return { entries, mended: found ? mendedView(found) : null };
}

function mendedView({
  _id,
  result = '',
  receivedAt,
  settledAt = receivedAt,
}: MendingEntry): Mended {
  return { requestId: String(_id), at: settledAt.toISOString(), outcome: result };
}

/**
 * The query `push-logs/failures` lists failed pushes. A failed push is "mended" if a later push has resolved the
 * failure.
 */
import type { Clock } from '../concurrency/timing';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import { ALL_REASONS, UNAUTHENTICATED_REASONS } from '../protocol/errors';
import { type Failures, failuresSchema, type Mended } from '../protocol/failures';
import { readQuery } from '../protocol/query-body';
import type {
  FindMended,
  LogEntry,
  LogFilter,
  LogSearch,
  MendingEntry,
  PushCountReader,
} from '../storage/push-log';
import {
  type FailedSubject,
  groupsOf,
  isRejectedBatchSubject,
  isStillFailed,
  rowOf,
  subjectOf,
  totalsOf,
} from './failure-groups';
import { countQueryOf } from './not-recorded';
import type { AnswerQuery } from './signed-query';

export interface FailuresDependencies {
  readonly search: Pick<LogSearch, 'all'>;
  readonly findMended: FindMended;
  readonly counts: Pick<PushCountReader, 'unrecorded'>;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  readonly clock: Clock;
  /** Maximum failed pushes that one query reads. */
  readonly maxChecked?: number;
}

const MAX_CHECKED = 5_000;
/** The position in a cursor: the request id of the last push of a page. */
const POSITION = /^[0-9a-f]{24}$/;
/** Omits reasons of unauthenticated requests. An attacker could send many of these requests to hide failed pushes. */
const DEFAULT_REASONS = ALL_REASONS.filter((reason) => !UNAUTHENTICATED_REASONS.includes(reason));

/** The query throws PushError VALIDATION_FAILED with the invalid fields if the body is invalid. */
export function createFailures(deps: FailuresDependencies): AnswerQuery<Failures> {
  const { search, findMended, counts, timeZone, retention, clock } = deps;
  const { maxChecked = MAX_CHECKED } = deps;
  const schema = failuresSchema(timeZone);

  return async ({ systemCode, language, body }): Promise<Failures> => {
    const { from, to, reason, stillFailed = false, limit, cursor } = readQuery(schema, body);
    const filter = {
      systemCode,
      result: reason ?? DEFAULT_REASONS,
      failed: true,
      from,
      to,
    } satisfies LogFilter;
    // A cursor is valid only for these values, so the request for the next page may change `stillFailed`.
    const query = { systemCode, reason, from, to };
    const after = cursor === undefined ? undefined : decodeCursor(cursor, query, POSITION);
    const bounds = { maxRows: limit, maxChecked };
    const { bySubject, continueAfter } = await readPage(search.all(filter, { after }), bounds);
    const [mended, notRecorded] = await Promise.all([
      findMended(systemCode, [...bySubject.values()].flatMap(newest)),
      counts.unrecorded(countQueryOf(filter)),
    ]);
    const all = [...bySubject.values()].map((entries) => toSubject(entries, mended));
    const subjects = stillFailed ? all.filter(isStillFailed) : all;
    return {
      totals: totalsOf(subjects),
      ...groupsOf(subjects),
      rows: subjects.map((subject) => rowOf(subject, language)),
      refusedBatches: all.filter(isRejectedBatchSubject).length,
      notRecorded,
      complete: continueAfter === undefined,
      nextCursor: continueAfter === undefined ? null : encodeCursor(query, continueAfter),
      keptSince: new Date(clock() - retention).toISOString(),
    };
  };
}

interface FailuresPage {
  /** The key is the subject (`subjectOf`). The value contains the failed pushes of the subject, newest first. */
  readonly bySubject: ReadonlyMap<string, readonly LogEntry[]>;
  /** Request id of the last push of the page; undefined if this is the last page. */
  readonly continueAfter: string | undefined;
}

async function readPage(
  failures: AsyncIterable<LogEntry>,
  { maxRows, maxChecked }: { readonly maxRows: number; readonly maxChecked: number },
): Promise<FailuresPage> {
  const bySubject = new Map<string, LogEntry[]>();
  let checked = 0;
  let last: string | undefined;
  for await (const entry of failures) {
    const name = subjectOf(entry);
    const entries = bySubject.get(name);
    const isFull = !entries && bySubject.size === maxRows;
    if (isFull || checked === maxChecked) return { bySubject, continueAfter: last };
    if (entries) entries.push(entry);
    else bySubject.set(name, [entry]);
    checked += 1;
    last = String(entry._id);
  }
  return { bySubject, continueAfter: undefined };
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

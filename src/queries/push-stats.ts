/** The query `push-logs/stats` returns numbers of pushes and percentiles of durations. */
import type { Clock } from '../concurrency/timing';
import { addDurations, percentile } from '../infra/durations';
import { isReason, PushError, problem } from '../protocol/errors';
import { dayAt, hourAt } from '../protocol/local-day';
import {
  type PushStats,
  type StatsBucket,
  type StatsRow,
  type StatsTotal,
  statsSchema,
} from '../protocol/push-stats';
import { readQuery } from '../protocol/query-body';
import { TEXTS } from '../protocol/texts';
import type { PeriodCount, PushCountReader } from '../storage/push-log';
import type { AnswerQuery } from './signed-query';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Default length of the queried window in milliseconds, by kind of bucket. */
const DEFAULT_WINDOW = { minute: HOUR, hour: DAY, day: 30 * DAY };
/** Maximum length of the queried window in milliseconds, by kind of bucket. */
const MAX_WINDOW = { minute: DAY, hour: 31 * DAY, day: 366 * DAY };

export interface StatsDependencies {
  readonly counts: PushCountReader;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  readonly clock: Clock;
}

interface Sum {
  /** Start of the bucket, epoch milliseconds. */
  readonly start: number;
  readonly operation: string;
  readonly result: string;
  pushes: number;
  notRecorded: number;
  /** Number of pushes in each range of durations (`infra/durations.ts`). */
  readonly times: Record<string, number>;
}

export function createStatsQuery({
  counts,
  timeZone,
  clock,
}: StatsDependencies): AnswerQuery<PushStats> {
  const schema = statsSchema(timeZone);
  return async ({ systemCode, body }): Promise<PushStats> => {
    const { by, operation, outcome = [], reason = [], ...request } = readQuery(schema, body);
    const startOf = createStartOf(by, timeZone);
    const window = windowOf(request, by, { startOf, now: clock() });
    const results = [outcome, reason].flat();
    const query = { systemCode, ...window, operation, ...(results.length > 0 && { results }) };
    const read = await counts.read(query, by === 'minute' ? 'minute' : 'hour');
    // If the read stopped at its limit, the answer begins with the first complete bucket.
    const begin =
      read.cutAt === undefined ? window.from : nextOf(startOf(read.cutAt - 1), by, startOf);
    const rows = sumUp(read.counts, startOf).filter(({ start }) => start >= begin);
    return {
      timeZone,
      by,
      from: toIso(begin),
      to: toIso(window.to),
      total: totalOf(rows),
      rows: rows.map(toRow),
      complete: read.cutAt === undefined,
    };
  };
}

type StartOf = (at: number) => number;

/** Caches each start, because computations with a time zone are slow. */
function createStartOf(by: StatsBucket, timeZone: string): StartOf {
  if (by === 'minute') return (at) => Math.floor(at / MINUTE) * MINUTE;
  const known = new Map<number, number>();
  return (at) => {
    const start = known.get(at) ?? (by === 'hour' ? hourAt : startOfDay)(at, timeZone);
    known.set(at, start);
    return start;
  };
}

const startOfDay = (at: number, timeZone: string) => dayAt(at, timeZone).start;
const lengthOf = (by: StatsBucket) => ({ minute: MINUTE, hour: HOUR, day: DAY })[by];

/** Extends the window to whole buckets. @throws PushError VALIDATION_FAILED if the window is too long */
function windowOf(
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  by: StatsBucket,
  { startOf, now }: { readonly startOf: StartOf; readonly now: number },
): { from: number; to: number } {
  const end = to ?? Math.max(now, (from ?? 0) + 1);
  const begin = from ?? end - DEFAULT_WINDOW[by];
  if (end - begin > MAX_WINDOW[by] + lengthOf(by)) {
    const text = TEXTS.windowTooLong(by, MAX_WINDOW[by] / HOUR);
    throw new PushError('VALIDATION_FAILED', { errors: [problem('from', text)] });
  }
  const last = startOf(end - 1);
  return { from: startOf(begin), to: Math.max(end, nextOf(last, by, startOf)) };
}

/** Adds 26 hours to the start of a day, because a day can have 25 hours. */
function nextOf(start: number, by: StatsBucket, startOf: StartOf): number {
  return startOf(start + lengthOf(by) + (by === 'day' ? 2 * HOUR : 0));
}

function sumUp(counts: readonly PeriodCount[], startOf: StartOf): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { operation, result, pushes = 0, unrecorded = 0, times = {}, ...count } of counts) {
    const start = startOf(count.start);
    const key = `${start} ${operation} ${result}`;
    const sum = sums.get(key) ?? { start, operation, result, pushes: 0, notRecorded: 0, times: {} };
    sum.pushes += pushes;
    sum.notRecorded += unrecorded;
    addDurations(sum.times, times);
    sums.set(key, sum);
  }
  const order = ({ operation, result }: Sum) => `${operation} ${result}`;
  return [...sums.values()].sort((a, b) => a.start - b.start || order(a).localeCompare(order(b)));
}

function toRow({ start, operation, result, pushes, notRecorded, times }: Sum): StatsRow {
  const isFailure = isReason(result);
  return {
    start: toIso(start),
    operation,
    outcome: isFailure ? null : result,
    reason: isFailure ? result : null,
    pushes,
    notRecorded,
    ...percentiles(times),
  };
}

function totalOf(rows: readonly Sum[]): StatsTotal {
  const times: Record<string, number> = {};
  const total = { pushes: 0, succeeded: 0, failed: 0, notRecorded: 0 };
  for (const row of rows) {
    total.pushes += row.pushes;
    total[isReason(row.result) ? 'failed' : 'succeeded'] += row.pushes;
    total.notRecorded += row.notRecorded;
    addDurations(times, row.times);
  }
  return { ...total, ...percentiles(times) };
}

function percentiles(times: Readonly<Record<string, number>>) {
  const rounded = (share: number) => {
    const ms = percentile(times, share);
    return ms === undefined ? null : Math.max(1, Math.round(ms));
  };
  return { p50Ms: rounded(0.5), p95Ms: rounded(0.95) };
}

const toIso = (at: number) => new Date(at).toISOString();

/**
 * Measures how long callers notice the death of a worker, of Redis, of the whole database, or of the primary of its
 * replica set. The load on all partitions is steady, and the service recovers before the next fault.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { median } from '../harness/figures';
import type { Member } from '../harness/member';
import { createRandom, type Random } from '../harness/random';
import { type BenchReport, textTable } from '../harness/report';
import { besideCallers } from './callers';
import type { PushAttempt } from './history';
import { confirmedAfter, watchElections } from './watches';

interface RecoveryOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** SIGKILLs of a worker. */
  readonly kills: number;
  /** SIGKILLs of Redis, and as many of the database. */
  readonly restarts: number;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** Milliseconds. */
interface RecoveryTimes {
  /** A push that takes longer than this counts as disturbed. */
  readonly unusual: number;
  /** Median duration of a push before the first fault. */
  readonly usual: number;
  /** Median duration of the pushes from GOALS after a fault until the next one. */
  readonly later: number;
  readonly worker: readonly number[];
  readonly redis: readonly number[];
  readonly mongo: readonly number[];
  /** From the election of another primary to the first confirmed push. */
  readonly primary: readonly number[];
}

/** Maximum milliseconds for every fault. */
const GOALS = { worker: 3_000, redis: 10_000, mongo: 10_000, primary: 2_000 };

const CALLERS = 24;
/** Milliseconds between two operations of a caller: the service is busy, but below its limit. */
const PAUSE = 50;
const KEYS = { hotKeys: 8, coldKeys: 500 };
const WARM_UP = 5_000;
/** Milliseconds before the first fault, in which the usual duration of a push is measured. */
const CALM = 20_000;
/** Milliseconds; longer than the goal, so that a missed goal is measured. */
const WATCHED = { worker: 4_500, redis: 12_000, mongo: 12_000 };
const WATCHED_PRIMARY = 12_000;
const DOWN = 1_000;

export function measureRecovery(options: RecoveryOptions): Promise<RecoveryTimes> {
  return withCluster({ ...options, ...SMALL, failOver: true }, (cluster) =>
    measure(cluster, options),
  );
}

/** One fault, and the start of its measured time. */
interface Struck {
  readonly what: keyof typeof WATCHED;
  readonly from: number;
}

async function measure(cluster: Cluster, options: RecoveryOptions): Promise<RecoveryTimes> {
  const random = createRandom(options.seed);
  const crowd = { random, callers: CALLERS, keys: KEYS, pause: PAUSE };
  const struck: Struck[] = [];
  const elections: number[] = [];
  let calm: Seen[] = [];
  let unusual = Infinity;
  const attempts = await besideCallers(cluster, crowd, options.signal, async (signal, soFar) => {
    await sleep(WARM_UP, undefined, { signal });
    const calmFrom = performance.now();
    await sleep(CALM, undefined, { signal });
    calm = soFar.filter(({ sentAt }) => sentAt >= calmFrom);
    unusual = unusualAbove(calm);
    options.say(`A push that takes longer than ${unusual} ms counts as disturbed`);
    struck.push(...(await killWorkers(cluster, random, { ...options, signal })));
    for (let n = 0; n < options.restarts; n += 1) {
      const of = `${n + 1} of ${options.restarts}`;
      for (const what of ['redis', 'mongo'] as const) {
        await killAndRestart(cluster[what]);
        struck.push({ what, from: performance.now() });
        await sleep(WATCHED[what], undefined, { signal });
        options.say(`${what} ${of}`);
      }
      elections.push(await killPrimary(cluster, signal));
      options.say(`primary ${of}`);
    }
  });
  const timesOf = (wanted: keyof typeof WATCHED) =>
    struck.flatMap(({ what, from }) =>
      what === wanted ? [troubleAfter(attempts, from, from + WATCHED[what], unusual)] : [],
    );
  const afterGoal = struck.flatMap(({ what, from }) =>
    attempts.filter(({ sentAt }) => sentAt >= from + GOALS[what] && sentAt < from + WATCHED[what]),
  );
  return {
    ...{ unusual, usual: medianDuration(calm), later: medianDuration(afterGoal) },
    ...{ worker: timesOf('worker'), redis: timesOf('redis'), mongo: timesOf('mongo') },
    primary: confirmedAfter(elections, attempts),
  };
}

/** Kills workers one after the other, each at a random moment of a partition job. */
async function killWorkers(
  { workers }: Cluster,
  random: Random,
  { kills, say, signal }: RecoveryOptions & { readonly signal: AbortSignal },
): Promise<Struck[]> {
  const struck: Struck[] = [];
  for (let n = 0; n < kills; n += 1) {
    await sleep(random.real(0, 300), undefined, { signal });
    const victim = workers[n % workers.length] as Member;
    victim.kill('SIGKILL');
    struck.push({ what: 'worker', from: performance.now() });
    await sleep(WATCHED.worker, undefined, { signal });
    await victim.restart();
    say(`worker ${n + 1} of ${kills}`);
  }
  return struck;
}

/**
 * @returns the time of the election of another primary, by the clock of the history; Infinity if there was no
 * election
 */
async function killPrimary(cluster: Cluster, signal: AbortSignal): Promise<number> {
  const primary = await cluster.mongo.primary();
  const votes = watchElections(cluster);
  try {
    primary.kill('SIGKILL');
    await sleep(WATCHED_PRIMARY, undefined, { signal });
    await primary.restart();
  } finally {
    await votes.stop();
  }
  return (await votes.stop())[0] ?? Infinity;
}

/** Resolves when the server answers again, because the service cannot recover earlier. */
async function killAndRestart(server: Member): Promise<void> {
  server.kill('SIGKILL');
  await sleep(DOWN);
  await server.restart();
}

type Seen = Pick<PushAttempt, 'sentAt' | 'endedAt' | 'end'>;

/** Whether a request had no answer, or needs a retry. */
const isFailed = ({ end }: Seen): boolean => end.kind !== 'answered' || end.code >= 500;

const medianDuration = (attempts: readonly Seen[]): number =>
  Math.round(median(attempts.map(({ sentAt, endedAt }) => endedAt - sentAt)));

/** Milliseconds up to which the duration of a push is usual on every machine. */
const USUAL = 500;
/** In a longer time than CALM, some pushes without a fault take longer than the slowest one of CALM. */
const MARGIN = 1.5;
/**
 * Milliseconds. MARGIN times this is 1.5 s: a push whose worker has died waits longer, until the lock of its job
 * expires.
 */
const SLOWEST_USUAL = 1_000;

/**
 * A slow machine delays pushes without a fault too.
 *
 * @param attempts requests before the first fault
 * @returns milliseconds; a request that takes longer counts as disturbed by a fault
 * @throws Error if there are no requests, if one failed, or if the machine is too slow to tell disturbed requests from
 *   others
 */
export function unusualAbove(attempts: readonly Seen[]): number {
  const failed = attempts.find(isFailed);
  if (failed || attempts.length === 0) {
    throw new Error(`Before the first fault, ${failed ? 'a push failed' : 'there were no pushes'}`);
  }
  const slowest = Math.round(
    attempts.reduce((longest, { sentAt, endedAt }) => Math.max(longest, endedAt - sentAt), 0),
  );
  if (slowest > SLOWEST_USUAL) {
    throw new Error(
      `A push took ${slowest} ms before the first fault. Recovery can be measured up to ${SLOWEST_USUAL} ms: ` +
        'stop other work on this machine, or use a faster one',
    );
  }
  return Math.max(USUAL, Math.round(MARGIN * slowest));
}

/**
 * Milliseconds from the fault to the end of the last request that it disturbed: a request that was unusually slow,
 * needs a retry, or had no answer.
 *
 * @param until the start of the next fault, which disturbs all open requests. Only those count that were already
 *   unusually slow
 * @param unusual milliseconds; a slower request counts as unusually slow
 */
export function troubleAfter(
  attempts: readonly Seen[],
  from: number,
  until: number,
  unusual: number = USUAL,
): number {
  const disturbed = attempts.filter((attempt) => {
    const { sentAt, endedAt } = attempt;
    if (endedAt < from) return false;
    if (endedAt > until) return until - sentAt > unusual;
    return isFailed(attempt) || endedAt - sentAt > unusual;
  });
  return disturbed.reduce((last, { endedAt }) => Math.max(last, endedAt - from), 0);
}

/** Recovered pushes may take up to this many times as long as before the first fault. */
const SLOWER = 2;

/** @returns the slowest and the median times with the goals */
export function recoveryReport(times: RecoveryTimes): BenchReport {
  const rows = (Object.keys(GOALS) as (keyof typeof GOALS)[]).map((what) => {
    const slowest = Math.round(Math.max(0, ...times[what]));
    const passed = slowest <= GOALS[what];
    return {
      what,
      times: times[what].length,
      median: Math.round(median(times[what])),
      slowest,
      passed,
    };
  });
  const lines = rows.map(({ what, times: count, median: usual, slowest, passed }) => [
    ...[what, count, usual, slowest, GOALS[what], passed ? 'passed' : 'FAILED'],
  ]);
  const head = ['after the death of', 'times', 'median ms', 'slowest ms', 'goal ms', ''];
  const { unusual, usual, later } = times;
  const isAsFast = later <= SLOWER * usual;
  const passed = isAsFast && rows.every((row) => row.passed);
  const text =
    `${textTable(lines, head)}\nA push that took longer than ${unusual} ms counted as disturbed. Median of all pushes: ` +
    `${usual} ms before the faults, ${later} ms after recovery (at most ${SLOWER} times that): ` +
    `${isAsFast ? 'passed' : 'FAILED'}`;
  return { passed, summary: { rows, times }, text };
}

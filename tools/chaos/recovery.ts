/**
 * Measures how long callers notice the death of a worker, of Redis, of the whole database, or of the primary of its replica
 * set. The load on all partitions is steady, and the service recovers before the next fault.
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

/** Milliseconds for each fault. */
interface RecoveryTimes {
  readonly worker: readonly number[];
  readonly redis: readonly number[];
  readonly mongo: readonly number[];
  /** From the election of another primary to the first confirmed push. */
  readonly primary: readonly number[];
}

/** Maximum milliseconds for every fault. */
const GOALS: Readonly<Record<keyof RecoveryTimes, number>> = {
  worker: 3_000,
  redis: 10_000,
  mongo: 10_000,
  primary: 2_000,
};

const CALLERS = 24;
/** Milliseconds between two operations of a caller: the service is busy, but below its limit. */
const PAUSE = 50;
const KEYS = { hotKeys: 8, coldKeys: 500 };
const WARM_UP = 2_000;
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
  const attempts = await besideCallers(cluster, crowd, options.signal, async (signal) => {
    await sleep(WARM_UP, undefined, { signal });
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
      what === wanted ? [troubleAfter(attempts, from, from + WATCHED[what])] : [],
    );
  return {
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

/** @returns the time of the election of another primary, by the clock of the history; Infinity if there was no election */
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

/** Milliseconds up to which the duration of a push counts as usual. */
const USUAL = 500;

/**
 * Milliseconds from the fault to the end of the last request that it disturbed: a request that was unusually slow, needs a
 * retry, or had no answer.
 *
 * @param until the start of the next fault, which disturbs all open requests. Only those count that were already unusually
 *   slow
 */
export function troubleAfter(
  attempts: readonly Pick<PushAttempt, 'sentAt' | 'endedAt' | 'end'>[],
  from: number,
  until: number,
): number {
  const disturbed = attempts.filter(({ sentAt, endedAt, end }) => {
    if (endedAt < from) return false;
    if (endedAt > until) return until - sentAt > USUAL;
    return end.kind !== 'answered' || end.code >= 500 || endedAt - sentAt > USUAL;
  });
  return disturbed.reduce((last, { endedAt }) => Math.max(last, endedAt - from), 0);
}

/** @returns the slowest and the median times with the goals */
export function recoveryReport(times: RecoveryTimes): BenchReport {
  const rows = (Object.keys(GOALS) as (keyof RecoveryTimes)[]).map((what) => {
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
  const passed = rows.every((row) => row.passed);
  return { passed, summary: { rows, times }, text: textTable(lines, head) };
}

/**
 * How long callers notice the death of a worker, of Redis, of the whole database, or of the primary of
 * its replica set: one fault after the other, under a steady load on all partitions, each with time to
 * recover before the next one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { median } from '../harness/figures';
import type { Member } from '../harness/member';
import { createRandom, type Random } from '../harness/random';
import { type Report, textTable } from '../harness/report';
import { besideCallers } from './callers';
import type { Attempt } from './history';
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

/** Milliseconds, a number per fault. */
interface RecoveryTimes {
  readonly worker: readonly number[];
  readonly redis: readonly number[];
  readonly mongo: readonly number[];
  /** From the election of another primary to the first push that was confirmed. */
  readonly primary: readonly number[];
}

/** Milliseconds, for every single one. */
const GOALS: Readonly<Record<keyof RecoveryTimes, number>> = {
  worker: 3_000,
  redis: 10_000,
  mongo: 10_000,
  primary: 2_000,
};

const CALLERS = 24;
/** Milliseconds between two operations of a caller: busy, but not at the limit. */
const PAUSE = 50;
const KEYS = { hotKeys: 8, coldKeys: 500 };
const WARM_UP = 2_000;
/** Longer than the goal, so that a miss is seen as one. */
const WATCHED = { worker: 4_500, redis: 12_000, mongo: 12_000 };
const WATCHED_PRIMARY = 12_000;
const DOWN = 1_000;

export function measureRecovery(options: RecoveryOptions): Promise<RecoveryTimes> {
  return withCluster({ ...options, ...SMALL, failOver: true }, (cluster) =>
    measure(cluster, options),
  );
}

/** One fault, and when its time began to run. */
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

/** One after the other, each at any moment of a partition job. */
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

/** @returns when another primary was elected, by the clock of the history; Infinity: none was */
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

/** Resolves when it answers again: before that nobody can recover. */
async function killAndRestart(server: Member): Promise<void> {
  server.kill('SIGKILL');
  await sleep(DOWN);
  await server.restart();
}

/** A push that waits no longer than this is on its usual way; milliseconds. */
const USUAL = 500;

/**
 * Milliseconds from the fault to the end of the last request that it disturbed: one that took
 * unusually long, that has to be tried again, or that got no answer.
 *
 * @param until when the next fault may strike: of what is still open then only that counts which
 *   has taken unusually long already, since the next fault disturbs all the others
 */
export function troubleAfter(
  attempts: readonly Pick<Attempt, 'sentAt' | 'endedAt' | 'end'>[],
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

/** A table of the slowest and the usual, against the goals. */
export function recoveryReport(times: RecoveryTimes): Report {
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

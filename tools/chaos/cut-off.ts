/**
 * `npm run chaos -- --cut-off`: measures how long callers notice that one of two workers is cut off from the
 * database. The load on all partitions is steady. Connections hang and are refused in turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { median } from '../harness/figures';
import type { Way } from '../harness/proxy';
import { createRandom } from '../harness/random';
import { type BenchReport, textTable } from '../harness/report';
import { besideCallers } from './callers';
import type { PushAttempt } from './history';
import { troubleAfter } from './recovery';

interface CutOffOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** Number of cuts of each kind. */
  readonly cuts: number;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** How the connections are cut. */
const CUTS = {
  hanging: (way: Way, on: boolean) => way.setDropping(on),
  refused: (way: Way, on: boolean) => way.setRefusing(on),
} as const;
type Cut = keyof typeof CUTS;

/** The effect of one cut on callers. */
export interface SeenOfCut {
  readonly cut: Cut;
  /** Median milliseconds of a push: before the cut, and after GOAL. */
  readonly usual: number;
  readonly later: number;
  /** Pushes that failed after GOAL. */
  readonly failures: number;
  /** Milliseconds from the cut to the end of the last disturbed push. */
  readonly disturbed: number;
}

const CALLERS = 24;
/** Milliseconds between two operations of a caller: the service is busy, but below its limit. */
const PAUSE = 50;
const KEYS = { hotKeys: 8, coldKeys: 500 };
/** Milliseconds: load before a cut, the cut, and until the worker has its share of partitions again. */
const BEFORE = 5_000;
const LASTS = 12_000;
const AFTER = 6_000;
/** Milliseconds after a cut until callers must not notice it, and the maximum slowdown of a push then. */
const GOAL = 3_000;
const SLOWER = 2;

export function measureCutOff(options: CutOffOptions): Promise<SeenOfCut[]> {
  return withCluster({ ...options, ...SMALL }, (cluster) => measure(cluster, options));
}

async function measure(cluster: Cluster, options: CutOffOptions): Promise<SeenOfCut[]> {
  const random = createRandom(options.seed);
  const crowd = { random, callers: CALLERS, keys: KEYS, pause: PAUSE };
  const made: { cut: Cut; from: number }[] = [];
  const attempts = await besideCallers(cluster, crowd, options.signal, async (signal) => {
    for (let n = 0; n < options.cuts; n += 1) {
      for (const cut of Object.keys(CUTS) as Cut[]) {
        const { name } = cluster.workers[n % cluster.workers.length] ?? { name: 'worker-0' };
        const way = cluster.mongo.wayOf(name);
        await sleep(AFTER + BEFORE, undefined, { signal });
        await CUTS[cut](way, true);
        made.push({ cut, from: performance.now() });
        await sleep(LASTS, undefined, { signal });
        await CUTS[cut](way, false);
        options.say(`${cut} ${n + 1} of ${options.cuts}`);
      }
    }
    await sleep(AFTER, undefined, { signal });
  });
  return made.map(({ cut, from }) => ({ cut, ...seenOf(attempts, from) }));
}

type Seen = Pick<PushAttempt, 'sentAt' | 'endedAt' | 'end'>;

/** @param from the time of the cut */
export function seenOf(attempts: readonly Seen[], from: number): Omit<SeenOfCut, 'cut'> {
  const until = from + LASTS;
  const tookIn = (since: number, to: number) =>
    attempts
      .filter(({ sentAt }) => sentAt >= since && sentAt < to)
      .map(({ sentAt, endedAt }) => endedAt - sentAt);
  const failed = attempts.filter(
    ({ end, endedAt }) =>
      endedAt >= from + GOAL && endedAt < until && (end.kind !== 'answered' || end.code >= 500),
  );
  return {
    usual: median(tookIn(from - BEFORE, from)),
    later: median(tookIn(from + GOAL, until)),
    failures: failed.length,
    disturbed: troubleAfter(attempts, from, until),
  };
}

const passes = ({ usual, later, failures }: SeenOfCut) => failures === 0 && later <= SLOWER * usual;

export function cutOffReport(seen: readonly SeenOfCut[]): BenchReport {
  const lines = seen.map((one) => [
    ...[one.cut, Math.round(one.usual), Math.round(one.later), one.failures],
    ...[Math.round(one.disturbed), passes(one) ? 'passed' : 'FAILED'],
  ]);
  const head = [
    ...['connections', 'p50 before, ms', `p50 from ${GOAL} ms on (goal: ${SLOWER} times that)`],
    ...[`failures from ${GOAL} ms on (goal: 0)`, 'last disturbed push, ms after the cut', ''],
  ];
  return { passed: seen.every(passes), summary: { seen }, text: textTable(lines, head) };
}

/**
 * `npm run chaos -- --cut-off`: how long callers notice that one worker is cut off from the database while another one
 * is not, under a steady load on all partitions. One cut after the other, in turn hanging and refused connections.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { median } from '../harness/figures';
import type { Way } from '../harness/proxy';
import { createRandom } from '../harness/random';
import { type Report, textTable } from '../harness/report';
import { besideCallers } from './callers';
import type { Attempt } from './history';
import { troubleAfter } from './recovery';

interface CutOffOptions {
  /** The project's folder; dist/ must be built. */
  readonly root: string;
  readonly seed: string;
  /** Of each kind. */
  readonly cuts: number;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** How a way is cut. */
const CUTS = {
  hanging: (way: Way, on: boolean) => way.setDropping(on),
  refused: (way: Way, on: boolean) => way.setRefusing(on),
} as const;
type Cut = keyof typeof CUTS;

/** What callers saw of one cut. */
export interface SeenOfCut {
  readonly cut: Cut;
  /** Milliseconds of a push, by half of them: before the cut, and from the goal's time after it on. */
  readonly usual: number;
  readonly later: number;
  /** Pushes that failed from the goal's time after the cut on. */
  readonly failures: number;
  /** Milliseconds from the cut to the end of the last push that was disturbed. */
  readonly disturbed: number;
}

const CALLERS = 24;
/** Milliseconds between two operations of a caller: busy, but not at the limit. */
const PAUSE = 50;
const KEYS = { hotKeys: 8, coldKeys: 500 };
/** Milliseconds: of the load before a cut, of a cut, and until the worker has its share again. */
const BEFORE = 5_000;
const LASTS = 12_000;
const AFTER = 6_000;
/** Milliseconds after a cut from which on it must not be noticed, and by how much a push may be slower then. */
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

type Seen = Pick<Attempt, 'sentAt' | 'endedAt' | 'end'>;

/** @param from when the way was cut */
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

export function cutOffReport(seen: readonly SeenOfCut[]): Report {
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

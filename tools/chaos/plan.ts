/** Draws the faults of a run from its seed. Pure. */

import { namesOf } from '../harness/process-names';
import type { Random } from '../harness/random';
import { FAULT_KINDS, type FaultKind } from './history';

export interface PlannedFault {
  /** Milliseconds after the start of the run. */
  readonly at: number;
  readonly kind: FaultKind;
  /** `web-0`, `worker-1`, `redis`, `mongo`, `secondary`, `sessions`. */
  readonly target: string;
  /** Milliseconds until it is undone; 0: at once. */
  readonly lasts: number;
  /** Delay, `outrun-worker`: milliseconds for every chunk. Memory: KiB above the used memory. Group: the shard. */
  readonly amount?: number;
}

export interface FaultMix {
  /** Each kind has its usual weight. */
  readonly kinds: readonly FaultKind[];
  /** 1: a fault starts every 0.5 to 4 s; 2: twice as often. */
  readonly pace: number;
}

export interface PlanOptions {
  readonly random: Random;
  /** Milliseconds. */
  readonly duration: number;
  readonly mix?: FaultMix;
  /** Number of processes. */
  readonly webs: number;
  readonly workers: number;
}

type Span = readonly [min: number, max: number];

interface Habit {
  readonly weight: number;
  readonly lasts: Span;
  /** Milliseconds for the target to recover before its next fault. */
  readonly back: number;
  readonly amount?: Span;
}

/** Milliseconds until a process is ready on a busy machine; a drain takes longer. */
const START = 3_000;
const DRAIN_AND_START = 6_000;
/** Until a server answers and clients have reconnected. */
const SERVER = 2_000;
/** Until another primary is elected, and the old one serves as a secondary. */
const ELECTION = 6_000;
const NETWORK = 500;
/** The shard whose primary is the target in a Cluster, modulo the number of shards. */
const SHARDS: Span = [0, 63];
/** Until all processes have detected that a connection is dead. */
const FOUND_OUT: Span = [6_000, 6_000];
/** Sometimes shorter than a process needs to detect that it alone has lost a server, sometimes much longer. */
const ALONE: Span = [1_000, 9_000];

/**
 * Faults that stop the whole service are rarer than faults of one process, so that the service works most of the
 * time. A worker loses its lock after 1.5 to 2 s.
 */
const HABITS: Readonly<Record<FaultKind, Habit>> = {
  'kill-web': { weight: 3, lasts: [200, 2_000], back: START },
  'kill-worker': { weight: 5, lasts: [200, 2_000], back: START },
  'stop-web': { weight: 2, lasts: [200, 3_000], back: NETWORK },
  'stop-worker': { weight: 5, lasts: [500, 5_000], back: NETWORK },
  'restart-web': { weight: 1, lasts: [0, 1_000], back: DRAIN_AND_START },
  'restart-worker': { weight: 2, lasts: [0, 1_000], back: DRAIN_AND_START },
  'leave-worker': { weight: 3, lasts: [3_000, 12_000], back: DRAIN_AND_START },
  'outrun-worker': { weight: 3, lasts: [400, 2_500], back: NETWORK, amount: [200, 1_000] },
  'drop-mongo-web': { weight: 1, lasts: ALONE, back: SERVER },
  'refuse-mongo-web': { weight: 1, lasts: ALONE, back: SERVER },
  'drop-redis-web': { weight: 1, lasts: ALONE, back: SERVER },
  'refuse-redis-web': { weight: 1, lasts: ALONE, back: SERVER },
  'drop-mongo-worker': { weight: 2, lasts: ALONE, back: SERVER },
  'refuse-mongo-worker': { weight: 2, lasts: ALONE, back: SERVER },
  'drop-redis-worker': { weight: 1, lasts: ALONE, back: SERVER },
  'refuse-redis-worker': { weight: 1, lasts: ALONE, back: SERVER },
  'restart-redis': { weight: 2, lasts: [200, 3_000], back: SERVER },
  'flush-redis': { weight: 2, lasts: [0, 0], back: NETWORK },
  'restart-mongo': { weight: 2, lasts: [200, 3_000], back: ELECTION },
  'delay-redis': { weight: 2, lasts: [1_000, 5_000], back: NETWORK, amount: [20, 300] },
  'drop-redis': { weight: 1, lasts: [500, 4_000], back: SERVER },
  'reset-redis': { weight: 3, lasts: [0, 0], back: NETWORK },
  'cut-redis': { weight: 3, lasts: [0, 0], back: NETWORK },
  'strand-redis': { weight: 1, lasts: FOUND_OUT, back: SERVER },
  'delay-mongo': { weight: 2, lasts: [1_000, 5_000], back: NETWORK, amount: [20, 300] },
  'drop-mongo': { weight: 1, lasts: [500, 4_000], back: SERVER },
  'reset-mongo': { weight: 3, lasts: [0, 0], back: NETWORK },
  'cut-mongo': { weight: 3, lasts: [0, 0], back: NETWORK },
  'strand-mongo': { weight: 1, lasts: FOUND_OUT, back: SERVER },
  'kill-primary': { weight: 3, lasts: [200, 5_000], back: ELECTION },
  'stop-primary': { weight: 2, lasts: [500, 6_000], back: ELECTION },
  'stepdown-primary': { weight: 3, lasts: [0, 0], back: ELECTION },
  'orphan-primary': { weight: 2, lasts: [500, 3_000], back: 2 * ELECTION },
  'stop-secondary': { weight: 1, lasts: [500, 5_000], back: NETWORK },
  'lag-secondary': { weight: 2, lasts: [2_000, 10_000], back: NETWORK },
  'reject-sessions': { weight: 2, lasts: [5_000, 20_000], back: NETWORK },
  'failover-redis': { weight: 3, lasts: [0, 1_500], back: SERVER },
  'switch-redis': { weight: 2, lasts: [0, 1_500], back: SERVER },
  'fill-redis': { weight: 2, lasts: [1_000, 5_000], back: SERVER, amount: [-512, 256] },
  'kill-group': { weight: 5, lasts: [200, 8_000], back: ELECTION, amount: SHARDS },
  'stop-group': { weight: 4, lasts: [500, 8_000], back: ELECTION, amount: SHARDS },
  'switch-group': { weight: 4, lasts: [0, 0], back: ELECTION, amount: SHARDS },
};

/**
 * Targets whose name differs from that of the kind. The replica set has one fault at a time, except for lagging
 * members.
 */
const TARGETS: Readonly<Record<string, string>> = { primary: 'mongo', group: 'redis' };
const GAP: Span = [500, 4_000];
const EVERYTHING: FaultMix = { kinds: FAULT_KINDS, pace: 1 };

/**
 * Faults overlap, but a target has at most one at a time. At least one web process is always without a fault. Each
 * target has time to recover before the end of the run.
 *
 * @returns the faults in the order of their starts; the same for the same seed and numbers
 */
export function planFaults(options: PlanOptions): PlannedFault[] {
  const { random, duration, mix = EVERYTHING } = options;
  const planned: PlannedFault[] = [];
  const busyUntil = new Map<string, number>();
  const gap = () => random.real(...GAP) / mix.pace;
  for (let at = gap(); at < duration; at += gap()) {
    const fault = drawFault({ ...options, mix }, busyUntil, Math.round(at));
    if (!fault) continue;
    planned.push(fault);
    busyUntil.set(fault.target, overAt(fault));
  }
  return planned;
}

/** @returns one of the faults that may start at this moment; undefined if none may */
function drawFault(
  { random, duration, mix, ...counts }: PlanOptions & { mix: FaultMix },
  busyUntil: ReadonlyMap<string, number>,
  at: number,
): PlannedFault | undefined {
  const isFree = (target: string) => (busyUntil.get(target) ?? 0) < at;
  const possible = mix.kinds
    .map((kind) => ({ kind, targets: freeTargets(kind, counts, isFree) }))
    .filter(({ targets }) => targets.length > 0);
  if (possible.length === 0) return undefined;
  const weights = possible.map((one) => [one, HABITS[one.kind].weight] as const);
  const { kind, targets } = random.weighted(weights);
  const { lasts, amount } = HABITS[kind];
  const fault = { at, kind, target: random.pick(targets), lasts: random.whole(...lasts) };
  if (overAt(fault) > duration) return undefined;
  return amount ? { ...fault, amount: random.whole(...amount) } : fault;
}

/** The place of a kind: `worker` of `drop-mongo-worker`. */
const placeOf = (kind: FaultKind) => kind.slice(kind.lastIndexOf('-') + 1);

/** The targets of a kind without a fault. One web process is always excluded. */
function freeTargets(
  kind: FaultKind,
  { webs, workers }: { webs: number; workers: number },
  isFree: (target: string) => boolean,
): string[] {
  const place = placeOf(kind);
  if (place !== 'web' && place !== 'worker') return [TARGETS[place] ?? place].filter(isFree);
  const all = namesOf(place, place === 'web' ? webs : workers);
  const free = all.filter(isFree);
  return place === 'web' && free.length <= 1 ? [] : free;
}

/** The expected time at which the target serves again. */
function overAt({ at, lasts, kind }: PlannedFault): number {
  return at + lasts + HABITS[kind].back;
}

/**
 * Draws the clock error of each process for a whole run, from a uniform distribution.
 *
 * @param maxShift milliseconds; the signatures of callers, whose clocks are right, must stay within the tolerated
 *   window
 * @returns milliseconds by the name of the process
 */
export function planClocks(
  random: Random,
  { webs, workers }: Pick<PlanOptions, 'webs' | 'workers'>,
  maxShift: number,
): Map<string, number> {
  const names = [...namesOf('web', webs), ...namesOf('worker', workers)];
  return new Map(names.map((name) => [name, random.whole(-maxShift, maxShift)]));
}

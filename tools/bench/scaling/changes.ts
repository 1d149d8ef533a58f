/** Changes of a pool of workers, and their results. */
import { sum } from '../../harness/figures';
import type { Random } from '../../harness/random';
import { Pool, type PoolPace } from './pool';

/** The result of a change, after the last move. */
export interface ScalingChange {
  readonly what: string;
  readonly workers: number;
  /** Number of times a worker took a partition. A partition that moves twice counts twice. */
  readonly moves: number;
  /** The minimum of moves for an even distribution. */
  readonly leastMoves: number;
  /** Milliseconds from the change to the last move. */
  readonly settled: number;
  /** The longest time in milliseconds in which a partition had no worker. */
  readonly pause: number;
  /** The largest and the smallest number of partitions of a worker, as multiples of the mean. */
  readonly maxHeld: number;
  readonly minHeld: number;
}

/** Milliseconds for which each change is observed. If moves continue after that, `settled` is close to this value. */
const OBSERVED = 10_000;

export interface Plan {
  readonly partitions: number;
  readonly pace: PoolPace;
  readonly random: Random;
}

/** Adds workers one at a time. */
export function growOneByOne(plan: Plan, workers: number): ScalingChange[] {
  const pool = new Pool(plan.partitions, plan.pace, plan.random);
  const first = observe(pool, plan, '1 joins', () => pool.join(1));
  const others = Array.from({ length: workers - 1 }, () =>
    observe(pool, plan, '1 joins', () => pool.join(1)),
  );
  return [first, ...others];
}

/** Adds and removes many workers at once, as autoscaling, rollouts and crashes do. */
export function jump(plan: Plan): ScalingChange[] {
  const pool = new Pool(plan.partitions, plan.pace, plan.random);
  pool.join(1);
  pool.run(OBSERVED);
  const steps: readonly (readonly [what: string, change: () => void])[] = [
    ['7 join 1', () => pool.join(7)],
    ['24 join 8', () => pool.join(24)],
    ['32 join 32', () => pool.join(32)],
    ['1 of 64 dies', () => pool.die(1)],
    ['15 of 63 die at once', () => pool.die(15)],
    ['16 join 48', () => pool.join(16)],
    ['8 join 64, and 8 die a second later', () => joinAndDie(pool)],
    ['a rollout: 16 of 64 leave, 16 join', () => replace(pool, 16)],
    ['32 of 64 leave at once', () => pool.leave(32)],
    ['28 of 32 leave at once', () => pool.leave(28)],
  ];
  return steps.map(([what, change]) => observe(pool, plan, what, change));
}

function replace(pool: Pool, count: number): void {
  pool.leave(count);
  pool.join(count);
}

function joinAndDie(pool: Pool): void {
  pool.join(8);
  pool.run(1_000);
  pool.die(8);
}

function observe(
  pool: Pool,
  { partitions }: Plan,
  what: string,
  change: () => void,
): ScalingChange {
  const [movesBefore, since] = [pool.moves, pool.now];
  pool.longestPause = 0;
  change();
  const kept = pool.held();
  pool.run(OBSERVED);
  const held = pool.held();
  const mean = partitions / held.length;
  return {
    what,
    workers: held.length,
    moves: pool.moves - movesBefore,
    leastMoves: leastMoves(kept, partitions),
    settled: Math.max(0, pool.lastMove - since),
    pause: pool.longestPause,
    maxHeld: Math.max(...held) / mean,
    minHeld: Math.min(...held) / mean,
  };
}

/** @param kept partitions of each worker right after a change */
function leastMoves(kept: readonly number[], partitions: number): number {
  const floor = Math.floor(partitions / kept.length);
  const ceiling = Math.ceil(partitions / kept.length);
  const lacking = sum(kept.map((held) => Math.max(0, floor - held)));
  const surplus = sum(kept.map((held) => Math.max(0, held - ceiling)));
  const orphaned = partitions - sum(kept);
  return Math.max(lacking, surplus + orphaned);
}

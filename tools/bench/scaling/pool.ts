/**
 * Simulates workers that start and end, in virtual time. The decision of a worker is the code of the service
 * (src/queue/balance.ts). Heartbeats, batches, jobs and crashes are simulated. All partitions have traffic, and all
 * workers are equally fast.
 */
import { createDampedShare } from '../../../src/queue/balance';
import type { Random } from '../../harness/random';

/** Durations in milliseconds. */
export interface PoolPace {
  /** Interval at which a worker reads the heartbeats of the others. */
  readonly lookEvery: number;
  /** A worker without a heartbeat for this time counts as dead. */
  readonly gone: number;
  /** Time until other workers get the jobs of a dead worker: the lock expires, then the check for stalled jobs runs. */
  readonly reclaimed: number;
  /** Longest time for which a batch delays the release of its partition. */
  readonly batch: number;
}

/** One step of virtual time. */
const STEP = 10;

interface Worker {
  readonly name: string;
  readonly share: ReturnType<typeof createDampedShare>;
  nextLook: number;
  /** Maximum partitions, from the last decision of the worker; undefined: no limit, as before the first decision. */
  max: number | undefined;
  /** The time of release by partition, in the order of acquisition; undefined: the worker keeps the partition. */
  readonly held: Map<number, number | undefined>;
  /** The number of partitions that are being released. If it is 0, a step of time skips the search for them. */
  leaving: number;
}

interface Idle {
  readonly partition: number;
  readonly since: number;
}

interface Heartbeat {
  readonly at: number;
  readonly partitions: number;
}

export class Pool {
  now = 0;
  /** Number of times a worker took a partition. */
  moves = 0;
  /** The time of the last move. */
  lastMove = 0;
  private names = 0;
  private workers: Worker[] = [];
  /** The heartbeats by name of the worker. */
  private readonly heartbeats = new Map<string, Heartbeat>();
  /** The longest time in milliseconds in which a partition had no worker. The caller resets it. */
  longestPause = 0;
  /** Partitions that a worker can take now, and the time since which they have had no worker. */
  private waiting: Idle[];
  /** Partitions of dead workers, and the time at which other workers can get them. */
  private stalled: { readonly at: number; readonly partitions: readonly Idle[] }[] = [];

  constructor(
    partitions: number,
    private readonly pace: PoolPace,
    private readonly random: Random,
  ) {
    this.waiting = Array.from({ length: partitions }, (_, partition) => ({ partition, since: 0 }));
  }

  /** Partitions of each worker. */
  held(): number[] {
    return this.workers.map(({ held }) => held.size);
  }

  join(count: number): void {
    for (let n = 0; n < count; n += 1) {
      this.names += 1;
      // Workers decide right after their start, and they do not start at the same moment.
      const nextLook = this.now + this.random.whole(0, this.pace.lookEvery);
      const name = `worker-${this.names}`;
      const share = createDampedShare(name);
      this.workers.push({ name, share, nextLook, max: undefined, held: new Map(), leaving: 0 });
    }
  }

  /** Stops random workers. Each releases its partitions and deletes its heartbeat, as after a SIGTERM. */
  leave(count: number): void {
    for (const { name, held } of this.removed(count)) {
      this.heartbeats.delete(name);
      this.waiting.push(...this.idle(held));
    }
  }

  /** Kills workers: their heartbeats stay. */
  die(count: number): void {
    for (const { held } of this.removed(count)) {
      this.stalled.push({ at: this.now + this.pace.reclaimed, partitions: this.idle(held) });
    }
  }

  /** Advances the virtual time. @param ms milliseconds */
  run(ms: number): void {
    const until = this.now + ms;
    while (this.now < until) {
      this.now += STEP;
      this.reclaim();
      for (const worker of this.workers) {
        if (worker.nextLook <= this.now) this.look(worker);
        this.release(worker);
      }
      this.takeJobs();
    }
  }

  private removed(count: number): Worker[] {
    const going = new Set(this.random.shuffled(this.workers).slice(0, count));
    this.workers = this.workers.filter((worker) => !going.has(worker));
    return [...going];
  }

  private idle(held: Worker['held']): Idle[] {
    return [...held.keys()].map((partition) => ({ partition, since: this.now }));
  }

  private reclaim(): void {
    const due = this.stalled.filter(({ at }) => at <= this.now);
    this.stalled = this.stalled.filter(({ at }) => at > this.now);
    this.waiting.push(...due.flatMap(({ partitions }) => partitions));
  }

  /** Writes the heartbeat of a worker, reads the others and applies the decision. */
  private look(worker: Worker): void {
    worker.nextLook = this.now + this.pace.lookEvery;
    for (const [name, { at }] of this.heartbeats) {
      if (at <= this.now - this.pace.gone) this.heartbeats.delete(name);
    }
    this.heartbeats.set(worker.name, { at: this.now, partitions: worker.held.size });
    const alive = new Map([...this.heartbeats].map(([name, { partitions }]) => [name, partitions]));
    const { release, max } = worker.share(alive);
    worker.max = max;
    for (const [partition, leaving] of [...worker.held].slice(0, release)) {
      if (leaving !== undefined) continue;
      worker.held.set(partition, this.now + this.random.whole(0, this.pace.batch));
      worker.leaving += 1;
    }
  }

  private release(worker: Worker): void {
    if (worker.leaving === 0) return;
    for (const [partition, leaving] of worker.held) {
      if (leaving === undefined || leaving > this.now) continue;
      worker.held.delete(partition);
      worker.leaving -= 1;
      this.waiting.push({ partition, since: this.now });
    }
  }

  /**
   * Gives each job to a random worker with free capacity, because the service does not determine which worker fetches
   * it first.
   */
  private takeJobs(): void {
    const left: Idle[] = [];
    for (const idle of this.waiting) {
      const free = this.workers.filter(hasRoom);
      if (free.length === 0) {
        left.push(idle);
        continue;
      }
      this.random.pick(free).held.set(idle.partition, undefined);
      this.longestPause = Math.max(this.longestPause, this.now - idle.since);
      this.moves += 1;
      this.lastMove = this.now;
    }
    this.waiting = left;
  }
}

const hasRoom = ({ max, held }: Worker) => max === undefined || held.size < Math.max(1, max);

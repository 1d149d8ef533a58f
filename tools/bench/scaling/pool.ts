/**
 * Workers that come and go, in virtual time: what each of them does at a look is the code of the service
 * (src/queue/balance.ts); looks, batches, jobs and deaths around it are played. All partitions have
 * traffic, all workers the same power.
 */
import { createDampedShare } from '../../../src/queue/balance';
import type { Random } from '../../harness/random';

/** How long things take, milliseconds. */
export interface PoolPace {
  /** Between two looks of a worker at the others. */
  readonly lookEvery: number;
  /** Without a look, after which a worker counts no more. */
  readonly gone: number;
  /** Until the jobs of a dead worker are given to others: lock and check. */
  readonly reclaimed: number;
  /** A batch that is under way when its partition is let go of: at most so long. */
  readonly batch: number;
}

/** One step of virtual time. */
const STEP = 10;

interface Worker {
  readonly name: string;
  readonly share: ReturnType<typeof createDampedShare>;
  nextLook: number;
  /** Of its last look. */
  max: number | undefined;
  /** By partition, when it is let go of; undefined: it is kept. In the order in which they came. */
  readonly held: Map<number, number | undefined>;
  /** Partitions that it is letting go of: mostly none, so that a step of time has nothing to look at. */
  leaving: number;
}

interface Idle {
  readonly partition: number;
  readonly since: number;
}

interface Told {
  readonly at: number;
  readonly partitions: number;
}

export class Pool {
  now = 0;
  /** Partitions that a worker took. */
  moves = 0;
  /** When the last of them was taken. */
  lastMove = 0;
  private names = 0;
  private workers: Worker[] = [];
  /** What workers said of themselves, by name. */
  private readonly told = new Map<string, Told>();
  /** Longest time for which a partition had nobody, milliseconds. To be set back by who measures. */
  longestPause = 0;
  /** Partitions whose job waits for a worker, and since when nobody works on them. */
  private waiting: Idle[];
  /** Those of the dead, and when their jobs are reclaimed. */
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
      // Its first look comes with its start, and starts are not at the same moment.
      const nextLook = this.now + this.random.whole(0, this.pace.lookEvery);
      const name = `worker-${this.names}`;
      const share = createDampedShare(name);
      this.workers.push({ name, share, nextLook, max: undefined, held: new Map(), leaving: 0 });
    }
  }

  /** In order: each finishes its batches, lets go of its partitions and says that it goes. */
  leave(count: number): void {
    for (const { name, held } of this.removed(count)) {
      this.told.delete(name);
      this.waiting.push(...this.idle(held));
    }
  }

  /** Without a word. */
  die(count: number): void {
    for (const { held } of this.removed(count)) {
      this.stalled.push({ at: this.now + this.pace.reclaimed, partitions: this.idle(held) });
    }
  }

  /** Lets time go by. @param ms milliseconds */
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

  /** Says how much it holds, hears how much the others do, and follows. */
  private look(worker: Worker): void {
    worker.nextLook = this.now + this.pace.lookEvery;
    for (const [name, { at }] of this.told) {
      if (at <= this.now - this.pace.gone) this.told.delete(name);
    }
    this.told.set(worker.name, { at: this.now, partitions: worker.held.size });
    const alive = new Map([...this.told].map(([name, { partitions }]) => [name, partitions]));
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

  /** Each job goes to somebody who has room for it: whoever asks first, which nobody can tell. */
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

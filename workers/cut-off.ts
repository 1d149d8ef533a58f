/**
 * A worker that cannot reach the database, while others can, is paused: otherwise it would keep its share of the
 * partitions and hold each of their pushes until a batch times out.
 *
 * It compares itself with the other workers, because only then is the fault its own. If the database is away, or too
 * slow for everybody, no worker is paused: nobody could do its work. One worker at least always goes on.
 */
import { type PingState, type Pings, startPings } from '../src/concurrency/pings';
import type { GroupWorker } from '../src/queue/group-worker';
import type { Sharing } from '../src/queue/live-workers';
import type { WorkerReach } from '../src/queue/worker-reach';
import type { Logger } from '../src/runtime/logger';
import { outagesOf } from '../src/runtime/outages';

/** Milliseconds between two pings. */
const INTERVAL = 200;
/**
 * Milliseconds in which a ping must be answered. A ping takes no lock and reads nothing, so a busy database answers it
 * soon. Two of them, an interval each and the time in which others take over are less than the promised 3 s.
 */
const TIMEOUT = 700;
const FAILURES_TO_PAUSE = 2;
/** Milliseconds: connections that were reset once are made anew within them. */
const FAILING_TO_PAUSE = 1_000;
/** Milliseconds within which another worker must have reported, so that this one may wait before it resumes. */
const REPORTED = 2_000;
/** Milliseconds without a pause after which a pause counts as the first one. */
const CALM = 60_000;
/** Milliseconds for which the database must have answered before a second resumption, doubled with each one. */
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 30_000;

export interface CutOffOptions {
  /** A round trip to the database. */
  readonly ping: () => Promise<unknown>;
  readonly reach: WorkerReach;
  readonly worker: Pick<GroupWorker, 'pause' | 'resume' | 'isPaused'>;
  readonly sharing: Pick<Sharing, 'report'>;
  readonly logger: Logger;
}

/** The worker is paused from the second failed ping to the first one that is answered. */
export function watchCutOff(options: CutOffOptions): Pings {
  const { ping, logger } = options;
  const cutOff = new CutOff(options);
  return startPings({
    ping,
    timeout: TIMEOUT,
    interval: INTERVAL,
    onPing: (state) => cutOff.judge(state),
    onError: (error) => logger.debug({ error: String(error) }, 'pings not judged, tried again'),
  });
}

/** Decides by pings. */
export class CutOff {
  private resumedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds for which the database must have answered before this worker resumes. */
  private wait = 0;

  constructor(
    private readonly options: Omit<CutOffOptions, 'ping'>,
    private readonly clock = () => performance.now(),
  ) {}

  /** Called after each ping. */
  async judge(state: PingState): Promise<void> {
    const { worker, reach } = this.options;
    const isPaused = worker.isPaused();
    if (state.answeredSince === undefined) {
      if (!isPaused && (await this.isCutOff(state))) await this.pause(state);
      return;
    }
    const answeredFor = this.clock() - state.answeredSince;
    if (!isPaused) return reach.report(answeredFor);
    if (await this.mayResume(answeredFor)) await this.resume();
  }

  /** Another worker must have reached the database before the last failed ping began, and since. */
  private async isCutOff({ failures, failingSince, lastBegan }: PingState): Promise<boolean> {
    const failing = this.clock() - (failingSince ?? this.clock());
    if (failures < FAILURES_TO_PAUSE || failing < FAILING_TO_PAUSE) return false;
    const age = this.clock() - lastBegan;
    return this.options.reach.isReachedByOther(age, age);
  }

  /** A worker whose connection comes and goes must not take partitions each time. But if no other one works, it does. */
  private async mayResume(answeredFor: number): Promise<boolean> {
    if (answeredFor >= this.wait) return true;
    return !(await this.options.reach.isReachedByOther(0, REPORTED));
  }

  private async pause({ failures, error }: PingState): Promise<void> {
    const { worker, sharing, logger } = this.options;
    const isFirst = this.clock() - this.resumedAt > CALM;
    this.wait = isFirst ? 0 : Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, 2 * this.wait));
    outagesOf(logger).lost('mongodb', CONNECTION, error);
    logger.warn(
      { failures, error },
      'worker paused: other workers reach the database, it does not',
    );
    await Promise.all([worker.pause(), sharing.report()]);
  }

  private async resume(): Promise<void> {
    const { worker, sharing, logger } = this.options;
    await worker.resume();
    this.resumedAt = this.clock();
    outagesOf(logger).back('mongodb', CONNECTION);
    logger.info('worker resumed: the database answers its pings');
    await sharing.report();
  }
}

/** As outages name it. */
const CONNECTION = 'pings';

/**
 * Pauses a worker that cannot reach the database while other workers can. Without the pause, the worker would keep its
 * share of the partitions and delay each of their pushes until a batch times out.
 *
 * The worker compares itself with other workers to find out whether its own connection is the cause. If the database is
 * unavailable or slow for all workers, no worker pauses, because no other worker could take over the partitions. At
 * least one worker always continues.
 */
import { type PingState, type Pings, startPings } from '../src/concurrency/reach';
import type { Logger } from '../src/infra/logger';
import { outagesOf } from '../src/infra/outages';
import type { WorkerReach } from '../src/queue/commands/worker-reach';

/** Milliseconds between two pings. */
const INTERVAL = 200;
/**
 * Timeout of a ping in milliseconds. A ping takes no lock and reads nothing, so a busy database answers soon. Two
 * failed pings, their intervals and the takeover by other workers take less than 3 s (docs/architecture.md: Recovery).
 */
const TIMEOUT = 700;
const FAILURES_TO_PAUSE = 2;
/**
 * The worker pauses only after pings have failed for these milliseconds. The driver replaces a reset connection in less
 * time, so a reset connection causes no pause.
 */
const FAILING_TO_PAUSE = 1_000;
/**
 * Maximum age in milliseconds of another worker's report that the database is reachable. If there is no such report, a
 * paused worker resumes as soon as the database answers.
 */
const MAX_REPORT_AGE = 2_000;
/** When these milliseconds have passed after a resumption, the next pause counts as a first pause again. */
const CALM_TIME = 60_000;
/**
 * A second pause ends only when the database has answered for these milliseconds. Each further pause doubles the time.
 * The first pause ends as soon as the database answers.
 */
const FIRST_WAIT = 2_000;
/** Maximum of the doubled time, milliseconds. */
const MAX_WAIT = 30_000;

export interface CutOffOptions {
  readonly reach: WorkerReach;
  readonly worker: { isPaused(): boolean; pause(): Promise<void>; resume(): Promise<void> };
  readonly heartbeat: { beat(): Promise<void> };
  readonly logger: Logger;
}

/**
 * Pings the database, pauses the worker after failures, and resumes it when the database answers.
 *
 * @param ping a round trip to the database
 */
export function watchCutOff(ping: () => Promise<unknown>, options: CutOffOptions): Pings {
  const { logger } = options;
  const cutOff = new CutOff(options);
  return startPings({
    ping,
    timeout: TIMEOUT,
    interval: INTERVAL,
    onPing: (state) => cutOff.judge(state),
    onError: (error) => logger.debug({ error: String(error) }, 'check of pings failed, retrying'),
  });
}

/** Pauses and resumes the worker by the results of pings. */
export class CutOff {
  private resumedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds for which the database must have answered before this worker resumes. */
  private wait = 0;

  constructor(
    private readonly options: CutOffOptions,
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

  /**
   * True if enough pings of this worker have failed and another worker reaches the database. Since the start of the
   * last failed ping, the other worker must have sent a report. In this time, the database must have answered all pings
   * of the other worker.
   */
  private async isCutOff({ failures, failingSince, lastBegan }: PingState): Promise<boolean> {
    const failing = this.clock() - (failingSince ?? this.clock());
    if (failures < FAILURES_TO_PAUSE || failing < FAILING_TO_PAUSE) return false;
    const age = this.clock() - lastBegan;
    return this.options.reach.isReachedByOther(age, age);
  }

  /** True if the database has answered for `wait` milliseconds, or if no other worker reaches the database. */
  private async mayResume(answeredFor: number): Promise<boolean> {
    if (answeredFor >= this.wait) return true;
    return !(await this.options.reach.isReachedByOther(0, MAX_REPORT_AGE));
  }

  private async pause({ failures, error }: PingState): Promise<void> {
    const { worker, heartbeat, logger } = this.options;
    const isFirst = this.clock() - this.resumedAt > CALM_TIME;
    this.wait = isFirst ? 0 : Math.min(MAX_WAIT, Math.max(FIRST_WAIT, 2 * this.wait));
    outagesOf(logger).lost('mongodb', CONNECTION, error);
    logger.warn(
      { failures, error },
      'worker paused: other workers reach the database, this worker does not',
    );
    await Promise.all([worker.pause(), heartbeat.beat()]);
  }

  private async resume(): Promise<void> {
    const { worker, heartbeat, logger } = this.options;
    await worker.resume();
    this.resumedAt = this.clock();
    outagesOf(logger).back('mongodb', CONNECTION);
    logger.info('worker resumed: the database answers its pings');
    await heartbeat.beat();
  }
}

/** Name of the connection in outage messages. */
const CONNECTION = 'pings';

/**
 * Pauses a worker that cannot reach the database while other workers can. Otherwise the worker would keep its
 * partitions and delay the pushes of these partitions until a batch times out.
 *
 * If the database is unavailable for all workers, no worker pauses, because no other worker could take over the
 * partitions.
 */
import { type PingState, type Pings, startPings } from '../src/concurrency/reach';
import type { Logger } from '../src/infra/logger';
import { outagesOf } from '../src/infra/outages';
import type { WorkerReach } from '../src/queue/commands/worker-reach';

const INTERVAL = 200;
/**
 * Timeout of a ping, milliseconds. Short enough that other workers take over the partitions within 3 s
 * (docs/architecture.md: Recovery).
 */
const TIMEOUT = 700;
const FAILURES_TO_PAUSE = 2;
/** Minimum milliseconds of failing pings before a pause, so that a connection reset causes no pause. */
const FAILING_TO_PAUSE = 1_000;
/** Maximum age of another worker's report that the database is reachable, milliseconds. */
const MAX_REPORT_AGE = 2_000;
/** If this many milliseconds have passed since the last resumption, the next pause counts as a first pause. */
const CALM_TIME = 60_000;
/**
 * Milliseconds for which the database must answer before a second pause ends; each further pause doubles the time. The
 * first pause ends as soon as the database answers.
 */
const FIRST_WAIT = 2_000;
const MAX_WAIT = 30_000;

export interface CutOffOptions {
  readonly reach: WorkerReach;
  readonly worker: { isPaused(): boolean; pause(): Promise<void>; resume(): Promise<void> };
  readonly heartbeat: { beat(): Promise<void> };
  readonly logger: Logger;
}

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

export class CutOff {
  private resumedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds for which the database must have answered before this worker resumes. */
  private wait = 0;

  constructor(
    private readonly options: CutOffOptions,
    private readonly clock = () => performance.now(),
  ) {}

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
   * Another worker must reach the database: all pings of the other worker since the start of this worker's last ping
   * must have succeeded.
   */
  private async isCutOff({ failures, failingSince, lastBegan }: PingState): Promise<boolean> {
    const failing = this.clock() - (failingSince ?? this.clock());
    if (failures < FAILURES_TO_PAUSE || failing < FAILING_TO_PAUSE) return false;
    const age = this.clock() - lastBegan;
    return this.options.reach.isReachedByOther(age, age);
  }

  /**
   * If no other worker reaches the database, this worker resumes at once, because otherwise no worker would apply
   * pushes.
   */
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

const CONNECTION = 'pings';

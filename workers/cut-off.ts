/**
 * Pauses this worker if other workers reach the database and this worker does not. The other workers then take over the
 * partitions of this worker.
 */
import { type PingState, type Pings, startPings } from '../src/concurrency/reach';
import type { Logger } from '../src/infra/logger';
import { outagesOf } from '../src/infra/outages';
import type { WorkerReach } from '../src/queue/commands/worker-reach';

const INTERVAL = 200;
/** Timeout of a ping, milliseconds. A long timeout delays the takeover (docs/architecture.md: Recovery). */
const TIMEOUT = 700;
const FAILURES_TO_PAUSE = 2;
/** Minimum milliseconds of failing pings before a pause. A connection reset takes less time. */
const FAILING_TO_PAUSE = 1_000;
/** Before a resume, the worker ignores reports of other workers that are older than this many milliseconds. */
const MAX_REPORT_AGE = 2_000;
/** After this many milliseconds without a pause, `CutOff.wait` starts at 0 again. */
const CALM_TIME = 60_000;
/** `CutOff.wait` in the second pause, milliseconds. Each further pause doubles `wait` up to MAX_WAIT. */
const FIRST_WAIT = 2_000;
const MAX_WAIT = 30_000;

export interface CutOffOptions {
  readonly reach: WorkerReach;
  readonly worker: { isPaused(): boolean; pause(): Promise<void>; resume(): Promise<void> };
  readonly heartbeat: { beat(): Promise<void> };
  readonly logger: Logger;
}

export function createCutOffPings(ping: () => Promise<unknown>, options: CutOffOptions): Pings {
  const { logger } = options;
  const cutOff = new CutOff(options);
  return startPings({
    ping,
    timeout: TIMEOUT,
    interval: INTERVAL,
    onPing: (state) => cutOff.judge(state),
    onError: (error) =>
      logger.debug(
        { error: String(error) },
        'could not decide whether to pause or resume the worker, retrying',
      ),
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

  /** Whether pings of this worker fail, and another worker has reached the database since the last ping began. */
  private async isCutOff({ failures, failingSince, lastBegan }: PingState): Promise<boolean> {
    const failing = this.clock() - (failingSince ?? this.clock());
    if (failures < FAILURES_TO_PAUSE || failing < FAILING_TO_PAUSE) return false;
    const age = this.clock() - lastBegan;
    return this.options.reach.isReachedByOther(age, age);
  }

  /** If no other worker reaches the database, this worker resumes immediately. */
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

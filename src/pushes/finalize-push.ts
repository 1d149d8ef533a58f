/**
 * Finalizes pushes that no worker answered: writes their final state into the push log, unless a worker
 * wrote one first. There is one final state, and every caller gets it. Where the database does not confirm
 * it in time, the push is retried in the background, so that no log entry stays QUEUED.
 */
import { type Batcher, createBatcher } from '../concurrency/batcher';
import type { Clock } from '../concurrency/clock';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import type { Finalize } from '../storage/push-log/finalize';
import type { SettledPush } from '../storage/push-log/log';
import type { Settlement } from '../storage/push-log/settlement';
import type { Tracing } from '../telemetry/tracing';
import { databaseCall } from './availability';

export interface PushFinalizerDependencies {
  readonly finalize: Finalize;
  /** Name of the process, stored in the entries that it finalizes. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Milliseconds that the database gets even where this process is late itself. */
const MIN_WAIT_MS = 100;
/** Milliseconds between two retries. */
const INTERVAL = 500;
const MAX_BATCH = 500;
/** Pushes beyond this number are left to the workers, which expire them a minute after their deadline. */
const MAX_UNKNOWN = 20_000;

export class PushFinalizer {
  /** Pushes whose final state is not known, by request id. */
  private readonly unknown = new Map<string, SettledPush>();
  private readonly batcher: Batcher<SettledPush, Settlement | undefined>;
  private readonly retrying: PollLoop;

  constructor(private readonly deps: PushFinalizerDependencies) {
    const { tracing, logger } = deps;
    // Timeouts come in crowds: all pushes of a moment share one settle and one look.
    this.batcher = createBatcher({
      run: (pushes: readonly SettledPush[]) => this.finalizeAll(pushes),
      maxBatch: MAX_BATCH,
      maxRunning: 2,
      tracing,
      name: 'finalize',
    });
    this.retrying = startPollLoop(
      () => this.retryUnknown(),
      INTERVAL,
      (error) => {
        logger.debug({ error: String(error) }, 'pushes not finalized, retried soon');
      },
    );
  }

  /**
   * Writes the final state of a push, unless a worker wrote one first.
   *
   * @param until epoch milliseconds: how long the database may take
   * @returns the push's final state; undefined where the database does not confirm it by then
   */
  async finalize(push: SettledPush, until: number): Promise<Settlement | undefined> {
    const left = Math.max(MIN_WAIT_MS, until - this.deps.clock());
    // The database is away or a transaction holds the entry: no final state now, and a retry later.
    const finalState = await databaseCall(this.batcher.add(push), left).catch(() => undefined);
    if (!finalState && this.unknown.size < MAX_UNKNOWN) this.unknown.set(push.id, push);
    return finalState;
  }

  /** Tries once more to finalize the pushes whose final state is still unknown. */
  async stop(): Promise<void> {
    await this.retrying.stop();
    await this.retryUnknown();
  }

  private finalizeAll(pushes: readonly SettledPush[]): ReturnType<Finalize> {
    const { finalize, clock, name } = this.deps;
    return finalize(pushes, { now: clock(), worker: name });
  }

  private async retryUnknown(): Promise<void> {
    const batch = [...this.unknown.values()].slice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const finalStates = await this.finalizeAll(batch);
    let known = 0;
    for (const [index, push] of batch.entries()) {
      this.unknown.delete(push.id);
      // Behind the others: entries that an open transaction holds must not block the rest.
      if (finalStates[index] === undefined) this.unknown.set(push.id, push);
      else known += 1;
    }
    const left = this.unknown.size;
    if (known > 0) this.deps.logger.info({ pushes: known, left }, 'pushes finalized late');
  }
}

/**
 * Finalizes pushes that no worker answered: writes their final state into the push log, unless a worker
 * wrote one first. There is one final state, and every caller gets it. Where the database does not confirm
 * it in time, the push is retried in the background, so that no log entry stays QUEUED.
 */
import { createBatcher } from '../concurrency/batcher';
import type { Clock } from '../concurrency/clock';
import { startPollLoop } from '../concurrency/poll-loop';
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

export interface PushFinalizer {
  /**
   * Writes the final state of a push, unless a worker wrote one first.
   *
   * @param until epoch milliseconds: how long the database may take
   * @returns the push's final state; undefined where the database does not confirm it by then
   */
  finalize(push: SettledPush, until: number): Promise<Settlement | undefined>;
  /** Tries once more to finalize the pushes whose final state is still unknown. */
  stop(): Promise<void>;
}

/** Milliseconds that the database gets even where this process is late itself. */
const MIN_WAIT_MS = 100;
/** Milliseconds between two retries. */
const INTERVAL = 500;
const MAX_BATCH = 500;
/** Pushes beyond this number are left to the workers, which expire them a minute after their deadline. */
const MAX_UNKNOWN = 20_000;

export function createPushFinalizer(deps: PushFinalizerDependencies): PushFinalizer {
  const { finalize, name, clock, logger, tracing } = deps;
  const finalizeAll = (pushes: readonly SettledPush[]) =>
    finalize(pushes, { now: clock(), worker: name });
  // Timeouts come in crowds: all pushes of a moment share one settle and one look.
  const batcher = createBatcher<SettledPush, Settlement | undefined>({
    run: finalizeAll,
    maxBatch: MAX_BATCH,
    maxRunning: 2,
    tracing,
    name: 'finalize',
  });
  const unknown = new Map<string, SettledPush>();
  const retryUnknown = async () => {
    const batch = [...unknown.values()].slice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const finalStates = await finalizeAll(batch);
    let known = 0;
    for (const [index, push] of batch.entries()) {
      unknown.delete(push.id);
      // Behind the others: entries that an open transaction holds must not block the rest.
      if (finalStates[index] === undefined) unknown.set(push.id, push);
      else known += 1;
    }
    if (known > 0) logger.info({ pushes: known, left: unknown.size }, 'pushes finalized late');
  };
  const retrying = startPollLoop(retryUnknown, INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'pushes not finalized, retried soon');
  });
  return {
    finalize: async (push, until) => {
      const left = Math.max(MIN_WAIT_MS, until - clock());
      // The database is away or a transaction holds the entry: no final state now, and a retry later.
      const finalState = await databaseCall(batcher.add(push), left).catch(() => undefined);
      if (!finalState && unknown.size < MAX_UNKNOWN) unknown.set(push.id, push);
      return finalState;
    },
    stop: async () => {
      await retrying.stop();
      await retryUnknown();
    },
  };
}

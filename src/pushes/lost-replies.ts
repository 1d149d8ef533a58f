/** Writes the final states of pushes that no worker has settled. Looks up the final state of pushes without a reply. */
import { type Batcher, createBatcher } from '../concurrency/batcher';
import { type Clock, type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { Tracing } from '../observability/tracing';
import type { ReplyInbox } from '../queue/producer';
import type { Finalize, LogLookups, PushToSettle, Settlement } from '../storage/push-log';
import { databaseCall } from './availability';

/**
 * Maximum milliseconds that a request waits for the final state in the push log. The time starts at the deadline, or
 * at an earlier failure.
 */
export const FINALIZE_GRACE = 300;

export interface PushFinalizerDependencies {
  readonly finalize: Finalize;
  /** Name of this process, for the log entries. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Minimum timeout of a database call in `finalize`, milliseconds. */
const MIN_WAIT = 100;
/** Milliseconds. */
const RETRY_INTERVAL = 500;
const MAX_BATCH = 500;
/** Maximum pushes in `unconfirmed`. */
const MAX_UNCONFIRMED = 20_000;

/** Writes final states. Retries unconfirmed writes in the background, for at most MAX_UNCONFIRMED pushes. */
export class PushFinalizer {
  /** By request id. */
  private readonly unconfirmed = new Map<string, PushToSettle>();
  private readonly batcher: Batcher<PushToSettle, Settlement | undefined>;
  private readonly retrying: PollLoop;

  constructor(private readonly deps: PushFinalizerDependencies) {
    const { tracing, logger } = deps;
    this.batcher = createBatcher({
      run: this.write,
      maxBatch: MAX_BATCH,
      maxRunning: 2,
      tracing,
      name: 'finalize',
    });
    this.retrying = startPollLoop(
      () => this.retry(),
      RETRY_INTERVAL,
      (error) => logger.debug({ error: String(error) }, 'pushes not finalized, retrying'),
    );
  }

  /**
   * @param until when the call stops waiting, epoch milliseconds; the call waits at least MIN_WAIT
   * @returns the final state in the push log; undefined if MongoDB does not confirm a final state in time
   */
  async finalize(push: PushToSettle, until: number): Promise<Settlement | undefined> {
    const left = Math.max(MIN_WAIT, until - this.deps.clock());
    const finalState = await databaseCall(this.batcher.add(push), left).catch(() => undefined);
    if (!finalState && this.unconfirmed.size < MAX_UNCONFIRMED) {
      // Keeps the `entry` of an earlier call if `push` has no `entry`.
      this.unconfirmed.set(push.id, { ...this.unconfirmed.get(push.id), ...push });
    }
    return finalState;
  }

  /** Retries up to MAX_BATCH pushes of `unconfirmed`. Workers later expire the log entries that are still QUEUED. */
  async stop(): Promise<void> {
    await this.retrying.stop();
    await this.retry();
  }

  private readonly write = (pushes: readonly PushToSettle[]): ReturnType<Finalize> =>
    this.deps.finalize(pushes, { now: this.deps.clock(), worker: this.deps.name });

  private async retry(): Promise<void> {
    const batch = [...this.unconfirmed.values()].slice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const finalStates = await this.write(batch);
    let pushes = 0;
    for (const [index, push] of batch.entries()) {
      this.unconfirmed.delete(push.id);
      // Moves the push to the end, so that a locked entry does not block other pushes.
      if (finalStates[index] === undefined) this.unconfirmed.set(push.id, push);
      else pushes += 1;
    }
    const left = this.unconfirmed.size;
    if (pushes > 0) this.deps.logger.info({ pushes, left }, 'pushes finalized late');
  }
}

/** Finalizes all pushes that wait for a reply. Runs while Redis is unreachable, because no reply can arrive. */
export async function finalizeWaiting(
  inbox: ReplyInbox<Settlement>,
  finalizer: PushFinalizer,
  clock: Clock,
): Promise<void> {
  const settlement = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
  const until = clock() + FINALIZE_GRACE;
  await Promise.all(
    inbox.waitingFor(0).map(async (id) => {
      const finalState = await finalizer.finalize({ id, settlement }, until);
      if (finalState) inbox.deliver(id, finalState);
    }),
  );
}

/** Milliseconds. */
const LOOKUP_INTERVAL = 400;
/** Minimum milliseconds that a push waits for its reply before the first lookup. */
const LOOKUP_AGE = 1_000;
const MAX_LOOKUPS = 1_000;

export interface LostReplyDependencies {
  readonly inbox: ReplyInbox<Settlement>;
  readonly lookups: LogLookups;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/** Looks up waiting pushes in the push log, because replies can be lost. */
export function startLostReplyLookup(deps: LostReplyDependencies): PollLoop {
  return startPollLoop(
    () => lookUpLostReplies(deps),
    LOOKUP_INTERVAL,
    (error) =>
      deps.logger.debug({ error: String(error) }, 'lookup of lost replies failed, retrying'),
  );
}

async function lookUpLostReplies(deps: LostReplyDependencies): Promise<void> {
  const { inbox, lookups, metrics = NO_METRICS } = deps;
  const waiting = inbox.waitingFor(LOOKUP_AGE);
  if (waiting.length === 0) return;
  // Looks up a random slice: a fixed slice could always contain the same slow pushes.
  const from = Math.floor(Math.random() * Math.max(0, waiting.length - MAX_LOOKUPS + 1));
  const ids = waiting.slice(from, from + MAX_LOOKUPS);
  for (const [id, settlement] of await lookups.settlements(ids)) {
    if (!settlement) continue;
    const sizeBefore = inbox.size;
    inbox.deliver(id, settlement);
    // `deliver` has no effect if the reply has already arrived.
    if (inbox.size < sizeBefore) metrics.replyLost();
  }
}

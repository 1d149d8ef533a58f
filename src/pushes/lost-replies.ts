/**
 * Pushes without a reply of a worker. `PushFinalizer` writes the final state of a push that no worker has settled.
 * `startLostReplyLookup` finds the final state of a push whose reply was lost, for example because the worker died
 * after its commit.
 */
import { type Batcher, createBatcher } from '../concurrency/batcher';
import { type Clock, type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { Tracing } from '../observability/tracing';
import type { ReplyInbox } from '../queue/producer';
import type { Finalize, LogLookups, PushToSettle, Settlement } from '../storage/push-log';
import { databaseCall } from './availability';

/** Maximum milliseconds that a request waits after its deadline for the push log to confirm the final state. */
export const FINALIZE_GRACE = 300;

export interface PushFinalizerDependencies {
  readonly finalize: Finalize;
  /** Process name, which is stored in the entries. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Minimum timeout of a database call in `finalize`, milliseconds. */
const MIN_WAIT = 100;
/** Milliseconds between two retries of unconfirmed writes. */
const RETRY_INTERVAL = 500;
/** Maximum pushes in one write. */
const MAX_BATCH = 500;
/**
 * Maximum pushes with an unconfirmed write that this process retries. If the log entries of further pushes exist,
 * workers expire these entries later.
 */
const MAX_UNCONFIRMED = 20_000;

/**
 * Writes the final states of pushes that no worker has settled. If a worker settles a push first, the final state of
 * the worker counts. Unconfirmed writes are retried in the background, so that no entry stays QUEUED or missing.
 */
export class PushFinalizer {
  /** By request id. */
  private readonly unconfirmed = new Map<string, PushToSettle>();
  private readonly batcher: Batcher<PushToSettle, Settlement | undefined>;
  private readonly retrying: PollLoop;

  constructor(private readonly deps: PushFinalizerDependencies) {
    const { tracing, logger } = deps;
    // Many pushes often expire at the same time, and then share one write and one read.
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
   * @param until epoch milliseconds; the timeout of the database call is at least MIN_WAIT
   * @returns the final state of the push; undefined if the database does not confirm this state in time
   */
  async finalize(push: PushToSettle, until: number): Promise<Settlement | undefined> {
    const left = Math.max(MIN_WAIT, until - this.deps.clock());
    // The call fails if the database is unavailable. The call returns undefined if the final state is not confirmed,
    // for example because an open transaction locks the entry. The write is retried later in both cases.
    const finalState = await databaseCall(this.batcher.add(push), left).catch(() => undefined);
    if (!finalState && this.unconfirmed.size < MAX_UNCONFIRMED) {
      // If `push` has no `entry`, keeps the `entry` of an earlier call for the same push.
      this.unconfirmed.set(push.id, { ...this.unconfirmed.get(push.id), ...push });
    }
    return finalState;
  }

  /**
   * Ends the retries in the background, and retries up to MAX_BATCH pushes once more. Workers later expire the pushes
   * that stay unconfirmed.
   */
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
      // The push moves to the end of the map: pushes with locked entries must not block the retries of other pushes.
      if (finalStates[index] === undefined) this.unconfirmed.set(push.id, push);
      else pushes += 1;
    }
    const left = this.unconfirmed.size;
    if (pushes > 0) this.deps.logger.info({ pushes, left }, 'pushes finalized late');
  }
}

/**
 * Finalizes all pushes that wait for a reply. Called while Redis is unreachable, because no reply can arrive. A push
 * that a worker has settled keeps its final state. If the database does not confirm a final state, the push keeps
 * waiting.
 */
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

/** Milliseconds between two lookups of lost replies. */
const LOOKUP_INTERVAL = 400;
/** Minimum milliseconds that a push waits for its reply before the first lookup. */
const LOOKUP_AGE = 1_000;
/** Maximum number of pushes in one lookup. */
const MAX_LOOKUPS = 1_000;

export interface LostReplyDependencies {
  readonly inbox: ReplyInbox<Settlement>;
  readonly lookups: LogLookups;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/** Looks up waiting pushes in the push log: a reply is lost if Redis restarts or a worker dies after its commit. */
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
  // If more than MAX_LOOKUPS pushes wait, a random slice is looked up. In a fixed slice, pushes that wait for a slow
  // worker could fill every lookup.
  const from = Math.floor(Math.random() * Math.max(0, waiting.length - MAX_LOOKUPS + 1));
  const ids = waiting.slice(from, from + MAX_LOOKUPS);
  for (const [id, settlement] of await lookups.settlements(ids)) {
    if (!settlement) continue;
    const sizeBefore = inbox.size;
    inbox.deliver(id, settlement);
    // If the reply has arrived during the lookup, `deliver` has no effect, and the reply is not lost.
    if (inbox.size < sizeBefore) metrics.replyLost();
  }
}

/**
 * From a recorded push to its final state: puts it into its partition, waits for the worker's reply, and
 * finalizes it in the push log where no reply comes. It always resolves, at most FINALIZE_GRACE_MS
 * after the deadline.
 */
import type { Clock } from '../concurrency/clock';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { GroupQueue } from '../queue/group-queue';
import type { QueuedPush } from '../queue/push';
import type { ReplyInbox } from '../queue/replies';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import type { LogLookups } from '../storage/push-log/lookups';
import type { Settlement } from '../storage/push-log/settlement';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import { queueCall } from './availability';
import type { PushFinalizer } from './finalize-push';

export interface SettleDependencies {
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly finalizer: PushFinalizer;
  readonly ingressId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * @param push recorded in the push log as QUEUED
 * @param deadline epoch milliseconds: how long its caller waits
 * @returns its final state; undefined where the database is away at that moment
 */
export type SettlePush = (
  push: Omit<QueuedPush, 'replyTo'>,
  deadline: number,
) => Promise<Settlement | undefined>;

/** Milliseconds after the caller's deadline in which the push log may confirm the final state. */
const FINALIZE_GRACE_MS = 300;

export function createSettlePush(deps: SettleDependencies): SettlePush {
  const { inbox, clock, ingressId, finalizer } = deps;
  return async (push, deadline) => {
    const { id } = push;
    const reply = inbox.wait(id, Math.max(0, deadline - clock()));
    const enqueued = await enqueue(deps, { replyTo: ingressId, ...push }, deadline - clock());
    if (enqueued !== 'QUEUED') {
      const finalState = await finalizeUnqueued(deps, { id, enqueued, reply, deadline });
      if (finalState) {
        inbox.deliver(id, finalState);
        return finalState;
      }
      // The database is away too: a rejection would be a guess.
    }
    // At the deadline: from here on the push is not applied any more, or it was.
    return (
      (await reply) ??
      finalizer.finalize({ id, settlement: { state: 'EXPIRED' } }, deadline + FINALIZE_GRACE_MS)
    );
  };
}

type Rejected = Extract<Settlement, { state: 'REFUSED' }>;

/** UNKNOWN: the queue did not answer, and the push may be in its partition all the same. */
type Queueing = 'QUEUED' | 'UNKNOWN' | Rejected;

/** A limit that rejects it for certain, Redis' memory too, comes as a value; what is thrown is not certain. */
async function enqueue(
  { queue, logger }: SettleDependencies,
  push: QueuedPush,
  timeout: number,
): Promise<Queueing> {
  try {
    const how = await queueCall(queue.enqueue(push, timeout), timeout);
    return how === 'APPENDED' ? 'QUEUED' : { state: 'REFUSED', reason: how };
  } catch (error) {
    const details = { requestId: push.id, error: String(error) };
    foldedLog(logger)({ level: 'warn', text: 'not queued', dueTo: ['redis'] }, details);
    return 'UNKNOWN';
  }
}

interface Unqueued {
  readonly id: string;
  readonly enqueued: Exclude<Queueing, 'QUEUED'>;
  readonly reply: Promise<Settlement | undefined>;
  readonly deadline: number;
}

/**
 * Once the push is finalized here it can take no effect in its partition; or a worker settled it first, and
 * then the worker's settlement counts.
 *
 * @returns its final state; undefined where neither the database nor a worker tells by the deadline
 */
async function finalizeUnqueued(
  { finalizer, clock }: SettleDependencies,
  { id, enqueued, reply, deadline }: Unqueued,
): Promise<Settlement | undefined> {
  if (enqueued === 'UNKNOWN') {
    const settlement = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
    const until = deadline + FINALIZE_GRACE_MS;
    return Promise.race([finalizer.finalize({ id, settlement }, until), reply]);
  }
  const until = clock() + FINALIZE_GRACE_MS;
  return (await finalizer.finalize({ id, settlement: enqueued }, until)) ?? enqueued;
}

/** Milliseconds between two looks for lost replies. */
const LOOK_EVERY = 400;
/** A push that waits longer, in milliseconds, is looked up. */
const SUSPICIOUS_AGE = 1_000;
const MAX_LOOKUPS = 1_000;

export interface LostReplyDependencies {
  readonly inbox: ReplyInbox<Settlement>;
  readonly lookups: Pick<LogLookups, 'settlements'>;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/**
 * Replies can be lost (a Redis restart, a worker that died after its commit). Pushes that have waited a
 * while are looked up in the push log, which knows.
 */
export function watchLostReplies(deps: LostReplyDependencies): PollLoop {
  return startPollLoop(
    () => lookUpOverdue(deps),
    LOOK_EVERY,
    (error) => {
      const text = 'lookup of overdue pushes failed, tried again soon';
      deps.logger.debug({ error: String(error) }, text);
    },
  );
}

async function lookUpOverdue(deps: LostReplyDependencies): Promise<void> {
  const { inbox, lookups, metrics = NO_METRICS } = deps;
  const overdue = inbox.overdue(SUSPICIOUS_AGE);
  if (overdue.length === 0) return;
  // Some at random where there are too many: those at the front may all be waiting rightly.
  const from = Math.floor(Math.random() * Math.max(0, overdue.length - MAX_LOOKUPS + 1));
  const ids = overdue.slice(from, from + MAX_LOOKUPS);
  for (const [id, settlement] of await lookups.settlements(ids)) {
    if (!settlement) continue;
    const waiting = inbox.size;
    inbox.deliver(id, settlement);
    // Where nobody waits any more the reply has come meanwhile.
    if (inbox.size < waiting) metrics.replyLost();
  }
}

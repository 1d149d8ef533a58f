/**
 * Queues recorded pushes and waits for the replies of the workers. Finalizes the pushes that have no reply at the
 * deadline. If a worker dies between its commit and its reply, `startLostReplyLookup` delivers the final state from the
 * push log instead.
 */
import type { Clock } from '../concurrency/timing';
import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import type { Reason } from '../protocol/errors';
import type { Enqueued, GroupQueue, PushMessage, ReplyInbox } from '../queue/producer';
import type { LogEntry, Settlement } from '../storage/push-log';
import { FINALIZE_GRACE, type PushFinalizer } from './lost-replies';

export interface QueueAndWaitDependencies {
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly finalizer: PushFinalizer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A push that is recorded as QUEUED. */
export interface PushToQueue {
  readonly message: PushMessage;
  readonly entry: LogEntry;
}

/**
 * Queues pushes and waits for their final states, until FINALIZE_GRACE after the deadline at the latest.
 *
 * @param pushes in order
 * @param deadline epoch milliseconds
 * @param onSettled called for each reply that arrives before the deadline
 * @returns the final states; undefined for a push without a reply if the database does not confirm its final state.
 *   The promise never rejects
 */
export type QueueAndWait = (
  pushes: readonly PushToQueue[],
  deadline: number,
  onSettled?: (settlement: Settlement) => void,
) => Promise<(Settlement | undefined)[]>;

export function createQueueAndWait(deps: QueueAndWaitDependencies): QueueAndWait {
  const { inbox, clock } = deps;
  return async (pushes, deadline, onSettled) => {
    const ids = pushes.map(({ message }) => message.id);
    const replies = inbox.wait(ids, Math.max(0, deadline - clock()), onSettled);
    void enqueue(deps, pushes, deadline);
    const settlements = await replies;
    if (settlements.every(isLogged)) return settlements;
    return finalizeOthers(deps, pushes, settlements, deadline);
  };
}

/** A push whose log entry is lost can be rejected with one of these reasons. It can also end as EXPIRED. */
const ENDS_WITHOUT_ENTRY: readonly Reason[] = [
  'DATABASE_UNAVAILABLE',
  'OPERATION_FAILED',
  'QUEUE_UNAVAILABLE',
  'SKIPPED_AFTER_FAILURE',
];

/** Whether a reply shows that the push log has the final state. */
function isLogged(reply: Settlement | undefined): boolean {
  if (!reply || reply.state === 'EXPIRED') return false;
  return reply.state !== 'REFUSED' || !ENDS_WITHOUT_ENTRY.includes(reply.reason);
}

/**
 * Finalizes pushes whose final state may be missing in the push log. A push without a reply gets EXPIRED. A push whose
 * entry may be lost gets the state of its reply. A push that already has a final state keeps that state. If the
 * database does not confirm EXPIRED, the push may still take effect.
 */
function finalizeOthers(
  { finalizer, clock }: QueueAndWaitDependencies,
  pushes: readonly PushToQueue[],
  replies: readonly (Settlement | undefined)[],
  deadline: number,
): Promise<(Settlement | undefined)[]> {
  const finalizeOne = async ({ message: { id }, entry }: PushToQueue, reply?: Settlement) => {
    if (isLogged(reply)) return reply;
    const settlement = reply ?? EXPIRED;
    const until = (reply ? clock() : deadline) + FINALIZE_GRACE;
    return (await finalizer.finalize({ id, settlement, entry }, until)) ?? reply;
  };
  return Promise.all(pushes.map((push, index) => finalizeOne(push, replies[index])));
}

const EXPIRED = { state: 'EXPIRED' } as const;

/** Appends pushes to their partitions, and finalizes every push that Redis did not confirm as queued. Never rejects. */
async function enqueue(
  deps: QueueAndWaitDependencies,
  pushes: readonly PushToQueue[],
  deadline: number,
): Promise<void> {
  const { queue, clock, logger } = deps;
  const messages = pushes.map(({ message }) => message);
  const enqueued = await queue.enqueue(messages, deadline - clock());
  for (const [index, push] of pushes.entries()) {
    const result = enqueued[index];
    if (result !== 'APPENDED') void finalizeUnconfirmed(deps, push, result, deadline);
  }
  const failed = enqueued.findIndex((result) => result instanceof Error);
  if (failed === -1) return;
  const count = enqueued.filter((result) => result instanceof Error).length;
  const details = {
    pushes: count,
    requestId: messages[failed]?.id,
    error: String(enqueued[failed]),
  };
  foldedLog(logger)(UNCONFIRMED, details);
}

const UNCONFIRMED = { level: 'warn', text: 'queueing not confirmed', dueTo: ['redis'] } as const;

/**
 * Writes the final state of a push that Redis did not confirm as queued, unless a worker has settled the push. If a
 * limit rejected the push, the caller gets the reason of this rejection even while the database is unavailable. If
 * Redis did not answer, the push may be in its partition. Then the caller gets a rejection only if the database
 * confirms the rejection.
 */
async function finalizeUnconfirmed(
  { finalizer, inbox, clock }: QueueAndWaitDependencies,
  { message: { id }, entry }: PushToQueue,
  result: Exclude<Enqueued, 'APPENDED'> | undefined,
  deadline: number,
): Promise<void> {
  const isCertainlyNotQueued = typeof result === 'string';
  const reason = isCertainlyNotQueued ? result : 'QUEUE_UNAVAILABLE';
  const settlement = { state: 'REFUSED', reason } as const;
  const until = (isCertainlyNotQueued ? clock() : deadline) + FINALIZE_GRACE;
  const finalState = await finalizer.finalize({ id, settlement, entry }, until);
  if (finalState ?? isCertainlyNotQueued) inbox.deliver(id, finalState ?? settlement);
}

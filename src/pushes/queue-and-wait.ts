/**
 * Queues recorded pushes and waits for the replies of the workers. At the deadline, `PushFinalizer` writes EXPIRED to
 * the push log for each push without a reply. A push that a worker has already settled keeps its final state.
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
 * Waits at most until FINALIZE_GRACE milliseconds after the deadline. The promise never rejects.
 *
 * @param deadline epoch milliseconds
 * @param onSettled called for each final state that becomes known before the deadline
 * @returns the final state of each push; undefined if the final state is unknown
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

/** The push log may lack the final state of a push with one of these reasons. */
const ENDS_WITHOUT_ENTRY: readonly Reason[] = [
  'DATABASE_UNAVAILABLE',
  'OPERATION_FAILED',
  'QUEUE_UNAVAILABLE',
  'SKIPPED_AFTER_FAILURE',
];

/** True if the push log certainly contains the final state of the push. */
function isLogged(reply: Settlement | undefined): boolean {
  if (!reply || reply.state === 'EXPIRED') return false;
  return reply.state !== 'REFUSED' || !ENDS_WITHOUT_ENTRY.includes(reply.reason);
}

/** Finalizes each push whose reply does not satisfy `isLogged`. */
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

/** Must never reject, because the caller ignores the promise. */
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

const UNCONFIRMED = {
  level: 'warn',
  text: 'Redis did not confirm that pushes were queued',
  dueTo: ['redis'],
} as const;

/**
 * If `result` is an error or undefined, a worker may still apply the push. The inbox then receives only a final state
 * that the push log contains. If `result` is a reason, the push is not queued, and the inbox receives the rejection
 * even without a log entry.
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

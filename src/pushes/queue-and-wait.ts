/**
 * Queues recorded pushes and waits for the replies of the workers. At the deadline it finalizes the pushes without a reply.
 * If a worker dies between its commit and its reply, `lost-replies.ts` finds the final state in the push log.
 */
import type { Clock } from '../concurrency/timing';
import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import type { Enqueued, GroupQueue, PushMessage, ReplyInbox } from '../queue/producer';
import type { Settlement } from '../storage/push-log';
import { FINALIZE_GRACE, type PushFinalizer } from './lost-replies';

export interface QueueAndWaitDependencies {
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly finalizer: PushFinalizer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Queues pushes and waits for their final states, until FINALIZE_GRACE after the deadline at the latest.
 *
 * @param messages of pushes that are recorded as QUEUED, in order
 * @param deadline epoch milliseconds
 * @param onSettled called for each reply that arrives before the deadline
 * @returns the final states; undefined if the database does not confirm one. It never rejects
 */
export type QueueAndWait = (
  messages: readonly PushMessage[],
  deadline: number,
  onSettled?: (settlement: Settlement) => void,
) => Promise<(Settlement | undefined)[]>;

export function createQueueAndWait(deps: QueueAndWaitDependencies): QueueAndWait {
  const { inbox, clock } = deps;
  return async (messages, deadline, onSettled) => {
    const ids = messages.map(({ id }) => id);
    const replies = inbox.wait(ids, Math.max(0, deadline - clock()), onSettled);
    void enqueue(deps, messages, deadline);
    const settlements = await replies;
    return settlements.every(Boolean) ? settlements : expire(deps, ids, settlements, deadline);
  };
}

/**
 * Finalizes the pushes without a reply as EXPIRED. A push that already has a final state keeps it. If the database does not
 * confirm, a push may still take effect.
 */
function expire(
  { finalizer }: QueueAndWaitDependencies,
  ids: readonly string[],
  settlements: readonly (Settlement | undefined)[],
  deadline: number,
): Promise<(Settlement | undefined)[]> {
  const until = deadline + FINALIZE_GRACE;
  const settlement = { state: 'EXPIRED' } as const;
  return Promise.all(
    ids.map((id, index) => settlements[index] ?? finalizer.finalize({ id, settlement }, until)),
  );
}

/** Appends pushes to their partitions, and finalizes every push that Redis did not confirm as queued. Never rejects. */
async function enqueue(
  deps: QueueAndWaitDependencies,
  messages: readonly PushMessage[],
  deadline: number,
): Promise<void> {
  const { queue, clock, logger } = deps;
  const enqueued = await queue.enqueue(messages, deadline - clock());
  for (const [index, { id }] of messages.entries()) {
    const result = enqueued[index];
    if (result !== 'APPENDED') void finalizeUnconfirmed(deps, id, result, deadline);
  }
  const failed = enqueued.findIndex((result) => result instanceof Error);
  if (failed === -1) return;
  const pushes = enqueued.filter((result) => result instanceof Error).length;
  const details = { pushes, requestId: messages[failed]?.id, error: String(enqueued[failed]) };
  foldedLog(logger)(UNCONFIRMED, details);
}

const UNCONFIRMED = { level: 'warn', text: 'queueing not confirmed', dueTo: ['redis'] } as const;

/**
 * Writes the final state of a push that Redis did not confirm as queued, unless a worker has settled it. If a limit
 * rejected the push, the caller gets that reason even while the database is unavailable. If Redis did not answer, the push
 * may be in its partition, so the caller gets a rejection only if the database confirms it.
 */
async function finalizeUnconfirmed(
  { finalizer, inbox, clock }: QueueAndWaitDependencies,
  id: string,
  result: Exclude<Enqueued, 'APPENDED'> | undefined,
  deadline: number,
): Promise<void> {
  const isCertainlyNotQueued = typeof result === 'string';
  const reason = isCertainlyNotQueued ? result : 'QUEUE_UNAVAILABLE';
  const settlement = { state: 'REFUSED', reason } as const;
  const until = (isCertainlyNotQueued ? clock() : deadline) + FINALIZE_GRACE;
  const finalState = await finalizer.finalize({ id, settlement }, until);
  if (finalState ?? isCertainlyNotQueued) inbox.deliver(id, finalState ?? settlement);
}

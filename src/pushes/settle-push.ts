/**
 * From a recorded push to its final state: puts it into its partition, waits for the worker's reply, and
 * finalizes it in the push log where no reply comes. It always resolves, at most FINALIZE_GRACE_MS
 * after the deadline.
 */
import type { Clock } from '../concurrency/clock';
import { PushError } from '../protocol/errors';
import type { GroupQueue } from '../queue/group-queue';
import type { QueuedPush } from '../queue/push';
import type { ReplyInbox } from '../queue/replies';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import type { Settlement } from '../storage/push-log/settlement';
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
    const rejection = await enqueue(deps, { ...push, replyTo: ingressId }, deadline - clock());
    if (rejection) {
      // Without an answer of Redis the push may be in its partition all the same. Once it is finalized here it
      // can take no effect there; or a worker settled it first, and then the worker's settlement counts.
      const isCertain = rejection.reason !== 'QUEUE_UNAVAILABLE';
      const finalizing = finalizer.finalize(
        { id, settlement: rejection },
        (isCertain ? clock() : deadline) + FINALIZE_GRACE_MS,
      );
      const finalState = isCertain
        ? ((await finalizing) ?? rejection)
        : await Promise.race([finalizing, reply]);
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

/** @returns undefined once the push is queued; why, where it could not be */
async function enqueue(
  deps: SettleDependencies,
  push: QueuedPush,
  timeout: number,
): Promise<Rejected | undefined> {
  try {
    const how = await queueCall(deps.queue.enqueue(push, timeout), timeout);
    return how === 'APPENDED' ? undefined : { state: 'REFUSED', reason: how };
  } catch (error) {
    const details = { requestId: push.id, error: String(error) };
    foldedLog(deps.logger)({ level: 'warn', text: 'not queued', dueTo: ['redis'] }, details);
    const reason = error instanceof PushError ? error.reason : 'QUEUE_UNAVAILABLE';
    return { state: 'REFUSED', reason };
  }
}

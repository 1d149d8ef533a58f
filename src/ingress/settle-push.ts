/**
 * From a recorded push to what became of it: into its partition, the wait for the worker's word, and the
 * push log's last word where none comes. It always ends, shortly after the deadline at the latest.
 */
import type { Clock } from '../clock';
import { PushError } from '../errors';
import { foldedLog } from '../folded-log';
import type { Logger } from '../logger';
import type { Settlement } from '../push-log/settlement';
import type { GroupQueue } from '../queue/group-queue';
import type { QueuedPush } from '../queue/push';
import type { ReplyInbox } from '../queue/replies';
import { queueCall } from './availability';
import type { Endings } from './endings';

export interface SettleDependencies {
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly endings: Endings;
  readonly ingressId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * @param push recorded in the push log as QUEUED
 * @param deadline epoch milliseconds: how long its caller waits
 * @returns its settlement; undefined where the database cannot be asked at that moment
 */
export type SettlePush = (
  push: Omit<QueuedPush, 'replyTo'>,
  deadline: number,
) => Promise<Settlement | undefined>;

/** Milliseconds after the caller's deadline in which the log's last word is waited for. */
const LAST_WORD = 300;

export function createSettlePush(deps: SettleDependencies): SettlePush {
  const { inbox, clock, ingressId, endings } = deps;
  return async (push, deadline) => {
    const { id } = push;
    const reply = inbox.wait(id, Math.max(0, deadline - clock()));
    const refusal = await enqueue(deps, { ...push, replyTo: ingressId }, deadline - clock());
    if (refusal) {
      // It may be in its partition all the same, where nobody said that it is not. Ended here, it can take no
      // effect there; or a worker was first, and then its word counts.
      const isCertain = refusal.reason !== 'QUEUE_UNAVAILABLE';
      const word = endings.end(
        { id, settlement: refusal },
        (isCertain ? clock() : deadline) + LAST_WORD,
      );
      const ended = isCertain ? ((await word) ?? refusal) : await Promise.race([word, reply]);
      if (ended) {
        inbox.deliver(id, ended);
        return ended;
      }
      // The database cannot be asked either: a refusal would be a guess.
    }
    // At the deadline: from here on the push is not applied any more, or it was.
    return (
      (await reply) ?? endings.end({ id, settlement: { state: 'EXPIRED' } }, deadline + LAST_WORD)
    );
  };
}

type Refused = Extract<Settlement, { state: 'REFUSED' }>;

/** @returns undefined once the push is queued; why, where it could not be */
async function enqueue(
  deps: SettleDependencies,
  push: QueuedPush,
  timeout: number,
): Promise<Refused | undefined> {
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

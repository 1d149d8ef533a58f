/** Replies: a worker tells the one web process that waits; the web process finds the request that it is for. */

import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import type { RedisKeys } from './keys';
import type { RedisConnection } from './redis';

/** One message to one web process. */
export interface ReplyMessage {
  readonly ingressId: string;
  readonly payload: string;
}

/** A reply to one push. The queue knows nothing of what it says. */
export interface Reply<S> {
  readonly id: string;
  readonly replyTo: string;
  readonly settlement: S;
}

/**
 * Stands behind the last reply of a message, in place of an id, before the time at which it was sent.
 * To a web process that does not know it, it is a reply for which nobody waits.
 */
const SENT_AT = '';

/**
 * One message per web process, however many replies.
 *
 * @param sentAt Redis time, epoch milliseconds
 */
export function toMessages<S>(replies: readonly Reply<S>[], sentAt: number): ReplyMessage[] {
  const byIngress = new Map<string, [string, S][]>();
  for (const { id, replyTo, settlement } of replies) {
    const group = byIngress.get(replyTo) ?? [];
    group.push([id, settlement]);
    byIngress.set(replyTo, group);
  }
  return [...byIngress].map(([ingressId, group]) => ({
    ingressId,
    payload: JSON.stringify([...group, [SENT_AT, sentAt]]),
  }));
}

export interface ReplyInbox<S> {
  /**
   * Waits for the replies to some pushes together, at most one waiter for each.
   *
   * @param timeout milliseconds
   * @param tell hears of each as it comes
   * @returns their settlements in the order of the ids, once all are there; at the deadline those that are,
   *   undefined for the others
   */
  wait(
    ids: readonly string[],
    timeout: number,
    tell?: (settlement: S) => void,
  ): Promise<(S | undefined)[]>;
  /** Ids that have waited for at least `age` milliseconds: their reply may have been lost. */
  overdue(age: number): string[];
  /** Hands a settlement that was found elsewhere to its waiter. */
  deliver(id: string, settlement: S): void;
  readonly size: number;
}

/**
 * Replies that are delivered in one tick. Each of them answers a request at once while all other work
 * waits: all replies of a batch in one tick would delay a rejection by tens of milliseconds. But their callers
 * push again, and what comes together is worked on together: few in a tick make small batches everywhere.
 */
const DELIVERIES_PER_TICK = 32;

const UNREADABLE = { level: 'error', text: 'unreadable reply message' } as const;

/** Listens on the channel of `ingressId`; the subscription survives reconnects. */
export async function createReplyInbox<S>(
  subscriber: RedisConnection,
  keys: RedisKeys,
  ingressId: string,
  logger: Logger,
  metrics: Metrics = NO_METRICS,
): Promise<ReplyInbox<S>> {
  const waiters = new Waiters<S>();
  const deliver = inTicks<[string, S]>(([id, settlement]) => {
    if (id === SENT_AT) metrics.replied(Number(settlement));
    else waiters.deliver(id, settlement);
  });
  subscriber.on('message', (_channel, payload) => {
    try {
      deliver(readMessage(payload));
    } catch (error) {
      foldedLog(logger)(UNREADABLE, { error: String(error) });
    }
  });
  await subscriber.subscribe(keys.replies(ingressId));
  return waiters;
}

/** @throws where it is no message of replies */
function readMessage<S>(payload: string): [string, S][] {
  const replies: [string, S][] = JSON.parse(payload);
  return replies.map(([id, settlement]) => [id, settlement]);
}

/** One call of `wait`. */
interface Waiting<S> {
  readonly ids: readonly string[];
  readonly since: number;
  readonly settlements: (S | undefined)[];
  /** Replies that are not there yet. */
  left: number;
  timer: NodeJS.Timeout | undefined;
  readonly tell: ((settlement: S) => void) | undefined;
  readonly resolve: (settlements: (S | undefined)[]) => void;
}

/** Who waits for the reply to which push. */
class Waiters<S> implements ReplyInbox<S> {
  /** By id: the call that waits for it, and its place there. */
  private readonly waiters = new Map<string, { readonly of: Waiting<S>; readonly index: number }>();

  wait(
    ids: readonly string[],
    timeout: number,
    tell?: (settlement: S) => void,
  ): Promise<(S | undefined)[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      const waiting: Waiting<S> = {
        ids,
        since: performance.now(),
        settlements: new Array(ids.length).fill(undefined),
        left: ids.length,
        timer: undefined,
        tell,
        resolve,
      };
      ids.forEach((id, index) => {
        this.waiters.set(id, { of: waiting, index });
      });
      // Its deadline is no failure, and takes those that are left from the list.
      waiting.timer = setTimeout(() => this.giveUp(waiting), timeout);
    });
  }

  overdue(age: number): string[] {
    const before = performance.now() - age;
    return [...this.waiters].filter(([, { of }]) => of.since <= before).map(([id]) => id);
  }

  deliver(id: string, settlement: S): void {
    const waiter = this.waiters.get(id);
    if (!waiter) return;
    this.waiters.delete(id);
    const { of, index } = waiter;
    of.settlements[index] = settlement;
    of.left -= 1;
    of.tell?.(settlement);
    if (of.left === 0) end(of);
  }

  private giveUp(waiting: Waiting<S>): void {
    for (const id of waiting.ids) if (this.waiters.get(id)?.of === waiting) this.waiters.delete(id);
    end(waiting);
  }

  get size(): number {
    return this.waiters.size;
  }
}

function end<S>({ timer, resolve, settlements }: Waiting<S>): void {
  clearTimeout(timer);
  resolve(settlements);
}

/** Hands items on in their order, a few in each tick, the first ones at once. */
function inTicks<T>(deliver: (item: T) => void): (items: readonly T[]) => void {
  const arrived: T[] = [];
  const deliverNext = () => {
    for (const item of arrived.splice(0, DELIVERIES_PER_TICK)) deliver(item);
    if (arrived.length > 0) setImmediate(deliverNext);
  };
  return (items) => {
    const isUnderWay = arrived.length > 0;
    for (const item of items) arrived.push(item);
    if (!isUnderWay) deliverNext();
  };
}

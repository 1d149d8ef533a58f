/** Replies to pushes: a worker publishes each reply to the web process that queued the push. */

import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import type { RedisConnection } from '../infra/redis/connect';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { RedisKeys } from './keys';

/** The queue does not interpret the settlement. */
export interface Reply<S> {
  readonly id: string;
  readonly replyTo: string;
  readonly settlement: S;
}

/** Each reply message also contains the time of sending, in an entry with this id. */
const SENT_AT = '';

/** @param sentAt Redis time, epoch milliseconds */
export function toMessages<S>(replies: readonly Reply<S>[], sentAt: number) {
  const byWeb = new Map<string, [string, S][]>();
  for (const { id, replyTo, settlement } of replies) {
    const entries = byWeb.get(replyTo) ?? [];
    entries.push([id, settlement]);
    byWeb.set(replyTo, entries);
  }
  return [...byWeb].map(([replyTo, entries]) => ({
    replyTo,
    payload: JSON.stringify([...entries, [SENT_AT, sentAt]]),
  }));
}

export interface ReplyInbox<S> {
  /**
   * Concurrent calls must not contain the same id.
   *
   * @param timeout milliseconds
   * @returns the settlements in the order of `ids`; undefined if no settlement arrived in time
   */
  wait(
    ids: readonly string[],
    timeout: number,
    onReply?: (settlement: S) => void,
  ): Promise<(S | undefined)[]>;
  /** Ids of the pushes that have waited for a reply for at least `age` milliseconds. */
  waitingFor(age: number): string[];
  /** Delivers a settlement from a reply or from another source. Has no effect if no call waits for `id`. */
  deliver(id: string, settlement: S): void;
  /** Number of pushes whose replies have not arrived yet. */
  readonly size: number;
}

const UNREADABLE = { level: 'error', text: 'unreadable reply message' } as const;

/** Subscribes to the channel of `replyTo`. */
export async function createReplyInbox<S>(
  subscriber: RedisConnection,
  keys: RedisKeys,
  replyTo: string,
  logger: Logger,
  metrics: Metrics = NO_METRICS,
): Promise<ReplyInbox<S>> {
  const inbox = createInbox<S>();
  const deliver = inTicks<[string, S]>(([id, settlement]) => {
    if (id === SENT_AT) metrics.replied(Number(settlement));
    else inbox.deliver(id, settlement);
  });
  subscriber.on('message', (_channel, payload) => {
    try {
      const replies: [string, S][] = JSON.parse(payload);
      // For a malformed entry, `map` throws before the first reply is delivered.
      deliver(replies.map(([id, settlement]) => [id, settlement]));
    } catch (error) {
      foldedLog(logger)(UNREADABLE, { error: String(error) });
    }
  });
  await subscriber.subscribe(keys.replies(replyTo));
  return inbox;
}

interface Call<S> {
  readonly since: number;
  readonly settlements: (S | undefined)[];
  missing: number;
  readonly onReply: ((settlement: S) => void) | undefined;
  readonly end: () => void;
}

function createInbox<S>(): ReplyInbox<S> {
  const waiting = new Map<string, { readonly call: Call<S>; readonly index: number }>();
  return {
    wait: (ids, timeout, onReply) =>
      new Promise((resolve) => {
        const settlements = new Array<S | undefined>(ids.length).fill(undefined);
        const timer = setTimeout(() => {
          for (const id of ids) if (waiting.get(id)?.call === call) waiting.delete(id);
          end();
        }, timeout);
        const end = () => {
          clearTimeout(timer);
          resolve(settlements);
        };
        const since = performance.now();
        const call: Call<S> = { since, settlements, missing: ids.length, onReply, end };
        for (const [index, id] of ids.entries()) waiting.set(id, { call, index });
        if (ids.length === 0) end();
      }),
    waitingFor: (age) => {
      const before = performance.now() - age;
      return [...waiting].filter(([, { call }]) => call.since <= before).map(([id]) => id);
    },
    deliver: (id, settlement) => {
      const found = waiting.get(id);
      if (!found) return;
      waiting.delete(id);
      const { call, index } = found;
      call.settlements[index] = settlement;
      call.missing -= 1;
      call.onReply?.(settlement);
      if (call.missing === 0) call.end();
    },
    get size() {
      return waiting.size;
    },
  };
}

/** Maximum replies per call of `deliverNext`. More replies can block the process for tens of milliseconds. */
const DELIVERIES_PER_TICK = 32;

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

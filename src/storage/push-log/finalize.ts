/** Writes the final state of pushes that take no effect; the first settlement counts. */
import { outOfTime } from '../driver-errors';
import type { PushLog, SettledPush, Settling } from './log';
import type { LogLookups } from './lookups';
import type { Settlement } from './settlement';

/**
 * Settles pushes that are still queued and reads the final state of each: the given settlement, or the
 * one that a worker wrote first. A push with a final state can take no effect any more.
 *
 * @returns a final state per push, in their order; undefined where an open transaction (of a worker
 *   that died or stands still) holds the entry, and where the majority did not confirm it in time
 */
export type Finalize = (
  pushes: readonly SettledPush[],
  by: Omit<Settling, 'session' | 'timeout'>,
) => Promise<(Settlement | undefined)[]>;

/** Milliseconds for one command to wait for entries that a transaction holds, and for the majority. */
const COMMAND_TIMEOUT = 500;
/** If some entries are held: concurrent commands for single pushes, and milliseconds for all of them. */
const AT_ONCE = 8;
const RETRY_ALONE_TIMEOUT = 1_000;

/**
 * Result of one settle command: all entries are settled; some are held by a transaction and the ones
 * behind them were not reached; or the majority did not confirm the write yet.
 */
type SettleResult = 'settled' | 'held' | 'unconfirmed';

export function createFinalize(pushLog: PushLog, lookups: LogLookups): Finalize {
  const settle = async (pushes: readonly SettledPush[], by: Settling): Promise<SettleResult> => {
    try {
      await pushLog.settle(pushes, { ...by, timeout: COMMAND_TIMEOUT });
      return 'settled';
    } catch (error) {
      const how = outOfTime(error);
      if (!how) throw error;
      // The more commands, the later a slow majority comes.
      return how;
    }
  };

  /** @returns the ids of the entries that no transaction held */
  const settleEach = async (pushes: readonly SettledPush[], by: Settling): Promise<string[]> => {
    const until = performance.now() + RETRY_ALONE_TIMEOUT;
    const waiting = [...pushes];
    const free: string[] = [];
    const settleNext = async () => {
      while (performance.now() < until) {
        const push = waiting.shift();
        if (!push) return;
        if ((await settle([push], by)) === 'settled') free.push(push.id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, settleNext));
    return free;
  };

  return async (pushes, by) => {
    const ids = pushes.map(({ id }) => id);
    if (pushes.length === 0) return [];
    const first = await settle(pushes, by);
    let final = await lookups.settlements(ids);
    let settled = new Set(first === 'settled' ? ids : []);
    if (first === 'held' && pushes.length > 1) {
      settled = new Set(
        await settleEach(
          pushes.filter(({ id }) => !final.get(id)),
          by,
        ),
      );
      final = await lookups.settlements(ids);
    }
    return pushes.map(({ id, settlement }) => {
      if (final.has(id)) return final.get(id);
      return settled.has(id) ? settlement : undefined;
    });
  };
}

/** Ending pushes without an effect, exactly: whoever settles first counts, and everybody is told. */
import { mongo } from 'mongoose';
import type { PushLog, SettledPush, Settling } from './log';
import type { LogLookups } from './lookups';
import type { Settlement } from './settlement';

/**
 * Settles pushes that are still queued and reads what each of them finally came to: the given
 * settlement, or that of a worker who was first. Where it says so, the push can take no effect any
 * more.
 *
 * @returns a settlement per push, in their order; undefined where a transaction that is open (of a
 *   worker that died or stands still) holds the entry: only its end can tell
 */
export type Finalize = (
  pushes: readonly SettledPush[],
  by: Omit<Settling, 'session' | 'patience'>,
) => Promise<(Settlement | undefined)[]>;

/** Milliseconds that an entry is waited for which somebody holds. */
const PATIENCE = 500;
const MAX_TIME_EXPIRED = 50;

export function createFinalize(pushLog: PushLog, lookups: LogLookups): Finalize {
  const settle = async (pushes: readonly SettledPush[], by: Settling): Promise<boolean> => {
    try {
      await pushLog.settle(pushes, { ...by, patience: PATIENCE });
      return true;
    } catch (error) {
      if (error instanceof mongo.MongoError && error.code === MAX_TIME_EXPIRED) return false;
      throw error;
    }
  };
  return async (pushes, by) => {
    if (pushes.length === 0) return [];
    const areFree = await settle(pushes, by);
    // One that is held kept those behind it from being settled.
    if (!areFree && pushes.length > 1) await Promise.all(pushes.map((push) => settle([push], by)));
    const final = await lookups.settlements(pushes.map(({ id }) => id));
    return pushes.map(({ id, settlement }) => (final.has(id) ? final.get(id) : settlement));
  };
}

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

interface FinalizeDependencies {
  readonly pushLog: PushLog;
  readonly lookups: LogLookups;
}

export function createFinalize(pushLog: PushLog, lookups: LogLookups): Finalize {
  const deps = { pushLog, lookups };
  return async (pushes, by) => {
    if (pushes.length === 0) return [];
    const ids = pushes.map(({ id }) => id);
    const first = await settle(deps, pushes, by);
    const final = await lookups.settlements(ids);
    if (first === 'held' && pushes.length > 1) {
      const open = pushes.filter(({ id }) => !final.get(id));
      const settled = await settleEach(deps, open, by);
      return finalStates(pushes, await lookups.settlements(ids), settled);
    }
    return finalStates(pushes, final, first === 'settled' ? ids : []);
  };
}

/** @param settled the ids of entries that no transaction held */
function finalStates(
  pushes: readonly SettledPush[],
  found: ReadonlyMap<string, Settlement | undefined>,
  settled: readonly string[],
): (Settlement | undefined)[] {
  const isSettled = new Set(settled);
  return pushes.map(({ id, settlement }) => {
    if (found.has(id)) return found.get(id);
    return isSettled.has(id) ? settlement : undefined;
  });
}

async function settle(
  { pushLog }: FinalizeDependencies,
  pushes: readonly SettledPush[],
  by: Settling,
): Promise<SettleResult> {
  try {
    await pushLog.settle(pushes, { ...by, timeout: COMMAND_TIMEOUT });
    return 'settled';
  } catch (error) {
    const how = outOfTime(error);
    if (!how) throw error;
    // The more commands, the later a slow majority comes.
    return how;
  }
}

/** @returns the ids of the entries that no transaction held */
async function settleEach(
  deps: FinalizeDependencies,
  pushes: readonly SettledPush[],
  by: Settling,
): Promise<string[]> {
  const until = performance.now() + RETRY_ALONE_TIMEOUT;
  const waiting = [...pushes];
  const free: string[] = [];
  const settleNext = async () => {
    while (performance.now() < until) {
      const push = waiting.shift();
      if (!push) return;
      if ((await settle(deps, [push], by)) === 'settled') free.push(push.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, settleNext));
  return free;
}

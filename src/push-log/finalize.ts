/** Ending pushes without an effect, exactly: whoever settles first counts, and everybody is told. */
import type { PushLog, SettledPush, Settling } from './log';
import type { LogLookups } from './lookups';
import type { Settlement } from './settlement';

/**
 * Settles pushes that are still queued and reads what each of them finally came to: the given
 * settlement, or that of a worker who was first. Once it returns, no push in it can take effect.
 *
 * @returns a settlement per push, in their order
 */
export type Finalize = (
  pushes: readonly SettledPush[],
  by: Omit<Settling, 'session'>,
) => Promise<Settlement[]>;

export function createFinalize(pushLog: PushLog, lookups: LogLookups): Finalize {
  return async (pushes, by) => {
    if (pushes.length === 0) return [];
    await pushLog.settle(pushes, by);
    const final = await lookups.settlements(pushes.map(({ id }) => id));
    return pushes.map(({ id, settlement }) => final.get(id) ?? settlement);
  };
}

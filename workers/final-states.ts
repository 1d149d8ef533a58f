/** Final states that a batch does not write with an effect: those that pushes have, and those they get. */
import type { WaitingPush } from '../src/queue/push';
import type { SettledPush } from '../src/storage/push-log/log';
import type { LogLookups } from '../src/storage/push-log/lookups';
import type { Settlement } from '../src/storage/push-log/settlement';

export interface SplitPushes {
  /** They have a final state: of an earlier try of the batch, or from their web process. */
  readonly settled: SettledPush[];
  /** They may still take effect. */
  readonly open: WaitingPush[];
  /**
   * The log has no entry of them (it went by its retention, or with a database that was restored), so
   * nothing can guard them against a second effect. They get none, and may be sent again. Just after
   * an election the entry may be there all the same, so the log is told too.
   */
  readonly unsettled: SettledPush[];
}

/** Looks up which pushes of a batch that failed have a final state by now. */
export async function splitSettled(
  lookups: Pick<LogLookups, 'settlements'>,
  pushes: readonly WaitingPush[],
): Promise<SplitPushes> {
  const found = await lookups.settlements(pushes.map(({ id }) => id));
  const settled = pushes.flatMap(({ id }) => {
    const settlement = found.get(id);
    return settlement ? [{ id, settlement }] : [];
  });
  const open = pushes.filter(({ id }) => found.has(id) && !found.get(id));
  const gone = pushes.filter(({ id }) => !found.has(id));
  const rejection = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;
  return { settled, open, unsettled: withFinalState(gone, rejection) };
}

/** Pushes that take no effect, as they are to be finalized. */
export function withFinalState(
  pushes: readonly WaitingPush[],
  settlement: Settlement,
): SettledPush[] {
  return pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));
}

/** Final states that a batch does not write with an effect: those that pushes have, and those they get. */
import { groupOf } from '../src/domain/group';
import { PushError } from '../src/protocol/errors';
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
   * an election the entry may be there all the same, so the log is told too. Lines of a batch behind one
   * that failed are among them.
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
  const gone = pushes.filter(({ id }) => !found.has(id));
  const rejection = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;
  const failed = new Set([...gone, ...settled.filter(isForWant)].map(({ id }) => id));
  const left = pushes.filter(({ id }) => found.has(id) && !found.get(id));
  const { open, skipped } = splitBehind(left, failed);
  return { settled, open, unsettled: [...withFinalState(gone, rejection), ...skipped] };
}

/**
 * Takes out the lines of a batch whose earlier line of the same matter took no effect for want of a server or
 * of time: they must take none either (decisions, "Batches").
 *
 * @param pushes in their order
 * @param failed request ids of lines that took no effect
 */
export function splitBehind(
  pushes: readonly WaitingPush[],
  failed: ReadonlySet<string>,
): { readonly open: WaitingPush[]; readonly skipped: SettledPush[] } {
  if (failed.size === 0) return { open: [...pushes], skipped: [] };
  const without = new Set(failed);
  const behind: WaitingPush[] = [];
  const open = pushes.filter((push) => {
    if (push.previous === undefined || !without.has(push.previous)) return true;
    without.add(push.id);
    behind.push(push);
    return false;
  });
  return { open, skipped: withFinalState(behind, SKIPPED) };
}

/**
 * The same for what a worker has read, where the earlier line is past its deadline, or left its partition before. One
 * that has no final state by now gets one: else it might still be committed after the lines behind it were skipped for it.
 * Where a transaction holds it that may yet commit, nothing can be said of those lines: they are in neither
 * list, leave their partition without an effect, and their web process finalizes them.
 *
 * @param finalize see Finalize
 * @param late of the same batch, past their deadline: the final state of each, as Finalize returns it
 */
export async function splitBehindEarlier(
  lookups: Pick<LogLookups, 'settlements'>,
  finalize: (pushes: readonly SettledPush[]) => Promise<(Settlement | undefined)[]>,
  pushes: readonly WaitingPush[],
  late: ReadonlyMap<string, Settlement | undefined>,
): Promise<ReturnType<typeof splitBehind>> {
  const here = new Set([...pushes.map(({ id }) => id), ...late.keys()]);
  const earlier = pushes.flatMap(({ previous }) =>
    previous === undefined || here.has(previous) ? [] : [previous],
  );
  const found = earlier.length > 0 ? await lookups.settlements(earlier) : new Map();
  const left = earlier.filter((id) => !found.get(id)).map((id) => ({ id, settlement: LEFT }));
  const final = left.length > 0 ? await finalize(left) : [];
  const settlements = new Map<string, Settlement | undefined>([
    ...late,
    ...found,
    ...left.map(({ id }, index) => [id, final[index]] as const),
  ]);
  const failed = new Set<string>();
  const held = new Set<string>();
  for (const [id, settlement] of settlements) {
    if (!settlement) held.add(id);
    else if (isForWant({ settlement })) failed.add(id);
  }
  const { open, skipped } = splitBehind(pushes, failed);
  return { open: splitBehind(open, held).open, skipped };
}

/**
 * Takes out pushes about matters of which an earlier push is held by an open transaction that may yet commit: a
 * decision by the matter as it is now could be wrong a moment later. They may be sent again.
 *
 * @param late by request id their final states; undefined where a transaction holds one
 */
export function splitBehindHeld(
  late: readonly WaitingPush[],
  states: ReadonlyMap<string, Settlement | undefined>,
  pushes: readonly WaitingPush[],
): { readonly free: readonly WaitingPush[]; readonly behind: readonly SettledPush[] } {
  const keyOf = ({ systemCode, externalId }: WaitingPush) => groupOf(systemCode, externalId);
  const held = new Set(late.filter(({ id }) => !states.get(id)).map(keyOf));
  if (held.size === 0) return { free: pushes, behind: [] };
  const behind = pushes.filter((push) => held.has(keyOf(push)));
  const rejection = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;
  return {
    free: pushes.filter((push) => !held.has(keyOf(push))),
    behind: withFinalState(behind, rejection),
  };
}

/** Of a line that is in no partition and has no final state: its worker left it, or it was never queued. */
const LEFT = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
const SKIPPED = { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' } as const;

/** Whether a push took no effect for want of a server or of time: it may be sent again as it is. */
function isForWant({ settlement }: { readonly settlement: Settlement }): boolean {
  if (settlement.state === 'EXPIRED') return true;
  if (settlement.state !== 'REFUSED') return false;
  const { code, retryable } = new PushError(settlement.reason);
  return retryable && code >= 500;
}

/** Pushes that take no effect, as they are to be finalized. */
export function withFinalState(
  pushes: readonly WaitingPush[],
  settlement: Settlement,
): SettledPush[] {
  return pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));
}

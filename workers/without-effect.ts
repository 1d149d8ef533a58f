/**
 * Separates the pushes that a worker must not apply: late pushes, settled pushes, pushes without a log entry, and lines
 * behind a failed line. A *line* is a push that a caller sent in a batch request. A line is *behind* an earlier line if
 * both are in the same batch request and for the same matter.
 *
 * Each separated push is finalized, so that an earlier partition owner cannot commit the push later. A settled push
 * keeps its final state.
 */
import { groupOf } from '../src/domain/matter';
import { PushError } from '../src/protocol/errors';
import type { Batch, WaitingPush } from '../src/queue/consumer';
import type { LogLookups, PushToSettle, Settlement } from '../src/storage/push-log';

/** Final states by request id; undefined: unknown. */
export type FinalStates = ReadonlyMap<string, Settlement | undefined>;

export interface FinalizeDependencies {
  readonly lookups: LogLookups;
  /** Does not change settled pushes. */
  readonly finalize: (pushes: readonly PushToSettle[]) => Promise<FinalStates>;
}

export interface Separated {
  readonly remaining: readonly WaitingPush[];
  /** The final states of the pushes that are not in `remaining`. */
  readonly states: FinalStates;
}

const NOT_IN_PARTITION = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
const SKIPPED = { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' } as const;
const UNAVAILABLE = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;

/** Runs before the first commit. */
export async function finalizeLate(
  deps: FinalizeDependencies,
  { records }: Batch,
): Promise<Separated> {
  // Each deadline is compared with the time of the same shard, because the clocks of two Redis shards can differ.
  const late = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline < now));
  const live = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline >= now));
  const expired = await deps.finalize(withFinalState(late, { state: 'EXPIRED' }));
  const lines = await splitBehindEarlier(deps, live, expired);
  const { unlocked, behind } = splitBehindLocked(late, expired, lines.remaining);
  const others = await deps.finalize([...lines.rejected, ...behind]);
  return { remaining: unlocked, states: new Map([...expired, ...others]) };
}

/** Runs after a failed commit. A push without a log entry makes every commit fail. */
export async function separateSettled(
  { lookups, finalize }: FinalizeDependencies,
  pushes: readonly WaitingPush[],
): Promise<Separated> {
  const found = await lookups.settlements(pushes.map(({ id }) => id));
  const withoutEntry = pushes.filter(({ id }) => !found.has(id));
  const settled = [...found].filter(([, settlement]) => settlement);
  const queued = pushes.filter(({ id }) => found.has(id) && !found.get(id));
  // After a MongoDB election, `settlements` can miss an existing entry, so `finalize` must settle the entry.
  const ended = await finalize(withFinalState(withoutEntry, UNAVAILABLE));
  const { remaining, rejected } = splitBehindFailed(queued, new Map([...settled, ...ended]));
  return { remaining, states: new Map([...settled, ...ended, ...(await finalize(rejected))]) };
}

export interface GivenUp extends WaitingPush {
  readonly reason: 'OPERATION_FAILED' | 'DATABASE_UNAVAILABLE';
}

/**
 * Finalizes the given-up pushes. Lines behind another given-up push come last, because the reason of a line can
 * depend on the final state of the earlier push.
 *
 * @param pushes in queue order within each matter
 */
export async function rejectGivenUp(
  { finalize }: Pick<FinalizeDependencies, 'finalize'>,
  pushes: readonly GivenUp[],
): Promise<FinalStates> {
  const { remaining: first, behind } = splitBehind(pushes, new Set(pushes.map(({ id }) => id)));
  const ended = await finalize(withReason(first));
  const { remaining, rejected } = splitBehindFailed(behind, ended);
  return new Map([...ended, ...(await finalize([...withReason(remaining), ...rejected]))]);
}

const withFinalState = (pushes: readonly WaitingPush[], settlement: Settlement): PushToSettle[] =>
  pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));

const withReason = (pushes: readonly GivenUp[]): PushToSettle[] =>
  pushes.flatMap((push) => withFinalState([push], { state: 'REFUSED', reason: push.reason }));

/**
 * Rejects lines because of the final state of an earlier line:
 *
 * - Lines behind a retryable failure: SKIPPED (contract 7.2).
 * - Lines behind an unknown final state: UNAVAILABLE.
 *
 * @param pushes in queue order within each matter
 */
function splitBehindFailed<P extends WaitingPush>(pushes: readonly P[], states: FinalStates) {
  const failed = new Set<string>();
  const unknown = new Set<string>();
  for (const [id, settlement] of states) {
    if (!settlement) unknown.add(id);
    else if (isRetryableFailure(settlement)) failed.add(id);
  }
  const behindFailed = splitBehind(pushes, failed);
  const { remaining, behind: behindUnknown } = splitBehind(behindFailed.remaining, unknown);
  const skipped = withFinalState(behindFailed.behind, SKIPPED);
  return { remaining, rejected: [...skipped, ...withFinalState(behindUnknown, UNAVAILABLE)] };
}

/**
 * Separates the lines that are behind a push in `earlier`.
 *
 * @param pushes in queue order within each matter
 * @param earlier request ids
 */
function splitBehind<P extends WaitingPush>(pushes: readonly P[], earlier: ReadonlySet<string>) {
  const ids = new Set(earlier);
  const behind: P[] = [];
  const remaining = pushes.filter((push) => {
    if (push.previous === undefined || !ids.has(push.previous)) return true;
    ids.add(push.id);
    behind.push(push);
    return false;
  });
  return { remaining, behind };
}

/**
 * Looks up the earlier lines that are not in this batch, and then rejects lines by the rules of `splitBehindFailed`.
 * An unsettled earlier line is not in the partition, so the line is finalized with NOT_IN_PARTITION.
 *
 * @param lateStates the final states of the late pushes of this batch
 */
async function splitBehindEarlier(
  { lookups, finalize }: FinalizeDependencies,
  pushes: readonly WaitingPush[],
  lateStates: FinalStates,
) {
  const inThisBatch = new Set([...pushes.map(({ id }) => id), ...lateStates.keys()]);
  const earlier = pushes.flatMap(({ previous }) =>
    previous === undefined || inThisBatch.has(previous) ? [] : [previous],
  );
  const found: FinalStates = earlier.length > 0 ? await lookups.settlements(earlier) : new Map();
  const unsettled = earlier.filter((id) => !found.get(id));
  const ended = await finalize(unsettled.map((id) => ({ id, settlement: NOT_IN_PARTITION })));
  return splitBehindFailed(pushes, new Map([...lateStates, ...found, ...ended]));
}

/**
 * If the final state of a late push is unknown, an open transaction can still change the matter. Therefore, the other
 * pushes of this matter are separated.
 */
function splitBehindLocked(
  late: readonly WaitingPush[],
  states: FinalStates,
  pushes: readonly WaitingPush[],
) {
  const keyOf = ({ systemCode, externalId }: WaitingPush) => groupOf(systemCode, externalId);
  const locked = new Set(late.filter(({ id }) => !states.get(id)).map(keyOf));
  if (locked.size === 0) return { unlocked: pushes, behind: [] };
  const behind = pushes.filter((push) => locked.has(keyOf(push)));
  const unlocked = pushes.filter((push) => !locked.has(keyOf(push)));
  return { unlocked, behind: withFinalState(behind, UNAVAILABLE) };
}

function isRetryableFailure(settlement: Settlement | undefined): boolean {
  if (settlement?.state === 'EXPIRED') return true;
  if (settlement?.state !== 'REFUSED') return false;
  return new PushError(settlement.reason).retryable;
}

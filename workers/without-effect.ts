/**
 * Separates the pushes of a batch that must not take effect now. The functions return the remaining pushes. The
 * separated pushes are:
 *
 * - pushes past their deadline,
 * - pushes that were settled before, for example by an earlier owner of the partition,
 * - pushes without a log entry,
 * - lines behind a failed line. A line is behind the earlier lines of its matter in the same batch of a caller.
 *
 * Each separated push gets a final state. Otherwise an earlier owner could still commit the push after this batch has
 * committed later pushes of the same matter. Exception: a push gets no final state while an open transaction locks its
 * log entry.
 */
import { groupOf } from '../src/domain/matter';
import { PushError } from '../src/protocol/errors';
import type { Batch, WaitingPush } from '../src/queue/consumer';
import type { LogLookups, PushToSettle, Settlement } from '../src/storage/push-log';

/**
 * Final states by request id; undefined if the final state is unknown, for example because an open transaction locks
 * the entry of the push.
 */
export type FinalStates = ReadonlyMap<string, Settlement | undefined>;

export interface FinalizeDependencies {
  readonly lookups: LogLookups;
  /** Finalizes pushes that take no effect. A push that was settled before keeps its final state. */
  readonly finalize: (pushes: readonly PushToSettle[]) => Promise<FinalStates>;
}

export interface Separated {
  /** Pushes that can take effect. */
  readonly remaining: readonly WaitingPush[];
  /** The final states of the other pushes. */
  readonly states: FinalStates;
}

/** The final state of an unsettled line that is not in its partition: for example, Redis rejected or lost the line. */
const NOT_IN_PARTITION = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
const SKIPPED = { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' } as const;
const UNAVAILABLE = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } as const;

/**
 * Before the first commit: finalizes the pushes past their deadline, and the pushes that must not take effect because
 * of an earlier push.
 */
export async function finalizeLate(
  deps: FinalizeDependencies,
  { records }: Batch,
): Promise<Separated> {
  // The deadline is compared with the Redis time at which the partition was read: each Redis shard has its own clock.
  const late = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline < now));
  const live = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline >= now));
  const expired = await deps.finalize(withFinalState(late, { state: 'EXPIRED' }));
  const lines = await splitBehindEarlier(deps, live, expired);
  const { unlocked, behind } = splitBehindLocked(late, expired, lines.remaining);
  const others = await deps.finalize([...lines.rejected, ...behind]);
  return { remaining: unlocked, states: new Map([...expired, ...others]) };
}

/**
 * After a failed commit: finalizes the lines behind a failed line, and the pushes without a log entry. Three
 * things remove an entry: an election before the majority has the entry, PUSH_LOG_RETENTION, or an old backup.
 * No commit with such a push succeeds, because a commit must settle the entry of each push.
 *
 * @returns also the final states of pushes that an earlier batch, an earlier commit of this batch or `web` has settled
 */
export async function separateSettled(
  { lookups, finalize }: FinalizeDependencies,
  pushes: readonly WaitingPush[],
): Promise<Separated> {
  const found = await lookups.settlements(pushes.map(({ id }) => id));
  const withoutEntry = pushes.filter(({ id }) => !found.has(id));
  const settled = [...found].filter(([, settlement]) => settlement);
  const queued = pushes.filter(({ id }) => found.has(id) && !found.get(id));
  // After an election, the entry of a push in `withoutEntry` may exist although `settlements` did not find it. So
  // `finalize` also gets these pushes, and settles the entries that exist.
  const ended = await finalize(withFinalState(withoutEntry, UNAVAILABLE));
  const { remaining, rejected } = splitBehindFailed(queued, new Map([...settled, ...ended]));
  return { remaining, states: new Map([...settled, ...ended, ...(await finalize(rejected))]) };
}

/** A push that is given up, with the reason for which it is rejected. */
export interface GivenUp extends WaitingPush {
  readonly reason: 'OPERATION_FAILED' | 'DATABASE_UNAVAILABLE';
}

/**
 * Finalizes pushes that are given up, and then the lines behind these pushes. An earlier owner may have persisted a
 * push that this worker gave up. The lines behind such a push are not skipped (contract 7.2).
 *
 * @param pushes in the order of each matter
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

/** Pairs pushes with a final state. Writes nothing. */
const withFinalState = (pushes: readonly WaitingPush[], settlement: Settlement): PushToSettle[] =>
  pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));

const withReason = (pushes: readonly GivenUp[]): PushToSettle[] =>
  pushes.flatMap((push) => withFinalState([push], { state: 'REFUSED', reason: push.reason }));

/**
 * Rejects the lines behind a line that failed with a retryable error: these lines are skipped (contract 7.2). A line
 * with an unknown final state can still take effect. So the lines behind such a line are rejected, but not as skipped.
 *
 * @param pushes in the order of each matter
 * @param states the final states of the earlier lines
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
 * Separates the lines of a caller's batch that are behind other lines of their matter.
 *
 * @param pushes in the order of each matter
 * @param earlier request ids of these other lines
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
 * Rejects the lines behind a line of their matter (`previous`) that failed with a retryable error. The failed line is
 * past its deadline, or is not in this batch of the worker. An earlier line that is not in this batch and has no final
 * state is rejected. Otherwise the earlier line could be committed after the lines behind it were skipped.
 *
 * @param lateStates the final states of the pushes of this batch that are past their deadline
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
 * Separates all pushes of a matter if an open transaction locks the log entry of a late push of the matter. The
 * transaction can still commit, so a decision by the current state of the matter could be wrong. The separated pushes
 * get a retryable rejection.
 *
 * @param late pushes past their deadline
 * @param states the final states of the late pushes
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

/** Whether a push failed because a server was unavailable or its deadline passed. */
function isRetryableFailure(settlement: Settlement | undefined): boolean {
  if (settlement?.state === 'EXPIRED') return true;
  if (settlement?.state !== 'REFUSED') return false;
  return new PushError(settlement.reason).retryable;
}

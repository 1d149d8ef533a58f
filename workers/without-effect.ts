/**
 * Separates the pushes of a batch that must not take effect: late pushes, settled pushes, pushes without a log entry,
 * and lines behind a failed line. A line is a push of a caller's batch. A line is behind each earlier line of the same
 * caller's batch and matter.
 *
 * Each separated push gets a final state. Otherwise an earlier owner could commit the push after later pushes of the
 * same matter.
 */
import { groupOf } from '../src/domain/matter';
import { PushError } from '../src/protocol/errors';
import type { Batch, WaitingPush } from '../src/queue/consumer';
import type { LogLookups, PushToSettle, Settlement } from '../src/storage/push-log';

/** Final states by request id; undefined if unknown, for example because an open transaction locks the entry. */
export type FinalStates = ReadonlyMap<string, Settlement | undefined>;

export interface FinalizeDependencies {
  readonly lookups: LogLookups;
  /** A push that was settled before keeps its final state. */
  readonly finalize: (pushes: readonly PushToSettle[]) => Promise<FinalStates>;
}

export interface Separated {
  readonly remaining: readonly WaitingPush[];
  /** The final states of the pushes that are not in `remaining`. */
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
  // Each Redis shard has its own clock, so the deadline is compared with the Redis time at which the partition was
  // read.
  const late = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline < now));
  const live = records.flatMap(({ pushes, now }) => pushes.filter((push) => push.deadline >= now));
  const expired = await deps.finalize(withFinalState(late, { state: 'EXPIRED' }));
  const lines = await splitBehindEarlier(deps, live, expired);
  const { unlocked, behind } = splitBehindLocked(late, expired, lines.remaining);
  const others = await deps.finalize([...lines.rejected, ...behind]);
  return { remaining: unlocked, states: new Map([...expired, ...others]) };
}

/**
 * After a failed commit: finalizes the lines behind a failed line, and the pushes without a log entry. A push without a
 * log entry makes every commit fail.
 *
 * @returns also the final states of pushes that were settled before
 */
export async function separateSettled(
  { lookups, finalize }: FinalizeDependencies,
  pushes: readonly WaitingPush[],
): Promise<Separated> {
  const found = await lookups.settlements(pushes.map(({ id }) => id));
  const withoutEntry = pushes.filter(({ id }) => !found.has(id));
  const settled = [...found].filter(([, settlement]) => settlement);
  const queued = pushes.filter(({ id }) => found.has(id) && !found.get(id));
  // After an election, `settlements` may not find an entry that exists. `finalize` settles such an entry.
  const ended = await finalize(withFinalState(withoutEntry, UNAVAILABLE));
  const { remaining, rejected } = splitBehindFailed(queued, new Map([...settled, ...ended]));
  return { remaining, states: new Map([...settled, ...ended, ...(await finalize(rejected))]) };
}

export interface GivenUp extends WaitingPush {
  readonly reason: 'OPERATION_FAILED' | 'DATABASE_UNAVAILABLE';
}

/**
 * Finalizes given-up pushes, and then the lines behind these pushes. If an earlier owner has persisted a given-up push,
 * the lines behind this push are not skipped (contract 7.2).
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

const withFinalState = (pushes: readonly WaitingPush[], settlement: Settlement): PushToSettle[] =>
  pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));

const withReason = (pushes: readonly GivenUp[]): PushToSettle[] =>
  pushes.flatMap((push) => withFinalState([push], { state: 'REFUSED', reason: push.reason }));

/**
 * Lines behind a line with a retryable failure are skipped (contract 7.2). A line with an unknown final state can still
 * take effect, so the lines behind this line are rejected as UNAVAILABLE.
 *
 * @param pushes in the order of each matter
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
 * @param pushes in the order of each matter
 * @param earlier request ids of the lines whose later lines are separated
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
 * Rejects the lines behind a failed line that is not in `pushes`. An unsettled earlier line outside this batch is
 * rejected first. Otherwise the earlier line could be committed after the lines behind this line were skipped.
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
 * Separates all pushes of a matter if an open transaction locks the log entry of a late push. The transaction can still
 * commit and change the matter.
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

/**
 * Applies the groups of a batch. A group contains the pushes of one matter. After a failed commit, the batch is
 * halved until each failing group is alone, or until `isGivenUp` ends the retries.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../src/infra/driver-errors';
import { foldedLog } from '../src/infra/folded-log';
import type { Logger } from '../src/infra/logger';
import type { Metrics } from '../src/observability/metrics';
import { traceIdsOf } from '../src/queue/consumer';
import { failsWholeBatch, isContention, isFinal, type PartitionsLost } from './failures';
import { type Group, groupPushes } from './plan-batch';
import {
  type FinalizeDependencies,
  type FinalStates,
  type GivenUp,
  rejectGivenUp,
  separateSettled,
} from './without-effect';

export interface ApplyGroupsDependencies extends FinalizeDependencies {
  /** Commits groups in one transaction. @throws if nothing was written, or if the result is unknown */
  readonly commit: (groups: readonly Group[]) => Promise<FinalStates>;
  /** @returns undefined if the worker still owns the partitions; otherwise the error for the whole batch */
  readonly checkOwnership: () => Promise<PartitionsLost | undefined>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Maximum attempts for a group that is committed alone. */
const MAX_ATTEMPTS = 4;
/**
 * Maximum groups that are given up together after a contention error. Larger batches are halved even if the time for
 * retries is over.
 */
const MAX_CONTENDED_TOGETHER = 8;
const MAX_TRACE_IDS = 20;

const SPLIT = { level: 'info', text: 'commit failed, retrying parts of the batch' } as const;
const GIVEN_UP = {
  level: 'error',
  text: 'gave up the pushes of a matter after failed commits',
  maxPerSecond: 5,
} as const;

/** Minimum time for retries after the first failure, milliseconds. */
const MIN_RETRY_TIME = 1_000;
/** The time for retries is this many times the time from the start of `applyGroups` to the first failure. */
const RETRY_TIME_FACTOR = 8;
/**
 * The time for retries ends at most this many milliseconds after the start of `applyGroups`. Must be below
 * PROCESSING_TIMEOUT (`src/queue/batch-runner.ts`).
 */
const MAX_RETRY_TIME = 5_000;

interface RetryContext extends ApplyGroupsDependencies {
  /** The first call starts the time for the retries of all groups. */
  readonly isTimeOver: () => boolean;
  readonly givenUp: GivenUp[];
}

/** @throws an error for which `failsWholeBatch` is true, or an error of `lookups` or `finalize` */
export async function applyGroups(
  deps: ApplyGroupsDependencies,
  groups: readonly Group[],
): Promise<FinalStates> {
  const began = performance.now();
  let until: number | undefined;
  const isTimeOver = () => {
    const now = performance.now();
    const retryTime = Math.max(MIN_RETRY_TIME, RETRY_TIME_FACTOR * (now - began));
    until ??= Math.min(now + retryTime, began + MAX_RETRY_TIME);
    return now > until;
  };
  const context: RetryContext = { ...deps, isTimeOver, givenUp: [] };
  const applied = await apply(context, groups);
  // `rejectGivenUp` runs after all commits, because `rejectGivenUp` can fail.
  return joined(applied, await rejectGivenUp(deps, context.givenUp));
}

/** Settled pushes are the usual cause of a failed commit, so `apply` removes settled pushes before a retry. */
async function apply(
  context: RetryContext,
  groups: readonly Group[],
  attempt = 1,
): Promise<FinalStates> {
  if (groups.length === 0) return new Map();
  try {
    return await context.commit(groups);
  } catch (error) {
    await throwIfBatchFails(context, error);
    // Runs before `separateSettled`, because the first call of `isTimeOver` starts the time for retries.
    const isTimeOver = context.isTimeOver();
    const pushes = groups.flatMap((group) => group.pushes);
    const ended = await separateSettled(context, pushes);
    const left = groupPushes(ended.remaining);
    if (left.length === 0) return ended.states;
    if (isGivenUp(isTimeOver, groups, attempt, error)) {
      giveUp(context, left, error);
      return ended.states;
    }
    context.metrics.retried();
    if (groups.length === 1) {
      await sleep(10 * 2 ** attempt * (0.5 + Math.random()));
      return joined(ended.states, await apply(context, left, attempt + 1));
    }
    foldedLog(context.logger)(SPLIT, { error: errorText(error), groups: groups.length });
    if (ended.remaining.length < pushes.length)
      return joined(ended.states, await apply(context, left));
    const middle = Math.ceil(left.length / 2);
    const first = await apply(context, left.slice(0, middle));
    return joined(first, await apply(context, left.slice(middle)));
  }
}

function isGivenUp(
  isTimeOver: boolean,
  { length }: readonly Group[],
  attempt: number,
  error: unknown,
): boolean {
  if (length === 1) return isTimeOver || isFinal(error) || attempt >= MAX_ATTEMPTS;
  return (
    isTimeOver && !isFinal(error) && (length <= MAX_CONTENDED_TOGETHER || !isContention(error))
  );
}

/**
 * A worker that lost its partitions must not retry, because the new owner may have applied later pushes.
 *
 * @throws `error` if the whole batch must fail; PartitionsLost if Redis does not confirm the ownership
 */
async function throwIfBatchFails(
  { metrics, checkOwnership }: RetryContext,
  error: unknown,
): Promise<void> {
  if (failsWholeBatch(error)) throw error;
  if (isContention(error)) metrics.conflict();
  const loss = await checkOwnership();
  if (loss) throw loss;
}

function giveUp({ logger, givenUp }: RetryContext, groups: readonly Group[], error: unknown): void {
  const reason = isFinal(error) ? 'OPERATION_FAILED' : 'DATABASE_UNAVAILABLE';
  for (const { systemCode, externalId, pushes } of groups) {
    const traceIds = traceIdsOf(pushes).slice(0, MAX_TRACE_IDS);
    const traced = traceIds.length > 0 && { traceIds };
    const line = { systemCode, externalId, error: errorText(error), ...traced };
    foldedLog(logger)({ ...GIVEN_UP, reason }, line);
    givenUp.push(...pushes.map((push) => ({ ...push, reason }) as const));
  }
}

const joined = (a: FinalStates, b: FinalStates): FinalStates => new Map([...a, ...b]);

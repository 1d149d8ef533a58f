/**
 * How a batch gets through where some of it fails: everything is committed together, and when that
 * fails, the batch is halved until the groups in trouble are on their own, so that neighbours do not
 * suffer from each other's faults.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { traceIdsOf, type WaitingPush } from '../src/queue/push';
import { foldedLog } from '../src/runtime/folded-log';
import type { Logger } from '../src/runtime/logger';
import { errorText } from '../src/storage/driver-errors';
import type { SettledPush } from '../src/storage/push-log/log';
import type { LogLookups } from '../src/storage/push-log/lookups';
import type { Metrics } from '../src/telemetry/metrics';
import { failsWholeBatch, isContention, isFinal, PartitionsLost } from './failures';
import { splitBehind, splitSettled, withFinalState } from './final-states';
import { type Group, groupPushes } from './plan-batch';

export interface ApplyDependencies {
  /** Commits groups in one transaction. @throws where nothing of them, or nothing known, was written */
  readonly commit: (groups: readonly Group[]) => Promise<readonly SettledPush[]>;
  /** Whether the batch's worker still holds its partitions. */
  readonly isHeld: () => Promise<boolean>;
  readonly lookups: Pick<LogLookups, 'settlements'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What became of the pushes of some groups. */
export interface Applied {
  /** Settled in the log, by this batch or before it. */
  readonly settled: readonly SettledPush[];
  /** They take no effect; the log is still to be told their final state. */
  readonly unsettled: readonly SettledPush[];
}

/** Tries of one group on its own before it is given up. */
const MAX_TRIES = 4;
/**
 * Groups with contention that are given up together once that time is over: one by one would hold up the
 * partition. Of any other error that lasts so long all groups are: the database rejects all of them.
 */
const FEW = 8;
/** Traces in one line of the log. */
const MAX_NAMED = 20;

const SPLIT = { level: 'info', text: 'batch split' } as const;
const GIVEN_UP = { level: 'error', text: 'group given up', most: 5 } as const;

/** The dependencies, and how long groups of this batch are tried again. */
interface Applying extends ApplyDependencies {
  readonly patience: Patience;
}

/** For how long a batch tries again what failed, all groups together: what else waits does so meanwhile. */
interface Patience {
  /** To be asked after each failure; the time runs from the first one. */
  isOver(): boolean;
}

/** Milliseconds for tries after the first failure, where tries are quick. */
const RETRY_TIMEOUT = 1_000;
/** On a slow database: as many times what came before the first failure, which is a try at least. */
const RETRY_TIMES = 8;
/** Milliseconds of all of a batch in which it tries again: before it is given up itself (batch-runner.ts). */
const MAX_RETRYING = 5_000;

/** By the process' own clock. */
function createPatience(): Patience {
  const began = performance.now();
  let until: number | undefined;
  return {
    isOver: () => {
      const now = performance.now();
      const enough = Math.max(RETRY_TIMEOUT, RETRY_TIMES * (now - began));
      until ??= Math.min(now + enough, began + MAX_RETRYING);
      return now > until;
    },
  };
}

/** @throws what `failsWholeBatch`, or PartitionsLost: the outcome of some pushes is unknown then */
export function applyGroups(deps: ApplyDependencies, groups: readonly Group[]): Promise<Applied> {
  return applyAll({ ...deps, patience: createPatience() }, groups);
}

async function applyAll(applying: Applying, groups: readonly Group[]): Promise<Applied> {
  const [only] = groups;
  if (!only) return { settled: [], unsettled: [] };
  return groups.length === 1 ? applyAlone(applying, only) : applyTogether(applying, groups);
}

/**
 * Everything together; in parts where that fails. Where so many groups are in trouble that this takes
 * too long, a few end together, and may be sent again.
 */
async function applyTogether(applying: Applying, groups: readonly Group[]): Promise<Applied> {
  const { commit, metrics, logger, patience } = applying;
  try {
    return { settled: await commit(groups), unsettled: [] };
  } catch (error) {
    await noteFailure(applying, error);
    metrics.retried();
    const isOver = patience.isOver() && !isFinal(error);
    const maxTogether = isContention(error) ? FEW : Number.POSITIVE_INFINITY;
    if (isOver && groups.length <= maxTogether) return giveUpTogether(applying, groups, error);
    foldedLog(logger)(SPLIT, { error: errorText(error), groups: groups.length });
    return applyInParts(applying, groups);
  }
}

/**
 * Usually some pushes were settled before (a batch taken up again, a deadline meanwhile): without them
 * the rest still goes together. Where that is not it, each half goes on its own: one group in trouble
 * is found in a few steps, not in one per group.
 */
async function applyInParts(applying: Applying, groups: readonly Group[]): Promise<Applied> {
  const pushes = pushesOf(groups);
  const { open, ...known } = await splitSettled(applying.lookups, pushes);
  const left = groupPushes(open);
  if (open.length < pushes.length) return joined(known, await applyAll(applying, left));
  const middle = Math.ceil(left.length / 2);
  const first = await applyAll(applying, left.slice(0, middle));
  return joined(first, await applyAll(applying, left.slice(middle)));
}

/** Groups some of which are held, after so many others that nobody has time to find out which. */
async function giveUpTogether(
  { lookups, logger }: Applying,
  groups: readonly Group[],
  error: unknown,
): Promise<Applied> {
  const { open, ...known } = await splitSettled(lookups, pushesOf(groups));
  const givenUp = groupPushes(open).flatMap((group) => giveUp(logger, group, error));
  return joined(known, { settled: [], unsettled: givenUp });
}

/**
 * One group, until it is written or given up. After a failure, pushes that were settled meanwhile keep
 * their settlement and take no effect: the guards of the commit have kept them from one.
 */
async function applyAlone(applying: Applying, group: Group): Promise<Applied> {
  const { commit, lookups, metrics, logger, patience } = applying;
  let known: Applied = { settled: [], unsettled: [] };
  let left = group;
  for (let tries = 1; ; tries += 1) {
    try {
      return joined(known, { settled: await commit([left]), unsettled: [] });
    } catch (error) {
      await noteFailure(applying, error);
      const { open, ...found } = await splitSettled(lookups, left.pushes);
      known = joined(known, found);
      if (open.length === 0) return known;
      left = { ...group, pushes: open };
      if (isFinal(error) || patience.isOver() || tries >= MAX_TRIES) {
        return joined(known, { settled: [], unsettled: giveUp(logger, left, error) });
      }
      metrics.retried();
      await sleep(10 * 2 ** tries * (0.5 + Math.random()));
    }
  }
}

/**
 * A worker that no longer holds the partitions must not try again: whoever has them now may have applied later pushes
 * of the same matters. Where Redis was emptied, that one does not know of the earlier ones.
 *
 * @throws the error itself where the batch must fail as a whole
 */
async function noteFailure({ metrics, isHeld }: Applying, error: unknown): Promise<void> {
  if (failsWholeBatch(error)) throw error;
  if (isContention(error)) metrics.conflict();
  if (!(await isHeld())) throw new PartitionsLost('other workers may have the partitions by now');
}

/** A group that cannot be written must not hold up its partition: its pushes are rejected without an effect. */
function giveUp(
  logger: Logger,
  { systemCode, externalId, pushes }: Group,
  error: unknown,
): SettledPush[] {
  const reason = isFinal(error) ? 'OPERATION_FAILED' : 'DATABASE_UNAVAILABLE';
  const traceIds = traceIdsOf(pushes).slice(0, MAX_NAMED);
  const traced = traceIds.length > 0 && { traceIds };
  const line = { systemCode, externalId, error: errorText(error), ...traced };
  foldedLog(logger)({ ...GIVEN_UP, reason }, line);
  if (isFinal(error)) return withFinalState(pushes, { state: 'REFUSED', reason });
  const { open, skipped } = splitBehind(pushes, new Set(pushes.map(({ id }) => id)));
  return [...withFinalState(open, { state: 'REFUSED', reason }), ...skipped];
}

const pushesOf = (groups: readonly Group[]): WaitingPush[] =>
  groups.flatMap(({ pushes }) => pushes);

const joined = (a: Applied, b: Applied): Applied => ({
  settled: [...a.settled, ...b.settled],
  unsettled: [...a.unsettled, ...b.unsettled],
});

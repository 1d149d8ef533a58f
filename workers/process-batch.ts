/**
 * Processes a batch of a worker: finalizes late pushes, plans changes, commits matters and log entries, and returns the
 * replies.
 */
import { groupOf } from '../src/domain/matter';
import type { Operation } from '../src/domain/operation';
import { foldedLog } from '../src/infra/folded-log';
import type { Logger } from '../src/infra/logger';
import type { Metrics } from '../src/observability/metrics';
import { findPriorResults, keyOwnerOf } from '../src/pushes/idempotency';
import type { Partitions } from '../src/queue/commands/partitions';
import { LeaseLost } from '../src/queue/commands/worker-number';
import {
  type Batch,
  ownerName,
  type ProcessBatch,
  type Reply,
  readOwner,
} from '../src/queue/consumer';
import type { Ledger } from '../src/storage/ledger';
import type {
  Finalize,
  LogLookups,
  PushLog,
  PushToSettle,
  Settlement,
} from '../src/storage/push-log';
import type { SessionPool } from '../src/storage/sessions';
import { CommitConflict, PartitionsLost, PlanFailed } from './failures';
import { type BatchPlan, type Group, groupPushes, type Loaded, planBatch } from './plan-batch';
import { applyGroups } from './retry';
import { type FinalStates, finalizeLate } from './without-effect';

export interface BatchDependencies {
  readonly ledger: Ledger;
  readonly pushLog: PushLog;
  readonly lookups: LogLookups;
  readonly finalize: Finalize;
  readonly users: { names(usernames: readonly string[]): Promise<Map<string, string>> };
  readonly partitions: Pick<Partitions, 'isOwned' | 'noteOwnersKnown'>;
  readonly sessions: Pick<SessionPool, 'commit' | 'kill' | 'killOthers' | 'endRetired'>;
  readonly clock: () => number;
  readonly newMatterId: () => bigint;
  /** The statuses that conclude a matter (setting CONCLUDED_STATUSES). */
  readonly concluded: ReadonlySet<string>;
  readonly workerName: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const UNFINISHED = {
  level: 'warn',
  text: 'ending the open transactions of earlier partition owners',
} as const;

const FORGOTTEN = {
  level: 'info',
  text: 'Redis is new or was emptied: ending the open transactions of other workers',
} as const;

export function createProcessBatch(deps: BatchDependencies): ProcessBatch<Settlement> {
  const { lookups, logger, metrics, clock, workerName: worker } = deps;
  return async (batch) => {
    await endEarlierTransactions(deps, batch);
    const finalize = async (pushes: readonly PushToSettle[]): Promise<FinalStates> => {
      const by = { now: clock(), startedAt: batch.now, worker };
      const states = await deps.finalize(pushes, by);
      return new Map(pushes.map(({ id }, index) => [id, states[index]]));
    };
    const late = await finalizeLate({ lookups, finalize }, batch);
    const commit = (groups: readonly Group[]) => loadPlanCommit(deps, batch, groups);
    const steps = {
      checkOwnership: () => checkOwnership(deps, batch),
      ...{ lookups, finalize, commit, logger, metrics },
    };
    const applied = await applyGroups(steps, groupPushes(late.remaining));
    return repliesTo(batch, new Map([...late.states, ...applied]));
  };
}

/** A push without a confirmed final state gets no reply. */
function repliesTo({ records }: Batch, states: FinalStates): Reply<Settlement>[] {
  const pushes = records.flatMap((record) => record.pushes);
  return pushes.flatMap(({ id, replyTo }) => {
    const settlement = states.get(id);
    return settlement ? [{ id, replyTo, settlement }] : [];
  });
}

/** Ends open transactions of earlier partition owners and of abandoned batches. */
async function endEarlierTransactions(deps: BatchDependencies, batch: Batch): Promise<void> {
  const { sessions, partitions, logger } = deps;
  const { unknownShards, fencedOwners, records } = batch;
  await sessions.endRetired();
  // An emptied Redis does not know the earlier partition owners. Transactions of these owners can still commit.
  if (unknownShards.length > 0) {
    foldedLog(logger)(FORGOTTEN, { shards: unknownShards });
    await sessions.killOthers();
    await partitions.noteOwnersKnown(unknownShards);
  }
  if (fencedOwners.length > 0) {
    const numbers = records.map(({ partition }) => partition);
    foldedLog(logger)(UNFINISHED, { partitions: numbers, of: fencedOwners.map(ownerName) });
    await sessions.kill(fencedOwners.flatMap((owner) => readOwner(owner).sessions));
  }
}

/**
 * Applies some groups of the batch in one transaction.
 *
 * @throws CommitConflict, PlanFailed, LeaseLost, PartitionsLost, SessionReplaced, or the driver's error
 */
async function loadPlanCommit(
  deps: BatchDependencies,
  batch: Batch,
  groups: readonly Group[],
): Promise<FinalStates> {
  const loaded = await load(deps, groups);
  const now = deps.clock();
  const plan = planOrFail(deps, groups, loaded, now);
  if (plan.settled.length > 0) await commitPlan(deps, batch, plan, now);
  return new Map(plan.settled.map(({ id, settlement }) => [id, settlement]));
}

async function load(deps: BatchDependencies, groups: readonly Group[]): Promise<Loaded> {
  const pushes = groups.flatMap((group) => group.pushes);
  const [matters, names, keyUses] = await Promise.all([
    deps.ledger.load(groups),
    deps.users.names(pushes.flatMap(({ operation }) => usernamesOf(operation))),
    deps.lookups.keyUses(pushes.map(keyOwnerOf)),
  ]);
  // The prior results must be read after the matters. Otherwise, the prior results could lack a push that changed one
  // of the matters.
  const priorResults = await findPriorResults(deps.lookups, pushes, deps.clock());
  if (!priorResults) throw new CommitConflict('a prior result is not confirmed yet');
  const byGroup = matters.map(
    (matter) => [groupOf(matter.systemCode, matter.externalId), matter] as const,
  );
  return { matters: new Map(byGroup), names, priorResults, keyUses };
}

const usernamesOf = (operation: Operation): string[] =>
  operation.op === 'upsert' ? (operation.parties ?? []).map(({ username }) => username) : [];

function planOrFail(
  { newMatterId, concluded }: BatchDependencies,
  groups: readonly Group[],
  loaded: Loaded,
  now: number,
): BatchPlan {
  try {
    return planBatch(groups, loaded, { now, newMatterId, concluded });
  } catch (cause) {
    if (cause instanceof LeaseLost) throw cause;
    throw new PlanFailed(String(cause), { cause });
  }
}

/**
 * Writes matters and entries in one transaction with three guards: each matter must have the loaded revision, each
 * entry must be QUEUED, and the worker must still own the partitions.
 */
async function commitPlan(
  deps: BatchDependencies,
  batch: Batch,
  { changes, settled }: BatchPlan,
  now: number,
): Promise<void> {
  const began = performance.now();
  await deps.sessions.commit(batch.session, async (session) => {
    // This check runs in parallel with the writes. The promise `loss` never rejects.
    const loss = checkOwnership(deps, batch);
    const written = await deps.ledger.write(changes, session);
    const by = { now, startedAt: batch.now, worker: deps.workerName, session };
    const marked = await deps.pushLog.settle(settled, by);
    const lost = await loss;
    if (lost) throw lost;
    if (written !== changes.length) throw new CommitConflict('a matter changed after it was read');
    if (marked !== settled.length) throw new CommitConflict('a push was settled before');
  });
  deps.metrics.stage('commit', began);
}

function checkOwnership(
  { partitions }: BatchDependencies,
  batch: Batch,
): Promise<PartitionsLost | undefined> {
  return partitions.isOwned(batch).then(
    (isOwned) => (isOwned ? undefined : new PartitionsLost(LOST)),
    (cause) => new PartitionsLost(UNCONFIRMED, { cause }),
  );
}

const LOST = 'the worker no longer owns the partitions of the batch';
const UNCONFIRMED = 'Redis does not confirm that the worker owns the partitions of the batch';

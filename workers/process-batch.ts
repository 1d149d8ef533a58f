/**
 * A worker's batch. Pushes that are in time are loaded, planned and committed, matters and push-log
 * entries in one transaction. Pushes that take no effect are finalized. The queue acknowledges the batch
 * with the replies.
 */
import type { ProcessBatch } from '../src/queue/batch-runner';
import { ownerName, readOwner } from '../src/queue/owner';
import type { Batch, Partitions } from '../src/queue/partitions';
import type { WaitingPush } from '../src/queue/push';
import type { Reply } from '../src/queue/replies';
import { LeaseLost } from '../src/queue/worker-number';
import { foldedLog } from '../src/runtime/folded-log';
import type { Logger } from '../src/runtime/logger';
import type { Finalize } from '../src/storage/push-log/finalize';
import type { PushLog, SettledPush, Settling } from '../src/storage/push-log/log';
import type { Settlement } from '../src/storage/push-log/settlement';
import type { SessionPool } from '../src/storage/sessions/session-pool';
import type { Metrics } from '../src/telemetry/metrics';
import { applyGroups } from './apply-groups';
import { CommitConflict, PlanFailed } from './failures';
import { splitBehindEarlier, withFinalState } from './final-states';
import { type LoadDependencies, loadBatch } from './load-batch';
import {
  type BatchPlan,
  type Group,
  groupPushes,
  type Loaded,
  type PlanSettings,
  planBatch,
} from './plan-batch';

export interface BatchDependencies extends LoadDependencies {
  readonly pushLog: PushLog;
  readonly finalize: Finalize;
  readonly partitions: Pick<Partitions, 'isHeld'>;
  /** In which batches commit. */
  readonly sessions: Pick<SessionPool, 'commit' | 'kill'>;
  readonly newMatterId: () => bigint;
  readonly concluded: ReadonlySet<string>;
  readonly workerName: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const UNFINISHED = {
  level: 'warn',
  text: 'ending the transactions of an unfinished batch',
} as const;

/** Builds the function that applies the pushes of a batch. */
export function createProcessBatch(deps: BatchDependencies): ProcessBatch<Settlement> {
  return async (batch) => {
    await endFencedOwners(deps, batch);
    const pushes = batch.records.flatMap((one) => one.pushes);
    // Past their deadline: mostly ended by their web process already, so they stay out of the guards.
    const late = ofEach(batch, ({ deadline }, now) => deadline < now);
    const live = ofEach(batch, ({ deadline }, now) => deadline >= now);
    const finalize = (some: readonly SettledPush[]) => deps.finalize(some, settlingOf(deps, batch));
    const { open, skipped } = await splitBehindEarlier(deps.lookups, finalize, live, late);
    const commit = (groups: readonly Group[]) => loadPlanCommit(deps, batch, groups);
    const isHeld = () => deps.partitions.isHeld(batch);
    const applying = { ...deps, commit, isHeld };
    const { settled, unsettled } = await applyGroups(applying, groupPushes(open));
    const rest = [...withFinalState(late, { state: 'EXPIRED' }), ...skipped, ...unsettled];
    return repliesTo(pushes, [...settled, ...(await finalizeRest(deps, batch, rest))]);
  };
}

/** The pushes of a batch that pass, each judged by the clock of its own partition. */
function ofEach(
  { records }: Batch,
  passes: (push: WaitingPush, now: number) => boolean,
): WaitingPush[] {
  return records.flatMap(({ pushes, now }) => pushes.filter((push) => passes(push, now)));
}

/** Ends what earlier owners of the partitions left open: it must neither hold nor change what this batch writes. */
async function endFencedOwners(
  { sessions, logger }: BatchDependencies,
  { fencedOwners, records }: Batch,
): Promise<void> {
  if (fencedOwners.length === 0) return;
  const partitions = records.map(({ partition }) => partition);
  foldedLog(logger)(UNFINISHED, { partitions, of: fencedOwners.map(ownerName) });
  await sessions.kill(fencedOwners.flatMap((one) => readOwner(one).sessions));
}

/**
 * Applies some groups of the batch in one transaction.
 *
 * @returns the pushes of the groups, settled
 * @throws CommitConflict where a guard fails, or the driver's error; nothing is written, but for
 *   commits whose outcome is unknown (see failsWholeBatch)
 */
async function loadPlanCommit(
  deps: BatchDependencies,
  batch: Batch,
  groups: readonly Group[],
): Promise<readonly SettledPush[]> {
  const loaded = await loadBatch(deps, groups);
  const { newMatterId, concluded } = deps;
  const now = deps.clock();
  const plan = planOrFail(groups, loaded, { now, newMatterId, concluded });
  if (plan.settled.length > 0) await commitPlan(deps, batch, { ...plan, now });
  return plan.settled;
}

/** @throws PlanFailed, or what `newMatterId` throws */
function planOrFail(...of: [readonly Group[], Loaded, PlanSettings]): BatchPlan {
  try {
    return planBatch(...of);
  } catch (cause) {
    if (cause instanceof LeaseLost) throw cause;
    throw new PlanFailed(String(cause), { cause });
  }
}

/** Matters and entries in one transaction, each guarded: what was read must still be so. */
async function commitPlan(
  deps: BatchDependencies,
  { session: sessionId, now: startedAt }: Batch,
  { changes, settled, now }: BatchPlan & { readonly now: number },
): Promise<void> {
  const began = performance.now();
  await deps.sessions.commit(sessionId, async (session) => {
    const written = await deps.ledger.write(changes, session);
    const by = { now, startedAt, worker: deps.workerName, session };
    const marked = await deps.pushLog.settle(settled, by);
    if (written !== changes.length) throw new CommitConflict('a matter changed after it was read');
    if (marked !== settled.length) throw new CommitConflict('a push was settled before');
  });
  deps.metrics.stage('commit', began);
}

/**
 * Finalizes pushes that take no effect, unless another process settled them first. A push whose entry
 * is held by an open transaction gets no reply: it leaves its partition, so it takes no effect any more unless
 * that transaction commits one, and its web process finalizes it in the log later.
 */
async function finalizeRest(
  deps: BatchDependencies,
  batch: Batch,
  unsettled: readonly SettledPush[],
): Promise<readonly SettledPush[]> {
  const final = await deps.finalize(unsettled, settlingOf(deps, batch));
  return unsettled.flatMap(({ id }, index) => {
    const settlement = final[index];
    return settlement ? [{ id, settlement }] : [];
  });
}

const settlingOf = (
  { clock, workerName: worker }: BatchDependencies,
  { now: startedAt }: Batch,
): Settling => ({ now: clock(), startedAt, worker });

/** In the order of the pushes; none to a push whose final state is not known. */
function repliesTo(
  pushes: readonly WaitingPush[],
  settled: readonly SettledPush[],
): Reply<Settlement>[] {
  const settlements = new Map(settled.map(({ id, settlement }) => [id, settlement]));
  return pushes.flatMap(({ id, replyTo }) => {
    const settlement = settlements.get(id);
    return settlement ? [{ id, replyTo, settlement }] : [];
  });
}

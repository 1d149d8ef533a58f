/**
 * A worker's batch. Pushes past their deadline are finalized. The others are loaded, planned and committed, matters
 * and push-log entries in one transaction. The queue acknowledges the batch with the replies.
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
import { CommitConflict, PartitionsLost, PlanFailed } from './failures';
import { splitBehindEarlier, splitBehindHeld, withFinalState } from './final-states';
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
  readonly partitions: Pick<Partitions, 'isHeld' | 'noteOwnersKnown'>;
  /** In which batches commit. */
  readonly sessions: Pick<SessionPool, 'commit' | 'kill' | 'killOthers' | 'endRetired'>;
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

const FORGOTTEN = {
  level: 'info',
  text: 'Redis is new or was emptied: ending the open transactions of other workers',
} as const;

/** Builds the function that applies the pushes of a batch. */
export function createProcessBatch(deps: BatchDependencies): ProcessBatch<Settlement> {
  return async (batch) => {
    await endEarlierOwners(deps, batch);
    const { open, ended } = await endLate(deps, batch);
    const commit = (groups: readonly Group[]) => loadPlanCommit(deps, batch, groups);
    const findLoss = () => lossOf(deps, batch);
    const finalize = (some: readonly SettledPush[]) => finalizeAll(deps, batch, some);
    const applying = { ...deps, commit, findLoss, finalize };
    const { settled, unsettled } = await applyGroups(applying, groupPushes(open));
    const pushes = batch.records.flatMap((one) => one.pushes);
    return repliesTo(pushes, [...ended, ...settled, ...(await finalize(unsettled))]);
  };
}

/**
 * Finalizes the pushes that are past their deadline, and the lines of batches behind them. Their web process has
 * mostly ended them already, so they stay out of the guards. They are final before later pushes take effect: a former
 * owner of the partition, which read them in time, could persist them after those.
 *
 * @returns the pushes that may take effect, and those that have a final state
 */
async function endLate(
  deps: BatchDependencies,
  batch: Batch,
): Promise<{ readonly open: readonly WaitingPush[]; readonly ended: readonly SettledPush[] }> {
  const late = ofEach(batch, ({ deadline }, now) => deadline < now);
  const live = ofEach(batch, ({ deadline }, now) => deadline >= now);
  const finalize = (some: readonly SettledPush[]) => deps.finalize(some, settlingOf(deps, batch));
  const final = late.length > 0 ? await finalize(withFinalState(late, { state: 'EXPIRED' })) : [];
  const states = new Map(late.map(({ id }, index) => [id, final[index]]));
  const { open, skipped } = await splitBehindEarlier(deps.lookups, finalize, live, states);
  const { free, behind } = splitBehindHeld(late, states, open);
  const rest = await finalizeAll(deps, batch, [...skipped, ...behind]);
  return { open: free, ended: [...known(late, final), ...rest] };
}

/** The pushes of a batch that pass, each judged by the clock of its own partition. */
function ofEach(
  { records }: Batch,
  passes: (push: WaitingPush, now: number) => boolean,
): WaitingPush[] {
  return records.flatMap(({ pushes, now }) => pushes.filter((push) => passes(push, now)));
}

/**
 * Ends what earlier owners of the partitions left open, this worker among them. It must not hold what this batch
 * writes. And it must not commit once this batch is decided: a push without an effect changes no revision, so
 * that no guard would see it.
 */
async function endEarlierOwners(deps: BatchDependencies, batch: Batch): Promise<void> {
  await deps.sessions.endRetired();
  await endUnknownOwners(deps, batch);
  await endFencedOwners(deps, batch);
}

/** Redis was emptied: its earlier owners may have asked it before whether they hold their partitions, and commit now. */
async function endUnknownOwners(
  { sessions, partitions, logger }: BatchDependencies,
  { unknownShards }: Batch,
): Promise<void> {
  if (unknownShards.length === 0) return;
  foldedLog(logger)(FORGOTTEN, { shards: unknownShards });
  await sessions.killOthers();
  await partitions.noteOwnersKnown(unknownShards);
}

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

/**
 * Matters and entries in one transaction, each guarded: what was read must still be so. The guards do not see what
 * another worker changed before the batch was loaded. So the worker must still hold the partitions after the load.
 */
async function commitPlan(
  deps: BatchDependencies,
  batch: Batch,
  { changes, settled, now }: BatchPlan & { readonly now: number },
): Promise<void> {
  const began = performance.now();
  await deps.sessions.commit(batch.session, async (session) => {
    // Beside the writes, so that it costs no time of its own. It never rejects before they are over.
    const loss = lossOf(deps, batch);
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

/** @returns the error to fail with; undefined if the batch's worker still holds its partitions, as Redis has it */
function lossOf(
  { partitions }: BatchDependencies,
  batch: Batch,
): Promise<PartitionsLost | undefined> {
  return partitions.isHeld(batch).then(
    (isHeld) => (isHeld ? undefined : new PartitionsLost(LOST)),
    (cause) => new PartitionsLost(UNCONFIRMED, { cause }),
  );
}

const LOST = 'the worker does not hold the partitions of the batch any more';
const UNCONFIRMED = 'Redis does not confirm that the worker holds the partitions of the batch';

/**
 * Finalizes pushes that take no effect, unless another process settled them first. A push whose entry
 * is held by an open transaction gets no reply: it leaves its partition, so it takes no effect any more unless
 * that transaction commits one, and its web process finalizes it in the log later.
 */
async function finalizeAll(
  deps: BatchDependencies,
  batch: Batch,
  unsettled: readonly SettledPush[],
): Promise<readonly SettledPush[]> {
  if (unsettled.length === 0) return [];
  return known(unsettled, await deps.finalize(unsettled, settlingOf(deps, batch)));
}

/** The pushes whose final state is known. @param final as Finalize returns it */
function known(
  pushes: readonly { readonly id: string }[],
  final: readonly (Settlement | undefined)[],
): SettledPush[] {
  return pushes.flatMap(({ id }, index) => {
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

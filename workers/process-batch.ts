/**
 * One batch's work: load, fold, commit. Everything that it read commits in one transaction, matters
 * and push-log entries together. When that fails, the batch is halved until the groups in trouble
 * are on their own, so that neighbours do not suffer from each other's faults.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessBatch } from '../src/queue/group-worker';
import { ownerName, readOwner } from '../src/queue/owner';
import { traceIdsOf, type WaitingPush } from '../src/queue/push';
import { foldedLog } from '../src/runtime/folded-log';
import type { Logger } from '../src/runtime/logger';
import type { Finalize } from '../src/storage/push-log/finalize';
import type { PushLog, SettledPush } from '../src/storage/push-log/log';
import type { Settlement } from '../src/storage/push-log/settlement';
import type { SessionPool } from '../src/storage/session-pool';
import type { Metrics } from '../src/telemetry/metrics';
import { CommitConflict, isContention, isOutage } from './failures';
import { type LoadDependencies, loadBatch } from './load-batch';
import { type Group, groupPushes, type PlanSettings, planBatch } from './plan-batch';

/** Tries of one group on its own before it is given up. */
const MAX_TRIES = 4;
/** Milliseconds of a batch for such tries, all groups together: what else waits does so meanwhile. */
const RETRY_TIMEOUT = 1_000;
/** Groups that are given up together once that time is over: one by one would hold up the partition. */
const FEW = 8;
/** Traces in one line of the log. */
const MAX_NAMED = 20;

export interface BatchDependencies extends LoadDependencies {
  readonly pushLog: PushLog;
  readonly finalize: Finalize;
  /** In which batches commit. */
  readonly sessions: SessionPool;
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
const SPLIT = { level: 'info', text: 'batch split' } as const;
const GIVEN_UP = { level: 'error', text: 'group given up', most: 5 } as const;

/** The batch at work. */
interface Work {
  /** In which it commits. */
  readonly session: string;
  /** Redis time, epoch milliseconds. */
  readonly startedAt: number;
  /** Until when groups are tried again, by the process' own clock. */
  readonly retryUntil: number;
  /** Pushes without an effect; they are finalized together at the end of the batch. */
  readonly unsettled: SettledPush[];
}

/** Builds the function that applies the pushes of a batch. */
export function createProcessBatch(deps: BatchDependencies): ProcessBatch<Settlement> {
  return async ({ records, owner, now, fencedOwners }) => {
    if (fencedOwners.length > 0) {
      const partitions = records.map(({ partition }) => partition);
      foldedLog(deps.logger)(UNFINISHED, { partitions, of: fencedOwners.map(ownerName) });
      await deps.sessions.kill(fencedOwners.map((one) => readOwner(one).session));
    }
    const pushes = records.flatMap(({ pushes }) => pushes);
    // Past their deadline: mostly ended by their web process already, so they stay out of the guards.
    const late = pushes.filter((push) => push.deadline < now);
    const live = pushes.filter((push) => push.deadline >= now);
    const unsettled = withFinalState(late, { state: 'EXPIRED' });
    const { session } = readOwner(owner);
    const work = {
      session,
      startedAt: now,
      retryUntil: performance.now() + RETRY_TIMEOUT,
      unsettled,
    };
    const applied = await applyAll(deps, work, groupPushes(live));
    const settled = [...applied, ...(await finalizeRest(deps, work))];
    const settlements = new Map(settled.map(({ id, settlement }) => [id, settlement]));
    return pushes.flatMap(({ id, replyTo }) => {
      const settlement = settlements.get(id);
      return settlement ? [{ id, replyTo, settlement }] : [];
    });
  };
}

/**
 * Everything together. Where that fails, usually some pushes were settled before (a batch taken up
 * again, a deadline meanwhile): without them the rest still goes together. Where that is not it,
 * each half goes on its own: one group in trouble is found in a few steps, not in one per group. Where
 * so many are in trouble that this takes too long, a few end together, and may be sent again.
 */
async function applyAll(
  deps: BatchDependencies,
  work: Work,
  groups: readonly Group[],
): Promise<readonly SettledPush[]> {
  const [only] = groups;
  if (!only) return [];
  if (groups.length === 1) return applyAlone(deps, work, only);
  try {
    return await attempt(deps, work, groups);
  } catch (error) {
    if (isOutage(error)) throw error;
    noteFailure(deps, error);
    deps.metrics.retried();
    const isOver = isContention(error) && performance.now() > work.retryUntil;
    if (isOver && groups.length <= FEW) return giveUpTogether(deps, work, groups, error);
    foldedLog(deps.logger)(SPLIT, { error: String(error), groups: groups.length });
  }
  const pushes = groups.flatMap((group) => group.pushes);
  const { kept, open } = await splitSettled(deps, work, pushes);
  const left = groupPushes(open);
  if (open.length < pushes.length) return [...kept, ...(await applyAll(deps, work, left))];
  const middle = Math.ceil(left.length / 2);
  const first = await applyAll(deps, work, left.slice(0, middle));
  return [...first, ...(await applyAll(deps, work, left.slice(middle)))];
}

/** Groups some of which are held, after so many others that nobody has time to find out which. */
async function giveUpTogether(
  deps: BatchDependencies,
  work: Work,
  groups: readonly Group[],
  error: unknown,
): Promise<readonly SettledPush[]> {
  const pushes = groups.flatMap((group) => group.pushes);
  const { kept, open } = await splitSettled(deps, work, pushes);
  for (const group of groupPushes(open)) {
    work.unsettled.push(...giveUp(deps, group, { open: group.pushes, error }));
  }
  return kept;
}

/** Load, fold and commit in one go. @throws CommitConflict where a guard fails; nothing is written */
async function attempt(
  deps: BatchDependencies,
  work: Work,
  groups: readonly Group[],
): Promise<readonly SettledPush[]> {
  if (groups.length === 0) return [];
  const loaded = await loadBatch(deps, groups);
  const settings: PlanSettings = {
    now: deps.clock(),
    newMatterId: deps.newMatterId,
    concluded: deps.concluded,
  };
  const { changes, settled } = planBatch(groups, loaded, settings);
  if (settled.length === 0) return settled;
  const began = performance.now();
  await deps.sessions.commit(work.session, async (session) => {
    const written = await deps.ledger.write(changes, session);
    const { startedAt } = work;
    const by = { now: settings.now, startedAt, worker: deps.workerName, session };
    const marked = await deps.pushLog.settle(settled, by);
    if (written !== changes.length) throw new CommitConflict('a matter changed after it was read');
    if (marked !== settled.length) throw new CommitConflict('a push was settled before');
  });
  deps.metrics.stage('commit', began);
  return settled;
}

/** One group, careful: pushes that are settled already keep their settlement and take no effect. */
async function applyAlone(
  deps: BatchDependencies,
  work: Work,
  group: Group,
): Promise<readonly SettledPush[]> {
  const kept: SettledPush[] = [];
  let open = group.pushes;
  for (let tries = 1; ; tries += 1) {
    const split = await splitSettled(deps, work, open);
    kept.push(...split.kept);
    open = split.open;
    try {
      return [...kept, ...(await attempt(deps, work, [{ ...group, pushes: open }]))];
    } catch (error) {
      if (isOutage(error)) throw error;
      noteFailure(deps, error);
      if (tries >= MAX_TRIES || performance.now() > work.retryUntil) {
        work.unsettled.push(...giveUp(deps, group, { open, error }));
        return kept;
      }
      deps.metrics.retried();
      await sleep(10 * 2 ** tries * (0.5 + Math.random()));
    }
  }
}

function noteFailure({ metrics }: BatchDependencies, error: unknown): void {
  if (isContention(error)) metrics.conflict();
}

/** A group that cannot be written must not hold up its partition: its pushes are rejected without an effect. */
function giveUp(
  deps: BatchDependencies,
  { systemCode, externalId }: Group,
  { open, error }: { readonly open: readonly WaitingPush[]; readonly error: unknown },
): SettledPush[] {
  const reason = isContention(error) ? 'DATABASE_UNAVAILABLE' : 'OPERATION_FAILED';
  const traceIds = traceIdsOf(open).slice(0, MAX_NAMED);
  const traced = traceIds.length > 0 && { traceIds };
  const line = { systemCode, externalId, error: String(error), ...traced };
  foldedLog(deps.logger)({ ...GIVEN_UP, reason }, line);
  return withFinalState(open, { state: 'REFUSED', reason });
}

function withFinalState(pushes: readonly WaitingPush[], settlement: Settlement): SettledPush[] {
  return pushes.map(({ id, queuedAt }) => ({ id, queuedAt, settlement }));
}

/**
 * Finalizes pushes that take no effect, unless another process settled them first. A push whose entry
 * is held by an open transaction gets no reply: it leaves its partition, so it takes no effect any more unless
 * that transaction commits one, and its web process finalizes it in the log later.
 */
async function finalizeRest(
  deps: BatchDependencies,
  { startedAt, unsettled }: Work,
): Promise<readonly SettledPush[]> {
  const by = { now: deps.clock(), startedAt, worker: deps.workerName };
  const final = await deps.finalize(unsettled, by);
  return unsettled.flatMap(({ id }, index) => {
    const settlement = final[index];
    return settlement ? [{ id, settlement }] : [];
  });
}

/** What was settled before, with its settlement, and what still may take effect. */
async function splitSettled(
  deps: BatchDependencies,
  work: Work,
  pushes: readonly WaitingPush[],
): Promise<{ kept: SettledPush[]; open: WaitingPush[] }> {
  const found = await deps.lookups.settlements(pushes.map(({ id }) => id));
  const kept: SettledPush[] = [];
  const open: WaitingPush[] = [];
  const gone: WaitingPush[] = [];
  for (const push of pushes) {
    const { id } = push;
    const settlement = found.get(id);
    if (settlement) kept.push({ id, settlement });
    else if (found.has(id)) open.push(push);
    else gone.push(push);
  }
  // Without its entry (gone by its retention, or with a database that was restored) nothing can guard
  // a push against a second effect. It has none, and may be tried again. Just after an election the
  // entry may be there all the same, so the log is told too.
  work.unsettled.push(
    ...withFinalState(gone, { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' }),
  );
  return { kept, open };
}

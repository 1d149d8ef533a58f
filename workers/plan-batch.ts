/** Pure part of a batch: from what was read and loaded to what is to be written and answered. */
import { changesOf } from '../src/domain/changes';
import type { DecisionContext } from '../src/domain/decide';
import { type FoldResult, fold, type PriorResult } from '../src/domain/fold';
import { groupOf } from '../src/domain/group';
import type { Matter } from '../src/domain/matter';
import { isUnseen } from '../src/domain/parties';
import type { WaitingPush } from '../src/queue/push';
import type { MatterChange } from '../src/storage/ledger/matters';
import type { KeyOwner, KeyUses } from '../src/storage/push-log/key-uses';
import type { SettledPush } from '../src/storage/push-log/log';
import type { Settlement } from '../src/storage/push-log/settlement';

/** All waiting pushes of one matter key, in their order. */
export interface Group {
  readonly systemCode: string;
  readonly externalId: string;
  readonly pushes: readonly WaitingPush[];
}

/** What the batch loaded for its groups. */
export interface Loaded {
  /** By group. */
  readonly matters: ReadonlyMap<string, Matter>;
  readonly names: ReadonlyMap<string, string>;
  readonly priorResults: ReadonlyMap<string, PriorResult>;
  readonly keyUses: Pick<KeyUses, 'firstBody'>;
}

export interface PlanSettings {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly newMatterId: () => bigint;
  readonly concluded: ReadonlySet<string>;
}

export interface BatchPlan {
  readonly changes: readonly MatterChange[];
  readonly settled: readonly SettledPush[];
}

/** Splits what a partition held into its groups; the order within each is kept. */
export function groupPushes(pushes: readonly WaitingPush[]): Group[] {
  const groups = new Map<string, WaitingPush[]>();
  for (const push of pushes) {
    const key = groupOf(push.systemCode, push.externalId);
    const group = groups.get(key) ?? [];
    group.push(push);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first
      ? [{ systemCode: first.systemCode, externalId: first.externalId, pushes: group }]
      : [];
  });
}

/** Folds every group. The same input gives the same plan, but for the ids of created matters. */
export function planBatch(
  groups: readonly Group[],
  loaded: Loaded,
  settings: PlanSettings,
): BatchPlan {
  const changes: MatterChange[] = [];
  const settled: SettledPush[] = [];
  for (const { systemCode, externalId, pushes } of groups) {
    const before = loaded.matters.get(groupOf(systemCode, externalId));
    const context: DecisionContext = {
      systemCode,
      externalId,
      now: settings.now,
      newMatterId: before?.matterId ?? settings.newMatterId(),
      names: loaded.names,
      concluded: settings.concluded,
    };
    const { matter: after, results } = fold(before, pushes, context, loaded.priorResults);
    if (after && after !== before) changes.push({ before, after });
    pushes.forEach((push, index) => {
      const result = results[index];
      if (result) settled.push(settledPush(push, result, loaded));
    });
  }
  return { changes, settled };
}

function settledPush(push: WaitingPush, result: FoldResult, { keyUses }: Loaded): SettledPush {
  const first = keyUses.firstBody(keyOwnerOf(push));
  const reused = first !== undefined && first !== push.bodyHash;
  const settlement = settlementOf(result);
  return {
    id: push.id,
    queuedAt: push.queuedAt,
    settlement,
    ...effectOf(result),
    ...staleness(push, result),
    ...(settlement.state === 'PERSISTED' &&
      push.idempotencyFingerprint !== undefined && {
        idempotencyFingerprint: push.idempotencyFingerprint,
      }),
    ...(reused && { mark: 'KEY_REUSED' }),
  };
}

/** Whose idempotency key a push carries. */
export function keyOwnerOf({
  systemCode,
  clientId,
  operation,
  idempotencyKey,
}: WaitingPush): KeyOwner {
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { systemCode, clientId, operation: operation.op, ...key };
}

function effectOf({ decision, before, changed }: FoldResult) {
  if (decision.kind !== 'accepted' || !changed) return undefined;
  const { matter } = decision;
  return { revision: matter.revision, changes: changesOf(before, matter) };
}

/** Which instant lost against which (4.1 rule 3). */
function staleness({ operation }: WaitingPush, { decision, before, duplicateOf }: FoldResult) {
  const { sourceUpdatedAt: sent } = operation;
  const stored = before?.sourceUpdatedAt ?? undefined;
  const isStale = decision.kind === 'accepted' && decision.outcome === 'STALE_IGNORED';
  if (!isStale || duplicateOf || sent === undefined || stored === undefined) return undefined;
  return { stale: { sent, stored } };
}

function settlementOf({ decision, duplicateOf }: FoldResult): Settlement {
  if (decision.kind === 'rejected') return { state: 'REFUSED', reason: decision.reason };
  const { outcome, matter } = decision;
  const matterId = String(matter.matterId);
  // A push that was ignored as stale says nothing of the parties that a newer one left.
  const unseen = outcome !== 'STALE_IGNORED' && isUnseen(matter) && { unseen: true as const };
  return duplicateOf
    ? { state: 'REPLAYED', outcome, matterId, duplicateOf: duplicateOf.pushId, ...unseen }
    : { state: 'PERSISTED', outcome, matterId, ...unseen };
}

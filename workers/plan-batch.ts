/** Plans a batch: computes the writes and the final states from the pushes and the loaded data. */
import { changesOf } from '../src/domain/changes';
import type { DecisionContext } from '../src/domain/decide';
import { type FoldResult, fold, type PriorResult } from '../src/domain/fold';
import { groupOf, type Matter } from '../src/domain/matter';
import { isUnseen } from '../src/domain/parties';
import { isKeyReused } from '../src/pushes/idempotency';
import type { WaitingPush } from '../src/queue/consumer';
import type { MatterChange } from '../src/storage/ledger';
import type { KeyUses, PushToSettle, Settlement } from '../src/storage/push-log';

/** The waiting pushes of one matter, in order. */
export interface Group {
  readonly systemCode: string;
  readonly externalId: string;
  readonly pushes: readonly WaitingPush[];
}

export interface Loaded {
  /** By group (`groupOf`). */
  readonly matters: ReadonlyMap<string, Matter>;
  /** Display names by username. */
  readonly names: ReadonlyMap<string, string>;
  /** By idempotency fingerprint. */
  readonly priorResults: ReadonlyMap<string, PriorResult>;
  readonly keyUses: KeyUses;
}

interface PlanSettings {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly newMatterId: () => bigint;
  readonly concluded: ReadonlySet<string>;
}

export interface BatchPlan {
  readonly changes: readonly MatterChange[];
  readonly settled: readonly PushToSettle[];
}

/** Keeps the order of the pushes within each group. */
export function groupPushes(pushes: readonly WaitingPush[]): Group[] {
  const groups = new Map<string, Group & { readonly pushes: WaitingPush[] }>();
  for (const push of pushes) {
    const { systemCode, externalId } = push;
    const key = groupOf(systemCode, externalId);
    const group = groups.get(key) ?? { systemCode, externalId, pushes: [] };
    group.pushes.push(push);
    groups.set(key, group);
  }
  return [...groups.values()];
}

export function planBatch(
  groups: readonly Group[],
  loaded: Loaded,
  settings: PlanSettings,
): BatchPlan {
  const changes: MatterChange[] = [];
  const settled: PushToSettle[] = [];
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

function settledPush(push: WaitingPush, result: FoldResult, { keyUses }: Loaded): PushToSettle {
  const settlement = toSettlement(result);
  return {
    id: push.id,
    queuedAt: push.queuedAt,
    settlement,
    ...effectOf(result),
    ...staleness(push, result),
    ...(isKeyReused(push, keyUses) && { mark: 'KEY_REUSED' }),
  };
}

function effectOf({ decision, before, changed }: FoldResult) {
  if (decision.kind !== 'accepted' || !changed) return undefined;
  const { matter } = decision;
  return { revision: matter.revision, changes: changesOf(before, matter) };
}

function staleness({ operation }: WaitingPush, { decision, before, duplicateOf }: FoldResult) {
  const { sourceUpdatedAt: sent } = operation;
  const stored = before?.sourceUpdatedAt ?? undefined;
  const isStale = decision.kind === 'accepted' && decision.outcome === 'STALE_IGNORED';
  if (!isStale || duplicateOf || sent === undefined || stored === undefined) return undefined;
  return { stale: { sent, stored } };
}

function toSettlement({ decision, duplicateOf }: FoldResult): Settlement {
  if (decision.kind === 'rejected') return { state: 'REFUSED', reason: decision.reason };
  const { outcome, matter } = decision;
  const matterId = String(matter.matterId);
  // A stale push changes no parties.
  const unseen = outcome !== 'STALE_IGNORED' && isUnseen(matter) && { unseen: true as const };
  return duplicateOf
    ? { state: 'REPLAYED', outcome, matterId, duplicateOf: duplicateOf.pushId, ...unseen }
    : { state: 'PERSISTED', outcome, matterId, ...unseen };
}

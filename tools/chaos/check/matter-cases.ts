/** Collects the pushes on each matter and the stored matter. */
import type { DecisionContext } from '../../../src/domain/decide';
import { groupOf, type Matter } from '../../../src/domain/matter';
import type { Evidence } from './evidence';
import type { CheckedPush } from './pushes';

export interface MatterCase {
  readonly context: DecisionContext;
  /** Pushes that changed it, by revision. */
  readonly effects: readonly CheckedPush[];
  /** Pushes that its state decided without a change. */
  readonly others: readonly CheckedPush[];
  /** The matter in the ledger. */
  readonly stored: Matter | undefined;
}

/** Rejections because of the state of the matter. */
const BY_STATE: ReadonlySet<string | undefined> = new Set([
  'MATTER_NOT_FOUND',
  'MATTER_DELETED',
  'TOO_MANY_PARTIES',
  'EXTERNAL_ID_RESERVED',
]);

/** @param reason of a rejection; undefined for other results */
export const isOfState = (reason: string | undefined): boolean => BY_STATE.has(reason);

interface Collected {
  readonly systemCode: string;
  readonly externalId: string;
  readonly effects: CheckedPush[];
  readonly others: CheckedPush[];
  stored?: Matter;
}

export function collectMatters(evidence: Evidence, pushes: readonly CheckedPush[]): MatterCase[] {
  const byKey = new Map<string, Collected>();
  const caseOf = (systemCode: string, externalId: string): Collected => {
    const key = groupOf(systemCode, externalId);
    const known = byKey.get(key) ?? { systemCode, externalId, effects: [], others: [] };
    byKey.set(key, known);
    return known;
  };
  for (const push of pushes) {
    const { state, result, revision, systemCode = '', externalId = '' } = push.entry;
    const isPersisted = state === 'PERSISTED';
    if (!isPersisted && !(state === 'REFUSED' && isOfState(result))) continue;
    const { effects, others } = caseOf(systemCode, externalId);
    if (isPersisted && revision !== undefined) effects.push(push);
    else others.push(push);
  }
  for (const matter of evidence.matters) {
    caseOf(matter.systemCode, matter.externalId).stored = matter;
  }
  const { names, concluded } = evidence;
  return [...byKey.values()].map(({ systemCode, externalId, effects, others, stored }) => ({
    // Times and the id of a new matter affect no decision.
    context: { systemCode, externalId, now: 0, newMatterId: 0n, names, concluded },
    effects: effects.sort((a, b) => revisionOf(a) - revisionOf(b)),
    others,
    stored,
  }));
}

export const revisionOf = ({ entry }: CheckedPush): number => entry.revision ?? 0;

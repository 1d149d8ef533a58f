/** Applies the effects on one matter one by one, and checks their revisions and outcomes and the stored matter. */
import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../../src/domain/decide';
import type { Matter } from '../../../src/domain/matter';
import { ASSIGNED_ID_PREFIX, type Operation } from '../../../src/domain/operation';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import type { CheckedPush } from './pushes';

/** The states of a matter: before its first effect, and after each one. */
export type States = readonly (Matter | undefined)[];

/** Fields that depend on a clock or an id generator. Of `deletedAt` the check compares only whether it is null. */
const NOT_FOLDED: ReadonlySet<string> = new Set([
  'matterId',
  'createdAt',
  'updatedAt',
  'deletedAt',
] satisfies (keyof Matter)[]);

/** @returns violations, and the states if there are no violations. Further checks of the matter need the states */
export function foldMatter(matter: MatterCase): { violations: Violation[]; states?: States } {
  const { effects, stored, context } = matter;
  const { externalId } = context;
  const name = `${context.systemCode}/${externalId}`;
  if (effects.length === 0) {
    if (!stored) return { violations: [], states: [undefined] };
    const what = `${name} is stored, revision ${stored.revision}: no push has created it`;
    return { violations: [{ rule: 'phantom', externalId, what }] };
  }
  const wrongRevisions = checkRevisions(effects, externalId);
  if (wrongRevisions.length > 0) return { violations: wrongRevisions };
  const states: (Matter | undefined)[] = [undefined];
  for (const push of effects) {
    const next = apply(push, states.at(-1), matter);
    if (typeof next === 'string') {
      const what = `${name} revision ${push.entry.revision}: ${next}`;
      return { violations: [{ rule: 'fold', requestId: push.id, externalId, what }] };
    }
    states.push(next);
  }
  const differing = differences(states.at(-1), stored);
  if (differing.length === 0) return { violations: [], states };
  const what = `${name} after ${effects.length} effects: ${differing.join(', ').slice(0, 300)}`;
  return { violations: [{ rule: 'fold', externalId, what }], states };
}

function checkRevisions(effects: readonly CheckedPush[], externalId: string): Violation[] {
  const violations: Violation[] = [];
  let expected = 1;
  for (const push of effects) {
    const seen = revisionOf(push);
    if (seen !== expected) {
      const what = `revision ${seen}, expected ${expected}`;
      violations.push({ rule: 'revisions', requestId: push.id, externalId, what });
    }
    expected = seen + 1;
  }
  return violations;
}

/** @returns the matter after one effect, or what is wrong with it */
function apply(
  push: CheckedPush,
  before: Matter | undefined,
  { context }: MatterCase,
): Matter | string {
  const { result } = push.entry;
  const operation = operationOn(push, context.externalId);
  if (!operation) return `${result} by a push that is invalid or belongs to another matter`;
  const decision = decide(before, operation, context);
  if (decision.kind === 'rejected') return `${result}, expected a rejection, ${decision.reason}`;
  const { outcome, matter } = decision;
  if (matter === before) return `${result} with an effect, expected ${outcome} without one`;
  return outcome === result ? matter : `${result}, expected ${outcome}`;
}

/** The operation of a push on the matter with this id; undefined if it is invalid or belongs to another matter. */
export function operationOn({ sent }: CheckedPush, externalId: string): Operation | undefined {
  const parsed = sent?.parsed();
  if (!parsed) return undefined;
  const isMeant =
    parsed.externalId === undefined
      ? externalId.startsWith(ASSIGNED_ID_PREFIX)
      : parsed.externalId === externalId;
  return isMeant ? parsed.operation : undefined;
}

function differences(expected: Matter | undefined, stored: Matter | undefined): string[] {
  if (!expected || !stored) return ['it is not stored'];
  const fields = [
    ...new Set([...Object.keys(expected), ...Object.keys(stored)]),
  ] as (keyof Matter)[];
  const differing = fields
    .filter((field) => !NOT_FOLDED.has(field) && !isDeepStrictEqual(expected[field], stored[field]))
    .map((field) => `${field} is ${shown(stored[field])}, expected ${shown(expected[field])}`);
  const isDeletionWrong = (expected.deletedAt === null) !== (stored.deletedAt === null);
  return isDeletionWrong ? [...differing, `deletedAt is ${stored.deletedAt}`] : differing;
}

const shown = (value: Matter[keyof Matter]) => JSON.stringify(value)?.slice(0, 100);

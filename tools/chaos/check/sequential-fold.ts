/** The effects on one matter, applied one by one: their revisions, outcomes, and what comes of them. */
import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../../src/domain/decide';
import type { Matter } from '../../../src/domain/matter';
import { ASSIGNED_ID_PREFIX, type Operation } from '../../../src/domain/operation';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import type { Push } from './pushes';

/** The states of a matter: before its first effect, and after each one. */
export type States = readonly (Matter | undefined)[];

/** Not decided by the operations: a clock and an id generator are. `deletedAt` is null or not. */
const NOT_FOLDED: ReadonlySet<string> = new Set([
  'matterId',
  'createdAt',
  'updatedAt',
  'deletedAt',
] satisfies (keyof Matter)[]);

/** @returns what is wrong, and the states where nothing is: without them nothing more can be said */
export function foldMatter(matter: MatterCase): { violations: Violation[]; states?: States } {
  const { effects, stored, context } = matter;
  const { externalId } = context;
  const name = `${context.systemCode}/${externalId}`;
  if (effects.length === 0) {
    if (!stored) return { violations: [], states: [undefined] };
    const what = `${name} is stored, revision ${stored.revision}: no push accounts for it`;
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

function checkRevisions(effects: readonly Push[], externalId: string): Violation[] {
  const violations: Violation[] = [];
  let due = 1;
  for (const push of effects) {
    const seen = revisionOf(push);
    if (seen !== due) {
      const what = `revision ${seen} where ${due} was due`;
      violations.push({ rule: 'revisions', requestId: push.id, externalId, what });
    }
    due = seen + 1;
  }
  return violations;
}

/** @returns the matter after one effect, or what is wrong with it */
function apply(push: Push, before: Matter | undefined, { context }: MatterCase): Matter | string {
  const { result } = push.entry;
  const operation = operationOn(push, context.externalId);
  if (!operation) return `${result} by a push that says nothing valid about this matter`;
  const decision = decide(before, operation, context);
  if (decision.kind === 'rejected') return `${result}, due is a rejection, ${decision.reason}`;
  const { outcome, matter } = decision;
  if (matter === before) return `${result} with an effect, due is ${outcome} without one`;
  return outcome === result ? matter : `${result}, due is ${outcome}`;
}

/** What a push says about the matter with this id; undefined where it is about none, or another. */
export function operationOn({ sent }: Push, externalId: string): Operation | undefined {
  const parsed = sent?.parsed();
  if (!parsed) return undefined;
  const isMeant =
    parsed.externalId === undefined
      ? externalId.startsWith(ASSIGNED_ID_PREFIX)
      : parsed.externalId === externalId;
  return isMeant ? parsed.operation : undefined;
}

function differences(due: Matter | undefined, stored: Matter | undefined): string[] {
  if (!due || !stored) return ['it is not stored'];
  const fields = [...new Set([...Object.keys(due), ...Object.keys(stored)])] as (keyof Matter)[];
  const differing = fields
    .filter((field) => !NOT_FOLDED.has(field) && !isDeepStrictEqual(due[field], stored[field]))
    .map((field) => `${field} is ${shown(stored[field])}, due is ${shown(due[field])}`);
  const isDeletionWrong = (due.deletedAt === null) !== (stored.deletedAt === null);
  return isDeletionWrong ? [...differing, `deletedAt is ${stored.deletedAt}`] : differing;
}

const shown = (value: Matter[keyof Matter]) => JSON.stringify(value)?.slice(0, 100);

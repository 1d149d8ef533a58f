/**
 * Checks whether the pushes on one matter are possible in the order of the log: effects in the order of their
 * revisions, and each push without an effect at a state that its matter had between the request and the answer.
 */

import { decide } from '../../../src/domain/decide';
import { firstWhere } from '../../harness/figures';
import { createBatchLines, lineOf } from './batch-lines';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import type { CheckedPush } from './pushes';
import { operationOn, type States } from './sequential-fold';
import { shownTime } from './spans';
import { createStateSearch, type FindStates, type StateRange } from './state-search';

/**
 * Gives each push without an effect its earliest possible state. The lower bound is the effect or state of every push
 * that was answered before it was sent. The upper bound is every effect that was sent after it was answered.
 *
 * Choosing the earliest state in the order of sending is exact:
 * - A push that is a lower bound was answered before this one was sent, or is an earlier line of the same batch. So
 *   it was sent earlier and has its place already.
 * - By induction no placement has any push earlier, so every lower bound is the lowest of all placements.
 * - The upper bounds are revisions and do not depend on the placement.
 *
 * So a push without a place here has none in any placement. Within one state pushes only read, in the order of their
 * times.
 */
export function checkPlacement(matter: MatterCase, states: States): Violation[] {
  const { others } = matter;
  if (others.length === 0) return [];
  const find = createStateSearch(states);
  const lastState = createUpperBound(matter);
  const places = new Map<CheckedPush, number>(
    matter.effects.map((push) => [push, revisionOf(push)]),
  );
  const answered = [...places.keys(), ...others].filter(({ answeredAt }) =>
    Number.isFinite(answeredAt),
  );
  answered.sort((a, b) => compare(a.answeredAt, b.answeredAt));
  const violations: Violation[] = [];
  let from = 0;
  let next = 0;
  const lines = createBatchLines([...matter.effects, ...others]);
  for (const push of [...others].sort(inOrderOfSending)) {
    for (; (answered[next]?.answeredAt ?? Number.POSITIVE_INFINITY) < push.sentAt; next += 1) {
      const earlier = answered[next];
      from = Math.max(from, (earlier && places.get(earlier)) ?? 0);
    }
    const before = lines.earlier(push).map((one) => places.get(one) ?? 0);
    const range = { from: Math.max(from, ...before), to: lastState(push) };
    const place = firstPlace(push, { matter, states, find, range });
    if (place === undefined) violations.push(misplaced(push, range, matter));
    else places.set(push, place);
  }
  return violations;
}

/** The input of the search for a place. */
export interface PlacementSearch {
  readonly matter: MatterCase;
  readonly states: States;
  readonly find: FindStates;
  readonly range: StateRange;
}

/** @returns the first state in the range that explains the result of the push */
export function firstPlace(
  push: CheckedPush,
  { matter, states, find, range }: PlacementSearch,
): number | undefined {
  const { context } = matter;
  const { state, result = '' } = push.entry;
  const operation = operationOn(push, context.externalId);
  if (!operation) return undefined;
  for (const index of find(operation, result, range)) {
    const before = states[index];
    const decision = decide(before, operation, context);
    const isSame =
      decision.kind === 'rejected'
        ? state === 'REFUSED' && decision.reason === result
        : state === 'PERSISTED' && decision.outcome === result && decision.matter === before;
    if (isSame) return index;
  }
  return undefined;
}

/**
 * @returns a function that returns the last possible state of a push: before the effects that were sent after its
 *   answer. A rejected push also lies before the effect of another try, because after it the push would have repeated
 *   that outcome
 */
function createUpperBound(matter: MatterCase): (push: CheckedPush) => number {
  const { effects } = matter;
  const lines = createBatchLines(effects);
  const bySent = [...effects].sort((a, b) => compare(a.sentAt, b.sentAt));
  const least: number[] = new Array(bySent.length).fill(effects.length + 1);
  for (let i = bySent.length - 1; i >= 0; i -= 1) {
    const push = bySent[i];
    if (push) least[i] = Math.min(revisionOf(push), least[i + 1] ?? effects.length + 1);
  }
  const withKey = effects.filter(({ entry }) => entry.idempotencyKey !== undefined);
  const applied = new Map(withKey.map((push) => [push.sent, revisionOf(push)]));
  return (push) => {
    const { sent, answeredAt, entry } = push;
    const first = firstWhere(bySent.length, (i) => (bySent[i]?.sentAt ?? 0) > answeredAt);
    const sentLater = least[first] ?? effects.length + 1;
    const repeated = entry.state === 'REFUSED' ? applied.get(sent) : undefined;
    const later = lines.later(push).map(revisionOf);
    return Math.min(sentLater, repeated ?? sentLater, ...later) - 1;
  };
}

function misplaced(
  { id, entry, sentAt, answeredAt }: CheckedPush,
  range: StateRange,
  matter: MatterCase,
): Violation {
  const { externalId } = matter.context;
  const { from, to } = range;
  const what =
    `${entry.operation}, sent at ${shownTime(sentAt)}, answered at ${shownTime(answeredAt)}: ${entry.state} ${entry.result} ` +
    `without an effect is possible at no revision from ${from} to ${to} of ${matter.effects.length}`;
  return { rule: 'placeable', requestId: id, externalId, what };
}

/** Lines of one batch were sent at the same time, and are ordered by line. */
const inOrderOfSending = (a: CheckedPush, b: CheckedPush) =>
  compare(a.sentAt, b.sentAt) || lineOf(a) - lineOf(b);

/** Without a subtraction, because times may be infinite. */
function compare(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Compares the order of the effects on one matter with the times of their requests and answers. It goes back from the
 * last revision: of the later effects, only the one with the earliest answer can contradict the current one.
 *
 * @param effects in the order of their revisions
 */
export function checkRealTime(effects: readonly CheckedPush[], externalId: string): Violation[] {
  const violations: Violation[] = [];
  let soonest: CheckedPush | undefined;
  for (let i = effects.length - 1; i >= 0; i -= 1) {
    const push = effects[i];
    if (!push) continue;
    if (soonest && soonest.answeredAt < push.sentAt) {
      const what =
        `sent at ${shownTime(push.sentAt)}, is revision ${push.entry.revision}: expected a revision after ` +
        `${soonest.entry.revision} (${soonest.id}), which was answered at ${shownTime(soonest.answeredAt)}`;
      violations.push({ rule: 'real-time', requestId: push.id, externalId, what });
    }
    if (!soonest || push.answeredAt < soonest.answeredAt) soonest = push;
  }
  return violations;
}

/**
 * Whether the pushes on one matter can have happened in the order of the log: its effects in the order
 * of their revisions, and each push without an effect at a state that its matter had while it was
 * under way.
 */

import { decide } from '../../../src/domain/decide';
import { firstWhere } from '../../harness/figures';
import { createBatchLines, lineOf } from './batch-lines';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import type { Push } from './pushes';
import { operationOn, type States } from './sequential-fold';
import { shownTime } from './spans';
import { createStateSearch, type FindStates, type Range } from './state-search';

/**
 * Gives each push without an effect the earliest state that it can have met: not before the effect,
 * or the state, of a push that was told before it was sent, and before every effect that was sent
 * after it was told.
 *
 * Taking the earliest one, in the order of sending, is exact. Whatever bounds a push from below was
 * told before it was sent, hence sent before it, or is an earlier line of its batch; hence it has its place already; by induction no
 * placement has any push earlier than this one has, so every lower bound here is the least that any
 * placement has. The upper bounds are revisions and do not depend on the placement. So where a push
 * finds no room here, it finds none in any placement; where all find room, this is a placement:
 * within one state pushes only read, in the order of their times.
 */
export function checkPlacement(matter: MatterCase, states: States): Violation[] {
  const { others } = matter;
  if (others.length === 0) return [];
  const find = createStateSearch(states);
  const lastState = createUpperBound(matter);
  const places = new Map<Push, number>(matter.effects.map((push) => [push, revisionOf(push)]));
  const told = [...places.keys(), ...others].filter(({ toldAt }) => Number.isFinite(toldAt));
  told.sort((a, b) => compare(a.toldAt, b.toldAt));
  const violations: Violation[] = [];
  let from = 0;
  let next = 0;
  const lines = createBatchLines([...matter.effects, ...others]);
  for (const push of [...others].sort(inOrderOfSending)) {
    for (; (told[next]?.toldAt ?? Number.POSITIVE_INFINITY) < push.sentAt; next += 1) {
      const earlier = told[next];
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

/** What a place of a push is looked for in. */
export interface Search {
  readonly matter: MatterCase;
  readonly states: States;
  readonly find: FindStates;
  readonly range: Range;
}

/** @returns the first state in the range at which the push can have been decided as it was */
export function firstPlace(
  push: Push,
  { matter, states, find, range }: Search,
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
 * @returns a function that gives the last state that a push can have met: before the effects that
 *   were sent after it was told, and, where it was rejected, before another try of it took effect,
 *   which from then on it would have repeated
 */
function createUpperBound(matter: MatterCase): (push: Push) => number {
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
    const { sent, toldAt, entry } = push;
    const first = firstWhere(bySent.length, (i) => (bySent[i]?.sentAt ?? 0) > toldAt);
    const sentLater = least[first] ?? effects.length + 1;
    const repeated = entry.state === 'REFUSED' ? applied.get(sent) : undefined;
    const later = lines.later(push).map(revisionOf);
    return Math.min(sentLater, repeated ?? sentLater, ...later) - 1;
  };
}

function misplaced(
  { id, entry, sentAt, toldAt }: Push,
  range: Range,
  matter: MatterCase,
): Violation {
  const { externalId } = matter.context;
  const { from, to } = range;
  const what =
    `${entry.operation}, sent at ${shownTime(sentAt)}, told at ${shownTime(toldAt)}: ${entry.state} ${entry.result} ` +
    `without an effect is due at no revision from ${from} to ${to} of ${matter.effects.length}`;
  return { rule: 'placeable', requestId: id, externalId, what };
}

/** Lines of one batch were sent at once, and have an order all the same. */
const inOrderOfSending = (a: Push, b: Push) => compare(a.sentAt, b.sentAt) || lineOf(a) - lineOf(b);

/** Differences will not do: times may be infinite. */
function compare(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * The effects on one matter, held against when they were sent. From the last revision back: of those that come later, the one that was told soonest is the one
 * that can have been over before the current one was sent.
 *
 * @param effects in the order of their revisions
 */
export function checkRealTime(effects: readonly Push[], externalId: string): Violation[] {
  const violations: Violation[] = [];
  let soonest: Push | undefined;
  for (let i = effects.length - 1; i >= 0; i -= 1) {
    const push = effects[i];
    if (!push) continue;
    if (soonest && soonest.toldAt < push.sentAt) {
      const what =
        `sent at ${shownTime(push.sentAt)}, is revision ${push.entry.revision}: due is one after revision ` +
        `${soonest.entry.revision} (${soonest.id}), which was told at ${shownTime(soonest.toldAt)}`;
      violations.push({ rule: 'real-time', requestId: push.id, externalId, what });
    }
    if (!soonest || push.toldAt < soonest.toldAt) soonest = push;
  }
  return violations;
}

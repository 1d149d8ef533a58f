/**
 * Checks whether the pushes on one matter were decided in the order of `queuedAt`, the Redis time. Effects must have
 * this order. A push without an effect must lie between the effects queued before and after it. Pushes of the same
 * millisecond have no order.
 */
import { firstWhere } from '../../harness/figures';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import { firstPlace } from './placement';
import type { CheckedPush } from './pushes';
import type { States } from './sequential-fold';
import { createStateSearch, type StateRange } from './state-search';

/** @param states of the matter; undefined if its effects do not fold */
export function checkQueueOrder(matter: MatterCase, states: States | undefined): Violation[] {
  return [...checkEffects(matter), ...(states ? checkOthers(matter, states) : [])];
}

/** @returns epoch milliseconds; undefined if no worker has settled the push */
const queuedAt = ({ entry }: CheckedPush): number | undefined => entry.queuedAt?.getTime();

function checkEffects({ effects, context: { externalId } }: MatterCase): Violation[] {
  let last: CheckedPush | undefined;
  return effects.flatMap((push): Violation[] => {
    const at = queuedAt(push);
    const before = last && queuedAt(last);
    if (at === undefined) return [];
    if (before === undefined || at >= before) {
      last = push;
      return [];
    }
    const what =
      `revision ${revisionOf(push)} was queued ${before - at} ms before revision ` +
      `${last && revisionOf(last)} (${last?.id}): expected an earlier revision`;
    return [{ rule: 'queue-order', requestId: push.id, externalId, what }];
  });
}

function checkOthers(matter: MatterCase, states: States): Violation[] {
  const { others, effects, context } = matter;
  if (others.length === 0) return [];
  const rangeOf = createRanges(effects);
  const find = createStateSearch(states);
  return others.flatMap((push): Violation[] => {
    const at = queuedAt(push);
    if (at === undefined) return [];
    const range = rangeOf(at);
    if (firstPlace(push, { matter, states, find, range }) !== undefined) return [];
    const { operation, state, result } = push.entry;
    const what =
      `${operation}: ${state} ${result} without an effect is possible at no revision from ${range.from} to ` +
      `${range.to}, which were queued before it and after it`;
    return [{ rule: 'queue-order', requestId: push.id, externalId: context.externalId, what }];
  });
}

/** @returns a function from `queuedAt` of a push to its possible states */
function createRanges(effects: readonly CheckedPush[]): (at: number) => StateRange {
  const queued = effects.flatMap((push) => {
    const at = queuedAt(push);
    return at === undefined ? [] : [{ at, revision: revisionOf(push) }];
  });
  queued.sort((a, b) => a.at - b.at);
  const latest: number[] = [];
  for (const { revision } of queued) latest.push(Math.max(revision, latest.at(-1) ?? 0));
  const earliest: number[] = new Array(queued.length);
  for (let i = queued.length - 1; i >= 0; i -= 1) {
    earliest[i] = Math.min(queued[i]?.revision ?? Infinity, earliest[i + 1] ?? Infinity);
  }
  const firstFrom = (at: number) => firstWhere(queued.length, (i) => (queued[i]?.at ?? 0) >= at);
  return (at) => ({
    from: latest[firstFrom(at) - 1] ?? 0,
    to: Math.min(earliest[firstFrom(at + 1)] ?? Infinity, effects.length + 1) - 1,
  });
}

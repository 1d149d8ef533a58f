/**
 * Whether the pushes on one matter were decided in the order in which the queue took them (`queuedAt`, the time of
 * Redis): its effects in the order of their revisions, and each push without an effect between the effects that were
 * queued before it and those that were queued after it. Pushes of the same millisecond may have either order.
 */
import { firstWhere } from '../../harness/figures';
import type { Violation } from './evidence';
import { type MatterCase, revisionOf } from './matter-cases';
import { firstPlace } from './placement';
import type { Push } from './pushes';
import type { States } from './sequential-fold';
import { createStateSearch, type Range } from './state-search';

/** @param states of the matter; undefined where its effects do not fold */
export function checkQueueOrder(matter: MatterCase, states: States | undefined): Violation[] {
  return [...checkEffects(matter), ...(states ? checkOthers(matter, states) : [])];
}

/** @returns epoch milliseconds; undefined if no worker settled the push */
const queuedAt = ({ entry }: Push): number | undefined => entry.queuedAt?.getTime();

function checkEffects({ effects, context: { externalId } }: MatterCase): Violation[] {
  let last: Push | undefined;
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
      `${last && revisionOf(last)} (${last?.id}): due is one before that`;
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
      `${operation}: ${state} ${result} without an effect is due at no revision from ${range.from} to ` +
      `${range.to}, which were queued before it and after it`;
    return [{ rule: 'queue-order', requestId: push.id, externalId: context.externalId, what }];
  });
}

/** @returns a function from the time at which a push was queued to the states that it can have met */
function createRanges(effects: readonly Push[]): (at: number) => Range {
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

/**
 * Finds the possible states of a push without an effect. A hot matter has tens of thousands of states, so each
 * outcome has its own index of candidates. `decide` then checks the candidates.
 */
import type { Matter } from '../../../src/domain/matter';
import type { Operation } from '../../../src/domain/operation';
import { firstWhere } from '../../harness/figures';
import type { States } from './sequential-fold';

/** The first and the last possible index of a state. */
export interface StateRange {
  readonly from: number;
  readonly to: number;
}

/** @returns ascending indexes of all states that can have this result, and possibly of other states */
export type FindStates = (op: Operation, result: string, range: StateRange) => Iterable<number>;

/** Fields with an index of states by value. Most values occur in few states. */
const FOUND_BY = [
  'title',
  'summary',
  'bizStatus',
  'externalStatusCode',
  'externalStatusLabel',
] as const;
type FoundBy = (typeof FOUND_BY)[number];

export function createStateSearch(states: States): FindStates {
  const length = states.length;
  // Ascending, because an operation with an older time has no effect.
  const watermarks = states.map((state) => state?.sourceUpdatedAt ?? -1);
  const fromWatermark = (least: number) => firstWhere(length, (i) => (watermarks[i] ?? 0) >= least);
  const deleted = states.flatMap((state, index) => (state?.deleted ? [index] : []));
  const indexesOf = createIndexes(states);

  return (op, result, { from, to }) => {
    const since = op.sourceUpdatedAt;
    switch (result) {
      case 'MATTER_NOT_FOUND':
      case 'EXTERNAL_ID_RESERVED':
        return from === 0 ? [0] : [];
      case 'MATTER_DELETED':
        return within(deleted, { from, to });
      case 'ALREADY_DELETED': {
        // A newer operation would have advanced the watermark.
        const least = since === undefined ? 0 : fromWatermark(since);
        return within(deleted, { from: Math.max(from, least), to });
      }
      case 'STALE_IGNORED':
        if (since === undefined) return [];
        return every({ from: Math.max(from, fromWatermark(since + 1)), to });
      case 'UPDATED': {
        const lists = valuesOf(op).map(([field, value]) => indexesOf(field, value));
        const [shortest] = lists.sort((a, b) => a.length - b.length);
        return shortest ? within(shortest, { from, to }) : every({ from, to });
      }
      case 'TOO_MANY_PARTIES':
        return every({ from, to });
      default:
        // All other outcomes are effects.
        return [];
    }
  };
}

/** The indexed fields of a matter after an operation. */
function valuesOf(op: Operation): [FoundBy, Matter[FoundBy]][] {
  if (op.op === 'delete') return [];
  const isReopen = op.op === 'reopen' && op.bizStatus === undefined;
  const changed = {
    ...op,
    ...(op.op === 'upsert' && op.content),
    ...(isReopen && { bizStatus: 'REOPENED' }),
  };
  const values: Partial<Record<FoundBy, Matter[FoundBy]>> = changed;
  return FOUND_BY.flatMap((field) => {
    const value = values[field];
    return value === undefined ? [] : [[field, value]];
  });
}

/**
 * @returns a function that finds the states with a value in a field. The index of a field is created at its first use
 */
function createIndexes(states: States) {
  const made = new Map<FoundBy, Map<Matter[FoundBy], number[]>>();
  const make = (field: FoundBy) => {
    const index = new Map<Matter[FoundBy], number[]>();
    states.forEach((state, at) => {
      if (!state) return;
      const list = index.get(state[field]);
      if (list) list.push(at);
      else index.set(state[field], [at]);
    });
    return index;
  };
  return (field: FoundBy, value: Matter[FoundBy]): readonly number[] => {
    const index = made.get(field) ?? make(field);
    made.set(field, index);
    return index.get(value) ?? [];
  };
}

function* within(sorted: readonly number[], { from, to }: StateRange): Generator<number> {
  const start = firstWhere(sorted.length, (i) => (sorted[i] ?? 0) >= from);
  for (let i = start; i < sorted.length; i += 1) {
    const index = sorted[i] ?? 0;
    if (index > to) return;
    yield index;
  }
}

function* every({ from, to }: StateRange): Generator<number> {
  for (let index = from; index <= to; index += 1) yield index;
}

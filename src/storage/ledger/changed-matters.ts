/** The matters of a system in the order in which they changed, read as they are taken. */
import type { mongo } from 'mongoose';
import type { Matter } from '../../domain/matter';
import type { MatterRecord } from './matter-model';
import { toMatter } from './matter-record';
import { timedRead } from './timed-read';

/** Epoch milliseconds: `from` belongs to the window, `to` does not. */
export interface Window {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A place in the order of changes: what comes after it changed later, or has a higher id. */
export type ChangePosition = Pick<Matter, 'updatedAt' | 'matterId'>;

export interface ChangedFilter extends Window {
  readonly after?: ChangePosition | undefined;
  readonly limit: number;
}

export type ReadChanged = (systemCode: string, filter: ChangedFilter) => AsyncGenerator<Matter>;

/** Milliseconds for all of a read. */
const TIMEOUT = 10_000;
/** Whole matters may be large: fewer of them are read at once than of what is lean. */
const BATCH = 100;
/** Serves range and order. */
const INDEX = 'updates';

export function createChangedMatters(collection: mongo.Collection<MatterRecord>): ReadChanged {
  return async function* (systemCode, filter) {
    let left = filter.limit;
    for (const range of rangesOf(filter)) {
      if (left <= 0) return;
      const found = collection
        .find({ systemCode, ...range }, { hint: INDEX })
        .sort({ updatedAt: 1, _id: 1 })
        .limit(left);
      for await (const matter of timedRead(found.map(toMatter), TIMEOUT, BATCH)) {
        left -= 1;
        yield matter;
      }
    }
  };
}

/**
 * After a place come the rest of its instant, then all later ones (earlier ones, newest first): each a plain range
 * of the index.
 */
export function rangesOf(
  { from, to, after }: Window & Pick<ChangedFilter, 'after'>,
  newestFirst = false,
): mongo.Filter<MatterRecord>[] {
  const start = { $gte: new Date(from ?? EVER) };
  const end = to === undefined ? {} : { $lt: new Date(to) };
  if (!after) return [{ updatedAt: { ...start, ...end } }];
  const at = new Date(after.updatedAt);
  const { matterId } = after;
  return newestFirst
    ? [{ updatedAt: at, _id: { $lt: matterId } }, { updatedAt: { ...start, $lt: at } }]
    : [{ updatedAt: at, _id: { $gt: matterId } }, { updatedAt: { $gt: at, ...end } }];
}

/** The oldest instant that there is. */
const EVER = -8.64e15;

/** The matters of a system in the order in which they changed, read in slices of time. */
import type { mongo } from 'mongoose';
import type { Clock } from '../clock';
import type { Matter } from '../domain/matter';
import { readSlices } from '../slices';
import type { MatterRecord } from './matter-model';
import { toMatter } from './matter-record';

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

/** Milliseconds for one command. */
const TIMEOUT = 10_000;
/** Whole matters may be large: fewer of them are read at once than of what is lean. */
const TARGET = 100;
const MOST = 500;
/** Clocks of workers that are ahead. */
const AHEAD = 86_400_000;

export function createChangedMatters(
  collection: mongo.Collection<MatterRecord>,
  clock: Clock,
): ReadChanged {
  const find = (filter: mongo.Filter<MatterRecord>, most: number) =>
    collection
      .find(filter, { maxTimeMS: TIMEOUT })
      .sort({ updatedAt: 1, _id: 1 })
      .limit(most)
      .toArray();

  /** After a place come the rest of its instant, then all later ones: each a plain index range. */
  const read = async (systemCode: string, lower: string, upper: string, most: number) => {
    const { at, id } = parsePlace(lower);
    const end = new Date(parsePlace(upper).at);
    const rest = { systemCode, updatedAt: new Date(at), _id: { $gt: id } };
    const same = id === 0n ? [] : await find(rest, most);
    if (same.length === most) return { items: same.map(toMatter), isCut: true };
    const from = new Date(id === 0n ? at : at + 1);
    const later = await find(
      { systemCode, updatedAt: { $gte: from, $lt: end } },
      most - same.length,
    );
    const items = [...same, ...later].map(toMatter);
    return { items, isCut: items.length === most };
  };

  const beginning = async (systemCode: string) => {
    const [oldest] = await find({ systemCode }, 1);
    return oldest?.updatedAt.getTime();
  };

  return async function* (systemCode, { from, to, after, limit }) {
    const first = after ? placeOf(after) : toPlace(from ?? (await beginning(systemCode)));
    let left = limit;
    const slices = readSlices<Matter, string>({
      direction: 'newer',
      start: first,
      end: toPlace(to ?? clock() + AHEAD),
      read: (lower = first, upper = first, most = MOST) => read(systemCode, lower, upper, most),
      placeAfter: placeOf,
      shift: (place, by) => toPlace(parsePlace(place).at + by),
      target: TARGET,
      most: MOST,
    });
    for await (const matters of slices) {
      yield* matters.slice(0, left);
      left -= matters.length;
      if (left <= 0) return;
    }
  };
}

/** Places compare as text: the instant, then the id after which to go on (0: the whole instant). */
const toPlace = (at = 0, id = 0n) =>
  `${String(at).padStart(AT_DIGITS, '0')}.${String(id).padStart(ID_DIGITS, '0')}`;
const AT_DIGITS = 15;
const ID_DIGITS = 19;

const placeOf = ({ updatedAt, matterId }: ChangePosition) => toPlace(updatedAt, matterId);

function parsePlace(place: string): { at: number; id: bigint } {
  return { at: Number(place.slice(0, AT_DIGITS)), id: BigInt(place.slice(AT_DIGITS + 1)) };
}

/**
 * Searches of the ledger: which matters of a system pass a filter, in the order in which they changed. A look is
 * bounded: it goes along an index that names few matters, or along the order of changes for so many matters, and
 * says where it ended. Documents are looked up by their ids, never looked through.
 */
import type { mongo } from 'mongoose';
import type { Matter } from '../../domain/matter';
import { type ChangePosition, rangesOf, type Window } from './changed-matters';
import type { MatterRecord } from './matter-model';

/** All that are given must hold. */
export interface MatterFilter {
  readonly externalIdPrefix?: string | undefined;
  readonly matterType?: Matter['matterType'] | undefined;
  readonly phase?: Matter['phase'] | undefined;
  readonly bizType?: string | undefined;
  readonly bizStatus?: string | undefined;
  /** Of any party. */
  readonly username?: string | undefined;
}

export interface SearchOptions extends Window {
  readonly after?: ChangePosition | undefined;
  readonly newestFirst: boolean;
  /** Most matters that are found. */
  readonly limit: number;
}

export interface FoundPlaces {
  readonly places: readonly ChangePosition[];
  /** Where the look ended before the end of the ledger; undefined: there is no more. */
  readonly next: ChangePosition | undefined;
}

export type SearchMatters = (
  systemCode: string,
  filter: MatterFilter,
  options: SearchOptions,
) => Promise<FoundPlaces>;

export interface SearchBounds {
  /** Most matters of an index that counts as one that names few, and most that are looked up by ids at once. */
  readonly few: number;
  /** Most matters that a look along the order of changes looks up. */
  readonly lookedAt: number;
}

const BOUNDS: SearchBounds = { few: 5_000, lookedAt: 20_000 };
/** Matters of the first look-up: a usual filter fills its page with them. */
const FIRST = 500;
/** Milliseconds for one command, and after which a look ends where it is. */
const COMMAND_TIMEOUT = 10_000;
const LOOK_TIME = 4_000;
/** In order of UTF-8 bytes, behind all ids of at most 128 UTF-16 units that begin with the text before it. */
const LAST = '\u{10ffff}'.repeat(64);

type Matters = mongo.Collection<MatterRecord>;
type Filter = mongo.Filter<MatterRecord>;
type Place = Pick<MatterRecord, '_id' | 'updatedAt'>;
const PLACE = { _id: 1, updatedAt: 1 } as const;

/** @throws (what is built) Error where one command takes too long */
export function createSearchMatters(collection: Matters, bounds = BOUNDS): SearchMatters {
  return async (systemCode, filter, options) => {
    const wanted = filterOf(systemCode, filter);
    const few = await idsOfFew(collection, indexesOf(systemCode, filter), bounds.few);
    if (!few) return alongChanges(collection, wanted, { systemCode, ...options, bounds });
    const ranges = rangesOf(options, options.newestFirst);
    const found = await Promise.all(
      ranges.map((range) => lookUp(collection, few, { $and: [wanted, range] })),
    );
    const places = inOrder(found.flat(), options.newestFirst);
    const page = places.slice(0, options.limit);
    return { places: page, next: page.length < places.length ? page.at(-1) : undefined };
  };
}

/** Conditions that an index answers alone, and its name. */
type IndexUse = readonly [name: string, filter: Filter];

function indexesOf(systemCode: string, filter: MatterFilter): readonly IndexUse[] {
  const { externalIdPrefix, username, phase } = filter;
  const uses: IndexUse[] = [];
  if (externalIdPrefix !== undefined) {
    uses.push(['key', { systemCode, externalId: beginningWith(externalIdPrefix) }]);
  }
  if (username !== undefined) uses.push(['party_lists', { 'parties.username': username }]);
  if (phase !== undefined) uses.push(['open_list', { systemCode, phase }]);
  return uses;
}

/** @returns the ids of the first index that names few matters; undefined where all name many */
async function idsOfFew(collection: Matters, uses: readonly IndexUse[], few: number) {
  for (const [hint, filter] of uses) {
    const options = { hint, projection: { _id: 1 }, maxTimeMS: COMMAND_TIMEOUT } as const;
    const cursor = collection.find<Pick<MatterRecord, '_id'>>(filter, options).limit(few + 1);
    const found = await cursor.batchSize(few + 1).toArray();
    if (found.length <= few) return found.map(({ _id }) => _id);
  }
  return undefined;
}

interface Look extends SearchOptions {
  readonly systemCode: string;
  readonly bounds: SearchBounds;
}

async function alongChanges(
  collection: Matters,
  wanted: Filter,
  { systemCode, bounds, ...options }: Look,
): Promise<FoundPlaces> {
  const { limit, newestFirst } = options;
  const end = performance.now() + LOOK_TIME;
  const places: ChangePosition[] = [];
  let { after } = options;
  for (let looked = 0, size = FIRST; looked < bounds.lookedAt; size = bounds.few) {
    const most = Math.min(size, bounds.lookedAt - looked);
    const passed = await nextPlaces(collection, systemCode, { ...options, after }, most);
    const ids = passed.map(({ matterId }) => matterId);
    const found = await lookUp(collection, ids, wanted);
    places.push(...inOrder(found, newestFirst));
    if (places.length > limit) return { places: places.slice(0, limit), next: places[limit - 1] };
    if (passed.length < most) return { places, next: undefined };
    looked += most;
    after = passed.at(-1);
    if (performance.now() > end) break;
  }
  return { places, next: after };
}

/** The places that come next in the order of changes, from their index alone. */
async function nextPlaces(
  collection: Matters,
  systemCode: string,
  { newestFirst, ...options }: SearchOptions,
  most: number,
): Promise<ChangePosition[]> {
  const places: ChangePosition[] = [];
  const direction = newestFirst ? -1 : 1;
  for (const range of rangesOf(options, newestFirst)) {
    const left = most - places.length;
    if (left <= 0) break;
    const reading = { hint: 'updates', projection: PLACE, maxTimeMS: COMMAND_TIMEOUT } as const;
    const cursor = collection
      .find<Place>({ systemCode, ...range }, reading)
      .sort({ updatedAt: direction, _id: direction })
      .limit(left);
    places.push(...(await cursor.batchSize(left).toArray()).map(toPlace));
  }
  return places;
}

/** Those of some ids that pass; in no order. */
async function lookUp(collection: Matters, ids: readonly bigint[], filter: Filter) {
  if (ids.length === 0) return [];
  const options = { hint: '_id_', projection: PLACE, maxTimeMS: COMMAND_TIMEOUT } as const;
  const named = { $and: [{ _id: { $in: [...ids] } }, filter] } as Filter;
  const cursor = collection.find<Place>(named, options).batchSize(ids.length + 1);
  return (await cursor.toArray()).map(toPlace);
}

function filterOf(systemCode: string, filter: MatterFilter): Filter {
  const { externalIdPrefix, username, ...plain } = filter;
  const given = Object.entries(plain).filter(([, value]) => value !== undefined);
  return {
    systemCode,
    ...Object.fromEntries(given),
    ...(externalIdPrefix !== undefined && { externalId: beginningWith(externalIdPrefix) }),
    ...(username !== undefined && { 'parties.username': username }),
  };
}

const beginningWith = (prefix: string) => ({ $gte: prefix, $lte: prefix + LAST });

const toPlace = ({ _id, updatedAt }: Place): ChangePosition => ({
  updatedAt: updatedAt.getTime(),
  matterId: BigInt(_id),
});

function inOrder(places: readonly ChangePosition[], newestFirst: boolean): ChangePosition[] {
  const side = newestFirst ? -1 : 1;
  return [...places].sort((a, b) => {
    const later = a.updatedAt - b.updatedAt || (a.matterId > b.matterId ? 1 : -1);
    return side * later;
  });
}

/**
 * Searches the matters of a system by a filter. If an index selects few matters, the search checks only these
 * matters. Otherwise, `searchInOrder` checks the matters in the order of changes (`ChangePosition`).
 */
import type { mongo } from 'mongoose';
import type { Matter } from '../../domain/matter';
import type { MatterRecord } from './matters';
import { titleConditions } from './title-words';

/** A matter must match every field that is set. */
export interface MatterFilter {
  readonly externalIdPrefix?: string | undefined;
  readonly matterType?: Matter['matterType'] | undefined;
  readonly phase?: Matter['phase'] | undefined;
  readonly bizType?: string | undefined;
  readonly bizStatus?: string | undefined;
  /** Username of at least one party. */
  readonly username?: string | undefined;
  /** Words that the title must contain, separated by blanks. */
  readonly titleContains?: string | undefined;
}

export interface SearchOptions extends Window {
  readonly after?: ChangePosition | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

export interface FoundPositions {
  readonly positions: readonly ChangePosition[];
  /** Position after which the next search continues; undefined if no further matter can match. */
  readonly next: ChangePosition | undefined;
  readonly examined: number;
}

export type SearchMatters = (
  systemCode: string,
  filter: MatterFilter,
  options: SearchOptions,
) => Promise<FoundPositions>;

export interface SearchBounds {
  /** Maximum matters in one call of `lookUp`. */
  readonly maxFew: number;
  /** Maximum matters that `searchInOrder` checks. If the filter has `titleContains`, `maxFew` is the maximum. */
  readonly maxChecked: number;
}

const BOUNDS: SearchBounds = { maxFew: 5_000, maxChecked: 20_000 };
/** Maximum matters in the first `lookUp` of `searchInOrder`. */
const FIRST_LOOKUP = 500;
/** Maximum milliseconds of one MongoDB command. */
const COMMAND_TIMEOUT = 10_000;
/** Milliseconds after which `searchInOrder` ends its loop. */
const SEARCH_TIME = 4_000;
/** `prefix + END_OF_PREFIX` sorts after all ids with this prefix. */
const END_OF_PREFIX = '\u{10ffff}'.repeat(64);

type Matters = mongo.Collection<MatterRecord>;
type Filter = mongo.Filter<MatterRecord>;
type StoredPosition = Pick<MatterRecord, '_id' | 'updatedAt'>;
const POSITION_FIELDS = { _id: 1, updatedAt: 1 } as const;

export function createSearchMatters(collection: Matters, bounds = BOUNDS): SearchMatters {
  return async (systemCode, filter, options) => {
    const condition = filterOf(systemCode, filter);
    const ids = await idsOfSmallIndex(collection, indexesOf(systemCode, filter), bounds.maxFew);
    if (!ids) {
      const maxChecked = filter.titleContains === undefined ? bounds.maxChecked : bounds.maxFew;
      const order = { systemCode, ...options, bounds: { ...bounds, maxChecked } };
      return searchInOrder(collection, condition, order);
    }
    const ranges = rangesOf(options, options.newestFirst);
    const found = await Promise.all(
      ranges.map((range) => lookUp(collection, ids, { $and: [condition, range] })),
    );
    const positions = sortPositions(found.flat(), options.newestFirst);
    const page = positions.slice(0, options.limit);
    const next = page.length < positions.length ? page.at(-1) : undefined;
    return { positions: page, next, examined: ids.length };
  };
}

/** The name of an index, and a filter that MongoDB can evaluate with this index alone. */
type IndexUse = readonly [name: string, filter: Filter];

function indexesOf(systemCode: string, filter: MatterFilter): readonly IndexUse[] {
  const { externalIdPrefix, username, phase } = filter;
  const uses: IndexUse[] = [];
  if (externalIdPrefix !== undefined) {
    uses.push(['key', { systemCode, externalId: startingWith(externalIdPrefix) }]);
  }
  if (username !== undefined) uses.push(['party_lists', { 'parties.username': username }]);
  if (phase !== undefined) uses.push(['open_list', { systemCode, phase }]);
  return uses;
}

/** @returns the ids from the first index that selects at most `maxFew` matters; undefined if no index does */
async function idsOfSmallIndex(collection: Matters, uses: readonly IndexUse[], maxFew: number) {
  for (const [hint, filter] of uses) {
    const options = { hint, projection: { _id: 1 }, maxTimeMS: COMMAND_TIMEOUT } as const;
    const cursor = collection.find<Pick<MatterRecord, '_id'>>(filter, options).limit(maxFew + 1);
    const found = await cursor.batchSize(maxFew + 1).toArray();
    if (found.length <= maxFew) return found.map(({ _id }) => _id);
  }
  return undefined;
}

interface OrderedSearch extends SearchOptions {
  readonly systemCode: string;
  readonly bounds: SearchBounds;
}

async function searchInOrder(
  collection: Matters,
  condition: Filter,
  { systemCode, bounds, ...options }: OrderedSearch,
): Promise<FoundPositions> {
  const { limit, newestFirst } = options;
  const end = performance.now() + SEARCH_TIME;
  const positions: ChangePosition[] = [];
  const checked: ChangePosition[] = [];
  let { after } = options;
  for (let size = FIRST_LOOKUP; checked.length < bounds.maxChecked; size = bounds.maxFew) {
    const max = Math.min(size, bounds.maxChecked - checked.length);
    const batch = await nextPositions(collection, systemCode, { ...options, after }, max);
    const ids = batch.map(({ matterId }) => matterId);
    const found = await lookUp(collection, ids, condition);
    positions.push(...sortPositions(found, newestFirst));
    checked.push(...batch);
    if (positions.length > limit) {
      const next = positions[limit - 1];
      const examined = checked.findIndex(({ matterId }) => matterId === next?.matterId) + 1;
      return { positions: positions.slice(0, limit), next, examined };
    }
    if (batch.length < max) return { positions, next: undefined, examined: checked.length };
    after = batch.at(-1);
    if (performance.now() > end) break;
  }
  return { positions, next: after, examined: checked.length };
}

/** MongoDB reads only the index `updates`, not the documents. */
async function nextPositions(
  collection: Matters,
  systemCode: string,
  { newestFirst, ...options }: SearchOptions,
  max: number,
): Promise<ChangePosition[]> {
  const positions: ChangePosition[] = [];
  const direction = newestFirst ? -1 : 1;
  for (const range of rangesOf(options, newestFirst)) {
    const remaining = max - positions.length;
    if (remaining <= 0) break;
    const reading = {
      hint: 'updates',
      projection: POSITION_FIELDS,
      maxTimeMS: COMMAND_TIMEOUT,
    } as const;
    const cursor = collection
      .find<StoredPosition>({ systemCode, ...range }, reading)
      .sort({ updatedAt: direction, _id: direction })
      .limit(remaining);
    positions.push(...(await cursor.batchSize(remaining).toArray()).map(toPosition));
  }
  return positions;
}

async function lookUp(collection: Matters, ids: readonly bigint[], filter: Filter) {
  if (ids.length === 0) return [];
  const options = {
    hint: '_id_',
    projection: POSITION_FIELDS,
    maxTimeMS: COMMAND_TIMEOUT,
  } as const;
  const named = { $and: [{ _id: { $in: [...ids] } }, filter] } as Filter;
  const cursor = collection.find<StoredPosition>(named, options).batchSize(ids.length + 1);
  return (await cursor.toArray()).map(toPosition);
}

function filterOf(systemCode: string, filter: MatterFilter): Filter {
  const { externalIdPrefix, username, titleContains, ...plain } = filter;
  const conditions = Object.entries(plain).filter(([, value]) => value !== undefined);
  return {
    systemCode,
    ...Object.fromEntries(conditions),
    ...(externalIdPrefix !== undefined && { externalId: startingWith(externalIdPrefix) }),
    ...(username !== undefined && { 'parties.username': username }),
    ...(titleContains !== undefined && { $and: titleConditions(titleContains) }),
  };
}

const startingWith = (prefix: string) => ({ $gte: prefix, $lte: prefix + END_OF_PREFIX });

const toPosition = ({ _id, updatedAt }: StoredPosition): ChangePosition => ({
  updatedAt: updatedAt.getTime(),
  matterId: BigInt(_id),
});

function sortPositions(
  positions: readonly ChangePosition[],
  newestFirst: boolean,
): ChangePosition[] {
  const side = newestFirst ? -1 : 1;
  return [...positions].sort((a, b) => {
    const later = a.updatedAt - b.updatedAt || (a.matterId > b.matterId ? 1 : -1);
    return side * later;
  });
}

/** Epoch milliseconds; `from` is inclusive, `to` is exclusive. */
export interface Window {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A position in the order of changes: by `updatedAt`, then by matter id. */
export type ChangePosition = Pick<Matter, 'updatedAt' | 'matterId'>;

/** The earliest instant that a Date can have. */
export const EARLIEST = -8.64e15;

/** If `after` is set, the first range contains the remaining matters with the same `updatedAt` as `after`. */
export function rangesOf(
  { from, to, after }: Window & { readonly after?: ChangePosition | undefined },
  newestFirst = false,
): mongo.Filter<MatterRecord>[] {
  const start = { $gte: new Date(from ?? EARLIEST) };
  const end = to === undefined ? {} : { $lt: new Date(to) };
  if (!after) return [{ updatedAt: { ...start, ...end } }];
  const at = new Date(after.updatedAt);
  const { matterId } = after;
  return newestFirst
    ? [{ updatedAt: at, _id: { $lt: matterId } }, { updatedAt: { ...start, $lt: at } }]
    : [{ updatedAt: at, _id: { $gt: matterId } }, { updatedAt: { $gt: at, ...end } }];
}

/** The query `matters/query` returns pages of matters in the order of their last changes. */
import type { Clock } from '../concurrency/timing';
import type { Matter } from '../domain/matter';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import type { ChangesPage } from '../protocol/matter-answers';
import type { MatterView } from '../protocol/matter-view';
import type { ChangePosition, MatterFilter, MatterReader } from '../storage/ledger';
import { toMatterView, weightOf } from './presenters/matter';

/** Maximum milliseconds between the `updatedAt` and the commit of a change. */
const COMMIT_LAG = 30_000;
/** Maximum matters that the service examines for one page if the query needs no search (`searchOf`). */
const MAX_SCANNED = 5_000;
/**
 * A page ends when its matters have at least this many characters (`weightOf`). The maximum of 500 matters can have
 * more than 60 million characters.
 */
const MAX_WEIGHT = 16 * 1024 * 1024;
/** The position in a cursor: `updatedAt`, `matterId` and `watermark` as numbers, joined by dots. */
const POSITION = /^\d{1,15}\.\d{1,19}\.\d{1,15}$/;

interface ChangesQuery extends MatterFilter {
  /** Epoch milliseconds. */
  readonly updatedFrom?: number | undefined;
  readonly updatedTo?: number | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface MatterPage {
  readonly matters: readonly MatterView[];
  /** The next page begins after this position. Undefined on the last page. */
  readonly next: ChangePosition | undefined;
  /** Number of matters that the search examined for this page; absent if the query needs no search. */
  readonly examined?: number;
}

export function createQueryMatters(
  reader: Pick<MatterReader, 'changed' | 'search' | 'byIds'>,
  timeZone: string,
  clock: Clock,
) {
  const readChanges = createReadChanges(reader, timeZone);
  const readSearch = createReadSearch(reader, timeZone, MAX_WEIGHT);
  return async (
    systemCode: string,
    query: ChangesQuery,
  ): Promise<ChangesPage & { readonly matters: readonly MatterView[] }> => {
    const { updatedFrom, updatedTo, bizType } = query;
    const search = searchOf(query);
    // A cursor is valid only for these values. An undefined `search` is left out, so cursors of older service
    // versions stay valid.
    const window = ['matters/query', systemCode, updatedFrom, updatedTo, bizType];
    const cursorQuery = search ? [...window, search] : window;
    const { after, watermark } = query.cursor
      ? readPosition(decodeCursor(query.cursor, cursorQuery, POSITION))
      : { after: undefined, watermark: firstWatermark(query, clock()) };
    const read = search ? readSearch : readChanges;
    const { matters, next, examined } = await read(systemCode, query, after);
    const position = next && writePosition(next, watermark);
    return {
      matters: [...matters],
      nextCursor: position === undefined ? null : encodeCursor(cursorQuery, position),
      ...(examined !== undefined && { examined }),
      watermark: new Date(watermark).toISOString(),
    };
  };
}

/** @returns undefined if the query needs no search */
function searchOf(query: ChangesQuery) {
  const { externalIdPrefix, matterType, phase, bizStatus, username, titleContains } = query;
  const { newestFirst } = query;
  const search = { externalIdPrefix, matterType, phase, bizStatus, username, titleContains };
  const isSearch = newestFirst || Object.values(search).some((value) => value !== undefined);
  return isSearch ? { ...search, newestFirst: newestFirst ?? false } : undefined;
}

function createReadChanges(reader: Pick<MatterReader, 'changed'>, timeZone: string) {
  return async (
    systemCode: string,
    { updatedFrom: from, updatedTo: to, bizType, limit }: ChangesQuery,
    after: ChangePosition | undefined,
  ): Promise<MatterPage> => {
    const matters: MatterView[] = [];
    let scanned = 0;
    let weight = 0;
    let last = after;
    // One additional matter shows whether there is a next page.
    const max = (bizType === undefined ? limit : MAX_SCANNED) + 1;
    for await (const matter of reader.changed(systemCode, { from, to, after, limit: max })) {
      const isFull = matters.length >= limit || scanned >= MAX_SCANNED || weight >= MAX_WEIGHT;
      if (isFull) return { matters, next: last };
      scanned += 1;
      last = matter;
      weight += weightOf(matter);
      if (bizType !== undefined && matter.bizType !== bizType) continue;
      matters.push(toMatterView(matter, timeZone));
    }
    return { matters, next: undefined };
  };
}

/**
 * The caller sends the watermark as `updatedFrom` of a later query. COMMIT_LAG ensures that the later query
 * misses no change.
 */
function firstWatermark({ updatedFrom = 0, updatedTo }: ChangesQuery, now: number): number {
  return Math.max(updatedFrom, Math.min(updatedTo ?? now, now - COMMIT_LAG));
}

function writePosition({ updatedAt, matterId }: ChangePosition, watermark: number): string {
  return `${updatedAt}.${matterId}.${watermark}`;
}

function readPosition(position: string): { after: ChangePosition; watermark: number } {
  const [updatedAt, matterId, watermark] = position.split('.');
  return {
    after: { updatedAt: Number(updatedAt), matterId: BigInt.asIntN(64, BigInt(matterId ?? 0)) },
    watermark: Number(watermark),
  };
}

/** Maximum matters that `readByIds` reads at once. Matters can be large. */
const MATTERS_PER_READ = 50;

function createReadSearch(
  reader: Pick<MatterReader, 'search' | 'byIds'>,
  timeZone: string,
  maxWeight: number,
) {
  return async (
    systemCode: string,
    query: ChangesQuery,
    after: ChangePosition | undefined,
  ): Promise<MatterPage> => {
    const { updatedFrom: from, updatedTo: to, newestFirst = false, limit, ...rest } = query;
    const { cursor: _, ...filter } = rest;
    const options = { from, to, after, newestFirst, limit };
    const { positions, next, examined } = await reader.search(systemCode, filter, options);
    const matters: MatterView[] = [];
    let weight = 0;
    for (let at = 0; at < positions.length; at += MATTERS_PER_READ) {
      const part = positions.slice(at, at + MATTERS_PER_READ);
      const byId = await readByIds(reader, systemCode, part);
      for (const position of part) {
        if (weight >= maxWeight) {
          return { matters, next: positionBefore(positions, position), examined };
        }
        const matter = byId.get(position.matterId);
        // An operator can remove a matter from MongoDB after the search.
        if (!matter) continue;
        weight += weightOf(matter);
        matters.push(toMatterView(matter, timeZone));
      }
    }
    return { matters, next, examined };
  };
}

const positionBefore = (positions: readonly ChangePosition[], position: ChangePosition) =>
  positions[positions.indexOf(position) - 1];

async function readByIds(
  reader: Pick<MatterReader, 'byIds'>,
  systemCode: string,
  positions: readonly ChangePosition[],
): Promise<ReadonlyMap<bigint, Matter>> {
  const ids = positions.map(({ matterId }) => matterId);
  const byId = new Map<bigint, Matter>();
  for await (const matter of reader.byIds(systemCode, ids)) byId.set(matter.matterId, matter);
  return byId;
}

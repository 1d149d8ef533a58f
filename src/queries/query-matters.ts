/** The query `matters/query` returns pages of matters in the order of their last changes. */
import type { Clock } from '../concurrency/timing';
import type { Matter } from '../domain/matter';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import type { ChangesPage } from '../protocol/matter-answers';
import type { MatterView } from '../protocol/matter-view';
import type { ChangePosition, MatterFilter, MatterReader } from '../storage/ledger';
import { toMatterView } from './presenters/matter';
import { weightOf } from './weight';

/**
 * Milliseconds. `updatedAt` is set shortly before the commit, so a matter can become visible after matters with a later
 * `updatedAt`. Changes older than this are committed or failed. So the next incremental query starts COMMIT_LAG before
 * now, and may return some matters again.
 */
const COMMIT_LAG = 30_000;
/** Maximum matters that one call checks, including matters of other bizTypes. */
const MAX_SCANNED = 5_000;
/**
 * Maximum weight of a page (`weight.ts`), because 500 matters with contents of full length have hundreds of megabytes.
 */
const MAX_WEIGHT = 16 * 1024 * 1024;
/** The position in a cursor: updatedAt, matterId and watermark. */
const POSITION = /^\d{1,15}\.\d{1,19}\.\d{1,15}$/;

interface ChangesQuery extends MatterFilter {
  /** Epoch milliseconds. */
  readonly updatedFrom?: number | undefined;
  readonly updatedTo?: number | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The matters of a page and the position of the next page; undefined: this is the last page. */
interface Found {
  readonly matters: readonly MatterView[];
  readonly next: ChangePosition | undefined;
  /** Number of matters that a search examined for this page. */
  readonly examined?: number;
}

export function createQueryMatters(
  reader: Pick<MatterReader, 'changed' | 'search' | 'byIds'>,
  timeZone: string,
  clock: Clock,
) {
  const readChanges = createReadChanges(reader, timeZone);
  const readFound = createReadFound(reader, timeZone, MAX_WEIGHT);
  return async (
    systemCode: string,
    query: ChangesQuery,
  ): Promise<ChangesPage & { readonly matters: readonly MatterView[] }> => {
    const { updatedFrom, updatedTo, bizType } = query;
    const search = searchOf(query);
    // The service issued cursors of queries without a search before it supported searches, so their query contains no
    // search.
    const rows = ['matters/query', systemCode, updatedFrom, updatedTo, bizType];
    const bound = search ? [...rows, search] : rows;
    const { after, watermark } = query.cursor
      ? readPosition(decodeCursor(query.cursor, bound, POSITION))
      : { after: undefined, watermark: firstWatermark(query, clock()) };
    const read = search ? readFound : readChanges;
    const { matters, next, examined } = await read(systemCode, query, after);
    const position = next && writePosition(next, watermark);
    return {
      matters: [...matters],
      nextCursor: position === undefined ? null : encodeCursor(bound, position),
      ...(examined !== undefined && { examined }),
      watermark: new Date(watermark).toISOString(),
    };
  };
}

/** The conditions of a search; undefined if the query has only a window of changes and possibly a bizType. */
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
  ): Promise<Found> => {
    const matters: MatterView[] = [];
    let scanned = 0;
    let weight = 0;
    let last = after;
    // One additional row shows whether there is a next page.
    const max = (bizType === undefined ? limit : MAX_SCANNED) + 1;
    for await (const matter of reader.changed(systemCode, { from, to, after, limit: max })) {
      const more = matters.length >= limit || scanned >= MAX_SCANNED || weight >= MAX_WEIGHT;
      if (more) return { matters, next: last };
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
 * The watermark, which is `updatedFrom` of the next incremental query. The first page computes the watermark for all
 * pages: while the caller reads the pages, a matter can be committed whose `updatedAt` lies in a page that was read
 * already.
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

/** Maximum matters of one read, because matters can be large. */
const MATTERS_PER_READ = 50;

/** @param maxWeight a page ends after the matter with which it exceeds this weight */
function createReadFound(
  reader: Pick<MatterReader, 'search' | 'byIds'>,
  timeZone: string,
  maxWeight: number,
) {
  return async (
    systemCode: string,
    query: ChangesQuery,
    after: ChangePosition | undefined,
  ): Promise<Found> => {
    const { updatedFrom: from, updatedTo: to, newestFirst = false, limit, ...rest } = query;
    const { cursor: _, ...filter } = rest;
    const options = { from, to, after, newestFirst, limit };
    const { positions, next, examined } = await reader.search(systemCode, filter, options);
    const matters: MatterView[] = [];
    let weight = 0;
    for (let at = 0; at < positions.length; at += MATTERS_PER_READ) {
      const part = positions.slice(at, at + MATTERS_PER_READ);
      const byId = await readAll(reader, systemCode, part);
      for (const place of part) {
        if (weight >= maxWeight) {
          return { matters, next: positionBefore(positions, place), examined };
        }
        const matter = byId.get(place.matterId);
        // An operator has removed the document after the search found it.
        if (!matter) continue;
        weight += weightOf(matter);
        matters.push(toMatterView(matter, timeZone));
      }
    }
    return { matters, next, examined };
  };
}

/** The place before `place`. */
const positionBefore = (positions: readonly ChangePosition[], place: ChangePosition) =>
  positions[positions.indexOf(place) - 1];

async function readAll(
  reader: Pick<MatterReader, 'byIds'>,
  systemCode: string,
  positions: readonly ChangePosition[],
): Promise<ReadonlyMap<bigint, Matter>> {
  const ids = positions.map(({ matterId }) => matterId);
  const byId = new Map<bigint, Matter>();
  for await (const matter of reader.byIds(systemCode, ids)) byId.set(matter.matterId, matter);
  return byId;
}

/** `matters/query`: what changed since, in pages. */
import type { Clock } from '../concurrency/clock';
import type { ChangesPage } from '../protocol/comparison';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import type { MatterView } from '../protocol/matter-view';
import type { ChangePosition } from '../storage/ledger/changed-matters';
import type { MatterReader } from '../storage/ledger/matter-reader';
import type { ChangesQuery, Found } from './changes-query';
import { toMatterView } from './presenters/matter';
import { createReadFound } from './read-found';
import { weightOf } from './weight';

/**
 * Milliseconds. A matter gets its `updatedAt` a little before its commit, so one that changed just
 * now may come to light only after later ones. What is older than this has been committed or never
 * will be: the next query begins there, and may meet some matters again.
 */
const COMMIT_LAG = 30_000;
/** Matters that one call looks at; those of other bizTypes count too. */
const MAX_SCANNED = 5_000;
/** Heaviest page; with contents of the full length, 500 matters would be hundreds of megabytes. */
const MAX_WEIGHT = 16 * 1024 * 1024;
/** updatedAt, matterId and watermark. */
const POSITION = /^\d{1,15}\.\d{1,19}\.\d{1,15}$/;

export function createQueryMatters(
  reader: Pick<MatterReader, 'changed' | 'search' | 'byIds'>,
  timeZone: string,
  clock: Clock,
) {
  const readChanges = createReadChanges(reader, timeZone);
  const readFound = createReadFound(reader, timeZone, MAX_WEIGHT);
  return async (systemCode: string, query: ChangesQuery): Promise<ChangesPage> => {
    const { updatedFrom, updatedTo, bizType } = query;
    const search = searchOf(query);
    // Cursors of a question without a search are what they were.
    const rows = ['matters/query', systemCode, updatedFrom, updatedTo, bizType];
    const bound = search ? [...rows, search] : rows;
    const { after, watermark } = query.cursor
      ? readPosition(decodeCursor(query.cursor, bound, POSITION))
      : { after: undefined, watermark: firstWatermark(query, clock()) };
    const read = search ? readFound : readChanges;
    const { matters, next } = await read(systemCode, query, after);
    const position = next && writePosition(next, watermark);
    return {
      matters: [...matters],
      nextCursor: position === undefined ? null : encodeCursor(bound, position),
      watermark: new Date(watermark).toISOString(),
    };
  };
}

/** @returns undefined where nothing is asked for but a window of changes, and perhaps a bizType */
function searchOf(query: ChangesQuery) {
  const { externalIdPrefix, matterType, phase, bizStatus, username, newestFirst } = query;
  const search = { externalIdPrefix, matterType, phase, bizStatus, username };
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
    // One more than fits tells whether there is a next page.
    const most = (bizType === undefined ? limit : MAX_SCANNED) + 1;
    for await (const matter of reader.changed(systemCode, { from, to, after, limit: most })) {
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
 * The first page decides for all: what was committed late behind a page that was read already has
 * to be met by the next query, however long the pages in between take.
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

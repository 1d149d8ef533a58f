/** Reads the ledger for queries and tools. */

import type { Connection, mongo } from 'mongoose';
import type { Matter, Phase } from '../../domain/matter';
import { nativeCollection } from '../../infra/mongo';
import { type MatterKey, type MatterRecord, matterModel, toMatter } from './matters';
import {
  type ChangePosition,
  createSearchMatters,
  EARLIEST,
  rangesOf,
  type SearchMatters,
  type Window,
} from './search-matters';

/** Only `open` and `forDigest` leave out deleted matters. */
export interface MatterReader {
  find(key: MatterKey): Promise<Matter | undefined>;
  /** In the order of matter ids. */
  all(systemCode?: string): AsyncIterable<Matter>;
  byKeys(systemCode: string, externalIds: readonly string[]): AsyncIterable<Matter>;
  forComparison(systemCode: string, externalIds: readonly string[]): AsyncIterable<ComparedMatter>;
  /** In the order of (updatedAt, matterId). */
  changed(systemCode: string, filter: ChangedFilter): AsyncIterable<Matter>;
  readonly search: SearchMatters;
  byIds(systemCode: string, ids: readonly bigint[]): AsyncIterable<Matter>;
  /** Matters that are OPEN or DRAFT, in the byte order of the external ids. */
  open(systemCode: string): AsyncIterable<OpenMatter>;
  /** @param window limits the `sourceUpdatedAt` of the matters */
  forDigest(systemCode: string, window: Window | undefined): AsyncIterable<DigestMatter>;
}

/** Maximum milliseconds of a call of `byKeys`, `forComparison` or `byIds`. */
const LOOKUP_TIMEOUT = 10_000;
/** Maximum milliseconds of a call of `forDigest`. */
const DIGEST_TIMEOUT = 60_000;
/** Maximum milliseconds of a call of `open`, which streams all open matters and drafts to a caller. */
const STREAM_TIMEOUT = 600_000;

const OPEN_OR_DRAFT: Phase[] = ['OPEN', 'DRAFT'];
const NOT_DELETED: Phase[] = [...OPEN_OR_DRAFT, 'CONCLUDED'];

type Matters = mongo.Collection<MatterRecord>;
type Filter = mongo.Filter<MatterRecord>;

export function createMatterReader(connection: Connection): MatterReader {
  const collection: Matters = nativeCollection<MatterRecord>(matterModel(connection));
  const findWhole = (filter: Filter) => collection.find(filter).map(toMatter);
  const findFields = <T>({ projection, toMatter: toLean }: Projected<T>, filter: Filter) =>
    collection.find(filter, { projection }).map(toLean);
  return {
    find: async ({ systemCode, externalId }) => {
      const record = await collection.findOne({ systemCode, externalId });
      return record ? toMatter(record) : undefined;
    },
    all: async function* (systemCode) {
      const filter = systemCode === undefined ? {} : { systemCode };
      for await (const record of collection.find(filter).sort({ _id: 1 })) yield toMatter(record);
    },
    byKeys: (systemCode, externalIds) =>
      timedRead(findWhole({ systemCode, externalId: { $in: [...externalIds] } }), LOOKUP_TIMEOUT),
    forComparison: (systemCode, externalIds) =>
      timedRead(
        findFields(COMPARED, { systemCode, externalId: { $in: [...externalIds] } }),
        LOOKUP_TIMEOUT,
      ),
    changed: createChangedMatters(collection),
    search: createSearchMatters(collection),
    byIds: (systemCode, ids) =>
      timedRead(
        collection.find({ _id: { $in: [...ids] }, systemCode }, { hint: '_id_' }).map(toMatter),
        LOOKUP_TIMEOUT,
      ),
    open: async function* (systemCode) {
      const cursor = findFields(OPEN, { systemCode, phase: { $in: OPEN_OR_DRAFT } });
      const matters = timedRead(cursor.sort({ externalId: 1 }), STREAM_TIMEOUT);
      // After a manual edit in the database, a deleted matter can still have an open phase.
      for await (const matter of matters) if (!matter.deleted) yield matter;
    },
    forDigest: async function* (systemCode, window) {
      const filter = window
        ? { systemCode, sourceUpdatedAt: within(window) }
        : { systemCode, phase: { $in: NOT_DELETED } };
      for await (const matter of timedRead(findFields(DIGEST, filter), DIGEST_TIMEOUT)) {
        if (!matter.deleted) yield matter;
      }
    },
  };
}

/** `$gte` excludes matters without a `sourceUpdatedAt`. */
function within({ from = EARLIEST, to }: Window): mongo.FilterOperators<Date> {
  return { $gte: new Date(from), ...(to !== undefined && { $lt: new Date(to) }) };
}

export interface ChangedFilter extends Window {
  readonly after?: ChangePosition | undefined;
  readonly limit: number;
}

type ReadChanged = (systemCode: string, filter: ChangedFilter) => AsyncGenerator<Matter>;

/** Maximum milliseconds for the read of one index range (`rangesOf`). */
const CHANGES_TIMEOUT = 10_000;
/** Maximum matters in one batch of the cursor. */
const WHOLE_BATCH_SIZE = 100;
const CHANGES_INDEX = 'updates';

function createChangedMatters(collection: mongo.Collection<MatterRecord>): ReadChanged {
  return async function* (systemCode, filter) {
    let remaining = filter.limit;
    for (const range of rangesOf(filter)) {
      if (remaining <= 0) return;
      const found = collection
        .find({ systemCode, ...range }, { hint: CHANGES_INDEX })
        .sort({ updatedAt: 1, _id: 1 })
        .limit(remaining);
      for await (const matter of timedRead(
        found.map(toMatter),
        CHANGES_TIMEOUT,
        WHOLE_BATCH_SIZE,
      )) {
        remaining -= 1;
        yield matter;
      }
    }
  };
}

/** Maximum records that the driver decodes at once. Decoding blocks all other work of the process. */
const BATCH_SIZE = 1_000;

/** @param timeout maximum milliseconds until the consumer gets the last record */
async function* timedRead<T>(
  cursor: mongo.FindCursor<T>,
  timeout: number,
  batch = BATCH_SIZE,
): AsyncGenerator<T, void> {
  const deadline = performance.now() + timeout;
  for await (const record of cursor.maxTimeMS(timeout).batchSize(batch)) {
    if (performance.now() > deadline) throw new Error(`the read took longer than ${timeout} ms`);
    yield record;
  }
}

const COMPARED_FIELDS = [
  'matterId',
  'externalId',
  'bizStatus',
  'externalStatusCode',
  'sourceUpdatedAt',
  'deleted',
] as const;
export type ComparedMatter = Pick<Matter, (typeof COMPARED_FIELDS)[number]>;

const OPEN_FIELDS = [
  'matterId',
  'externalId',
  'matterType',
  'title',
  'bizType',
  'bizStatus',
  'phase',
  'sourceUpdatedAt',
  'updatedAt',
  'deleted',
] as const;
export type OpenMatter = Pick<Matter, (typeof OPEN_FIELDS)[number]>;

const DIGEST_FIELDS = [
  'externalId',
  'bizType',
  'bizStatus',
  'externalStatusCode',
  'sourceUpdatedAt',
  'phase',
  'deleted',
] as const;
export type DigestMatter = Pick<Matter, (typeof DIGEST_FIELDS)[number]>;

interface Projected<T> {
  readonly projection: Readonly<Record<string, 0 | 1>>;
  readonly toMatter: (record: MatterRecord) => T;
}

const COMPARED: Projected<ComparedMatter> = projectedOf(COMPARED_FIELDS);
const OPEN: Projected<OpenMatter> = projectedOf(OPEN_FIELDS);
const DIGEST: Projected<DigestMatter> = projectedOf(DIGEST_FIELDS);

function projectedOf<F extends keyof Matter>(fields: readonly F[]): Projected<Pick<Matter, F>> {
  const withId = (fields as readonly string[]).includes('matterId');
  const stored = fields.filter((field) => field !== 'matterId');
  return {
    projection: { ...Object.fromEntries(stored.map((field) => [field, 1])), _id: withId ? 1 : 0 },
    toMatter: (record) => {
      // A loop is faster than array methods.
      const values: Record<string, unknown> = withId ? { matterId: BigInt(record._id) } : {};
      for (const field of stored) {
        const value = record[field as keyof MatterRecord] ?? null;
        values[field] = value instanceof Date ? value.getTime() : value;
      }
      return values as Pick<Matter, F>;
    },
  };
}

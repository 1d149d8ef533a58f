/** Reads of the ledger outside the way of a push: single matters, pages, and streams of many. */
import type { Connection, mongo } from 'mongoose';
import type { Matter, Phase } from '../../domain/matter';
import { nativeCollection } from '../mongo';
import { type ChangedFilter, createChangedMatters, type Window } from './changed-matters';
import {
  DIGEST,
  type DigestMatter,
  HELD,
  type HeldMatter,
  type Lean,
  OPEN,
  type OpenMatter,
} from './lean-matter';
import { type MatterRecord, matterModel } from './matter-model';
import { toMatter } from './matter-record';
import type { MatterKey } from './matters';
import { createSearchMatters, type SearchMatters } from './search-matters';
import { timedRead } from './timed-read';

/** Absent values are null. Deleted matters are found too, unless it says otherwise. */
export interface MatterReader {
  find(key: MatterKey): Promise<Matter | undefined>;
  /** All matters, or those of one system, by matter id; read in batches as they are asked for. */
  all(systemCode?: string): AsyncIterable<Matter>;
  /** In the order of the database. */
  byKeys(systemCode: string, externalIds: readonly string[]): AsyncIterable<Matter>;
  /** In the order of the database. */
  held(systemCode: string, externalIds: readonly string[]): AsyncIterable<HeldMatter>;
  /** By (updatedAt, matterId). */
  changed(systemCode: string, filter: ChangedFilter): AsyncIterable<Matter>;
  /** Where those stand that pass a filter, in the order of changes or its reverse. */
  readonly search: SearchMatters;
  /** In the order of the database. */
  byIds(systemCode: string, ids: readonly bigint[]): AsyncIterable<Matter>;
  /** Phases OPEN and DRAFT, by external id in the order of its UTF-8 bytes. */
  open(systemCode: string): AsyncIterable<OpenMatter>;
  /** Without the deleted ones; in no order. @param window of sourceUpdatedAt: those without are in none */
  digested(systemCode: string, window: Window | undefined): AsyncIterable<DigestMatter>;
}

/** Milliseconds for a page, for a stream that is counted, and for one whose taker sets the pace. */
const PAGE_TIMEOUT = 10_000;
const COUNT_TIMEOUT = 60_000;
const STREAM_TIMEOUT = 600_000;

const STILL_OPEN: Phase[] = ['OPEN', 'DRAFT'];
const NOT_DELETED: Phase[] = [...STILL_OPEN, 'CONCLUDED'];

type Matters = mongo.Collection<MatterRecord>;
type Filter = mongo.Filter<MatterRecord>;

/** Every filter stays within one index, and every read has a deadline. */
export function createMatterReader(connection: Connection): MatterReader {
  const collection: Matters = nativeCollection<MatterRecord>(matterModel(connection));
  const whole = (filter: Filter) => collection.find(filter).map(toMatter);
  const lean = <T>({ projection, toMatter: toLean }: Lean<T>, filter: Filter) =>
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
      timedRead(whole({ systemCode, externalId: { $in: [...externalIds] } }), PAGE_TIMEOUT),
    held: (systemCode, externalIds) =>
      timedRead(lean(HELD, { systemCode, externalId: { $in: [...externalIds] } }), PAGE_TIMEOUT),
    changed: createChangedMatters(collection),
    search: createSearchMatters(collection),
    byIds: (systemCode, ids) =>
      timedRead(
        collection.find({ _id: { $in: [...ids] }, systemCode }, { hint: '_id_' }).map(toMatter),
        PAGE_TIMEOUT,
      ),
    open: async function* (systemCode) {
      const cursor = lean(OPEN, { systemCode, phase: { $in: STILL_OPEN } });
      const matters = timedRead(cursor.sort({ externalId: 1 }), STREAM_TIMEOUT);
      // Deleted by hand, its phase may be left behind.
      for await (const matter of matters) if (!matter.deleted) yield matter;
    },
    digested: async function* (systemCode, window) {
      const filter = window
        ? { systemCode, sourceUpdatedAt: within(window) }
        : { systemCode, phase: { $in: NOT_DELETED } };
      for await (const matter of timedRead(lean(DIGEST, filter), COUNT_TIMEOUT)) {
        if (!matter.deleted) yield matter;
      }
    },
  };
}

/** The oldest instant that there is. */
const EVER = -8.64e15;

/** Always with a lower bound: a range is what an index is for. */
function within({ from = EVER, to }: Window): mongo.FilterOperators<Date> {
  return { $gte: new Date(from), ...(to !== undefined && { $lt: new Date(to) }) };
}

/**
 * Searches of the push log. Each call reads along one index and looks at so many entries at most:
 * its cost does not grow with the log. So a page may be shorter than asked for; only where there is
 * no `next` the search is at its end.
 */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';
import { fieldsLookedAt, indexUse, isCovered, type LogFilter, matchesFilter } from './log-filter';
import { createFindMended, type FindMended } from './mended';
import { firstIdAt, idAfter, idsBeside } from './request-id';

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Request id after which the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

export interface LogOrder {
  /** Newest first, unless this is set. */
  readonly oldestFirst?: boolean;
}

export interface ReadOrder extends LogOrder {
  /** Request id after which it begins: `next` of the page before. */
  readonly after?: string | undefined;
}

export interface PageOptions extends ReadOrder {
  /** Most entries of the page. */
  readonly limit: number;
}

export interface LogSearch {
  page(filter: LogFilter, options: PageOptions): Promise<LogPage>;
  /** All that a filter asks for, read bit by bit as it is taken. */
  all(filter: LogFilter, order?: ReadOrder): AsyncGenerator<LogEntry>;
  /** How many there are, counted up to `bound`; not `exact`: there may be more. */
  count(filter: LogFilter, bound: number): Promise<{ value: number; exact: boolean }>;
}

/** Entries that a page or a count looks at. */
const MAX_LOOKED_AT = 5_000;
/** Entries that one command reads; and of a count, where they are only a few fields each. */
const CHUNK = 1_000;
const LEAN_CHUNK = 5_000;
/** The first read where entries are looked through, or each that is found is looked up once more. */
const SMALL_CHUNK = 200;
/** Milliseconds for one command of the database. */
const COMMAND_TIMEOUT = 10_000;

type Ids = readonly [lower: string | undefined, upper: string | undefined];

interface Reading extends ReadOrder {
  /** Only these fields. */
  readonly projection?: Readonly<Record<string, 1>>;
}

/** @param maxLookedAt bounds a page or count whose filter no index answers alone */
export function createLogSearch(connection: Connection, maxLookedAt = MAX_LOOKED_AT): LogSearch {
  return new IndexedSearch(connection, maxLookedAt);
}

class IndexedSearch implements LogSearch {
  private readonly collection: mongo.Collection<LogEntry>;
  private readonly findMended: FindMended;

  constructor(
    connection: Connection,
    private readonly maxLookedAt: number,
  ) {
    this.collection = nativeCollection<LogEntry>(entryModel(connection));
    this.findMended = createFindMended(connection);
  }

  async page(filter: LogFilter, { limit, ...order }: PageOptions): Promise<LogPage> {
    const entries: LogEntry[] = [];
    let looked = 0;
    let last: string | undefined;
    const most = isCovered(filter) ? limit : this.maxLookedAt;
    // Where entries are looked through, or looked up once more, the first ones are often enough.
    const first =
      most === limit && !filter.stillFailed ? limit + 1 : Math.max(limit + 1, SMALL_CHUNK);
    for await (const chunk of this.chunks(filter, order, Math.min(first, CHUNK))) {
      const found = await this.passing(chunk, filter);
      for (const entry of chunk) {
        if (entries.length === limit || looked === this.maxLookedAt) return { entries, next: last };
        looked += 1;
        last = String(entry._id);
        if (found.has(entry)) entries.push(entry);
      }
    }
    return { entries, next: undefined };
  }

  async *all(filter: LogFilter, order: ReadOrder = {}): AsyncGenerator<LogEntry> {
    for await (const chunk of this.chunks(filter, order, CHUNK)) {
      yield* await this.passing(chunk, filter);
    }
  }

  async count(filter: LogFilter, bound: number): Promise<{ value: number; exact: boolean }> {
    const most = isCovered(filter) ? bound : this.maxLookedAt;
    const fields = fieldsLookedAt(filter).map((field) => [field, 1] as const);
    const projection = { ...Object.fromEntries(fields), _id: 1 } as const;
    let value = 0;
    let looked = 0;
    for await (const chunk of this.chunks(filter, { projection }, Math.min(most + 1, LEAN_CHUNK))) {
      const found = await this.passing(chunk, filter);
      for (const entry of chunk) {
        if (looked === most) return { value, exact: false };
        looked += 1;
        if (found.has(entry)) value += 1;
      }
    }
    return { value, exact: true };
  }

  /** In order, to the end; what is not taken is not read. Small chunks grow. */
  private async *chunks(
    filter: LogFilter,
    reading: Reading,
    first: number,
  ): AsyncGenerator<readonly LogEntry[]> {
    let { after } = reading;
    for (let size = first; ; size = Math.max(size, Math.min(2 * size, CHUNK))) {
      const entries = await this.read(filter, { ...reading, after }, size);
      yield entries;
      if (entries.length < size) return;
      after = String(entries.at(-1)?._id);
    }
  }

  /** The next entries along the index of the filter, which serves the order too. */
  private read(filter: LogFilter, reading: Reading, most: number): Promise<LogEntry[]> {
    const { oldestFirst, projection } = reading;
    return this.collection
      .find(indexRange(filter, idsOf(filter, reading)), {
        hint: indexUse(filter).name,
        maxTimeMS: COMMAND_TIMEOUT,
        ...(projection && { projection }),
      })
      .sort({ _id: oldestFirst ? 1 : -1 })
      .limit(most)
      .toArray();
  }

  /** Those of some entries that a filter asks for. */
  private async passing(
    entries: readonly LogEntry[],
    filter: LogFilter,
  ): Promise<ReadonlySet<LogEntry>> {
    const found = new Set(entries.filter((entry) => matchesFilter(entry, filter)));
    if (!filter.stillFailed) return found;
    for (const system of new Set([...found].flatMap(({ systemCode }) => systemCode ?? []))) {
      const failed = [...found].filter(({ systemCode }) => systemCode === system);
      const mended = await this.findMended(system, failed);
      for (const entry of failed) if (mended.has(String(entry._id))) found.delete(entry);
    }
    return found;
  }
}

/** The ids that window, request id, batch and place of the page leave. */
function idsOf({ requestId, batchId, from, to }: LogFilter, { after, oldestFirst }: Reading): Ids {
  const lowers = [from === undefined ? undefined : firstIdAt(from), requestId];
  const uppers = [to === undefined ? undefined : firstIdAt(to), requestId && idAfter(requestId)];
  if (batchId !== undefined) {
    const [first, last] = idsBeside(batchId);
    lowers.push(first);
    uppers.push(idAfter(last));
  }
  if (oldestFirst) lowers.push(after && idAfter(after));
  else uppers.push(after);
  return [given(lowers).sort().at(-1), given(uppers).sort()[0]];
}

/** What one index answers: its fields and a range of ids. Across systems it is that of the ids alone. */
function indexRange(filter: LogFilter, [lower, upper]: Ids): mongo.Filter<LogEntry> {
  const along = indexUse(filter).along as mongo.Filter<LogEntry>;
  const bounds = Object.entries({ $gte: lower, $lt: upper }).filter(([, id]) => id !== undefined);
  if (bounds.length === 0) return along;
  // A look-up, not a range, where there is one id to find.
  if (lower !== undefined && upper === idAfter(lower)) {
    return { ...along, _id: new Types.ObjectId(lower) };
  }
  const ids = bounds.map(([operator, id]) => [operator, new Types.ObjectId(id)] as const);
  return { ...along, _id: Object.fromEntries(ids) };
}

const given = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined);

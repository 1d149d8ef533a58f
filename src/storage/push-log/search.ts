/** Searches the push log. Each page and each count checks a limited number of entries. */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../../infra/mongo';
import { entryModel, type LogEntry } from './entry';
import { fieldsToRead, indexUse, isCovered, type LogFilter, matchesFilter } from './log-filter';
import { createFindMended, type FindMended } from './mended';
import { firstIdAt, idAfter, idsOfSameOrigin } from './request-id';

export interface SearchPage {
  readonly entries: readonly LogEntry[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: string | undefined;
}

export interface LogOrder {
  /** False or absent: newest first. */
  readonly oldestFirst?: boolean;
}

export interface ReadOrder extends LogOrder {
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface PageOptions extends ReadOrder {
  readonly limit: number;
}

export interface LogSearch {
  page(filter: LogFilter, options: PageOptions): Promise<SearchPage>;
  all(filter: LogFilter, order?: ReadOrder): AsyncGenerator<LogEntry>;
  /**
   * If `isCovered(filter)`, `bound` limits the number of checked entries. Otherwise, MAX_CHECKED limits this number.
   *
   * @returns `exact` is true if the count is complete
   */
  count(filter: LogFilter, bound: number): Promise<{ value: number; exact: boolean }>;
}

/** Maximum entries that a page or count checks. If `isCovered(filter)`, `limit` or `bound` is the maximum. */
const MAX_CHECKED = 5_000;
/** Maximum entries that one command reads for `page` or `all`. */
const READ_CHUNK = 1_000;
/** Maximum entries that one command reads for `count`. */
const COUNT_CHUNK = 5_000;
/** Minimum entries in the first chunk of a page, if some entries of the chunk may not match the filter. */
const SMALL_CHUNK = 200;
const COMMAND_TIMEOUT = 10_000;

type IdRange = readonly [lower: string | undefined, upper: string | undefined];

interface Reading extends ReadOrder {
  readonly projection?: Readonly<Record<string, 1>>;
}

export function createLogSearch(connection: Connection, maxChecked = MAX_CHECKED): LogSearch {
  return new IndexedSearch(connection, maxChecked);
}

class IndexedSearch implements LogSearch {
  private readonly collection: mongo.Collection<LogEntry>;
  private readonly findMended: FindMended;

  constructor(
    connection: Connection,
    private readonly maxChecked: number,
  ) {
    this.collection = nativeCollection<LogEntry>(entryModel(connection));
    this.findMended = createFindMended(connection);
  }

  async page(filter: LogFilter, { limit, ...order }: PageOptions): Promise<SearchPage> {
    const entries: LogEntry[] = [];
    let checked = 0;
    let last: string | undefined;
    const max = isCovered(filter) ? limit : this.maxChecked;
    const first =
      max === limit && !filter.stillFailed ? limit + 1 : Math.max(limit + 1, SMALL_CHUNK);
    for await (const chunk of this.chunks(filter, order, Math.min(first, READ_CHUNK))) {
      const found = await this.matching(chunk, filter);
      for (const entry of chunk) {
        if (entries.length === limit || checked === this.maxChecked) return { entries, next: last };
        checked += 1;
        last = String(entry._id);
        if (found.has(entry)) entries.push(entry);
      }
    }
    return { entries, next: undefined };
  }

  async *all(filter: LogFilter, order: ReadOrder = {}): AsyncGenerator<LogEntry> {
    for await (const chunk of this.chunks(filter, order, READ_CHUNK)) {
      yield* await this.matching(chunk, filter);
    }
  }

  async count(filter: LogFilter, bound: number): Promise<{ value: number; exact: boolean }> {
    const max = isCovered(filter) ? bound : this.maxChecked;
    const fields = fieldsToRead(filter).map((field) => [field, 1] as const);
    const projection = { ...Object.fromEntries(fields), _id: 1 } as const;
    let value = 0;
    let checked = 0;
    for await (const chunk of this.chunks(filter, { projection }, Math.min(max + 1, COUNT_CHUNK))) {
      const found = await this.matching(chunk, filter);
      for (const entry of chunk) {
        if (checked === max) return { value, exact: false };
        checked += 1;
        if (found.has(entry)) value += 1;
      }
    }
    return { value, exact: true };
  }

  /** The chunks of a page grow up to CHUNK entries, so that a long search needs few commands. */
  private async *chunks(
    filter: LogFilter,
    reading: Reading,
    first: number,
  ): AsyncGenerator<readonly LogEntry[]> {
    let { after } = reading;
    for (let size = first; ; size = Math.max(size, Math.min(2 * size, READ_CHUNK))) {
      const entries = await this.read(filter, { ...reading, after }, size);
      yield entries;
      if (entries.length < size) return;
      after = String(entries.at(-1)?._id);
    }
  }

  private read(filter: LogFilter, reading: Reading, max: number): Promise<LogEntry[]> {
    const { oldestFirst, projection } = reading;
    return this.collection
      .find(indexRange(filter, idRangeOf(filter, reading)), {
        hint: indexUse(filter).name,
        maxTimeMS: COMMAND_TIMEOUT,
        ...(projection && { projection }),
      })
      .sort({ _id: oldestFirst ? 1 : -1 })
      .limit(max)
      .toArray();
  }

  private async matching(
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

function idRangeOf(
  { requestId, batchId, from, to }: LogFilter,
  { after, oldestFirst }: Reading,
): IdRange {
  const lowers = [from === undefined ? undefined : firstIdAt(from), requestId];
  const uppers = [to === undefined ? undefined : firstIdAt(to), requestId && idAfter(requestId)];
  if (batchId !== undefined) {
    const [first, last] = idsOfSameOrigin(batchId);
    lowers.push(first);
    uppers.push(idAfter(last));
  }
  if (oldestFirst) lowers.push(after && idAfter(after));
  else uppers.push(after);
  return [defined(lowers).sort().at(-1), defined(uppers).sort()[0]];
}

function indexRange(filter: LogFilter, [lower, upper]: IdRange): mongo.Filter<LogEntry> {
  const indexFields = indexUse(filter).indexFields as mongo.Filter<LogEntry>;
  const bounds = Object.entries({ $gte: lower, $lt: upper }).filter(([, id]) => id !== undefined);
  if (bounds.length === 0) return indexFields;
  if (lower !== undefined && upper === idAfter(lower)) {
    return { ...indexFields, _id: new Types.ObjectId(lower) };
  }
  const ids = bounds.map(([operator, id]) => [operator, new Types.ObjectId(id)] as const);
  return { ...indexFields, _id: Object.fromEntries(ids) };
}

const defined = (ids: readonly (string | undefined)[]) => ids.filter((id) => id !== undefined);

/** The first entries that a filter asks for, however many short pages that takes. */
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder } from '../../../src/storage/push-log/search';
import type { LogSource, ShownEntry } from '../source/log-source';

export interface FirstOptions extends LogOrder {
  /** Most entries. */
  readonly limit: number;
  /** Told after each page. */
  readonly onPage?: (reached: Reached) => void;
}

export interface Reached {
  readonly found: number;
  /** Where the search would go on; undefined at the end of the log. */
  readonly next: string | undefined;
  /** Up to where in time it has come, epoch milliseconds, where that is known. */
  readonly place: number | undefined;
}

export async function* firstEntries(
  source: Pick<LogSource, 'page'>,
  filter: LogFilter,
  { limit, onPage, ...order }: FirstOptions,
): AsyncGenerator<ShownEntry> {
  let found = 0;
  let after: string | undefined;
  do {
    const page = await source.page(filter, { ...order, limit: limit - found, after });
    const { entries, next, place } = page;
    found += entries.length;
    after = next;
    onPage?.({ found, next, place });
    yield* entries;
  } while (after !== undefined && found < limit);
}

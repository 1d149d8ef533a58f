/** The first entries that a filter asks for, however many short pages that takes. */
import type { LogEntry } from '../../push-log/entry-model';
import type { LogFilter } from '../../push-log/log-filter';
import type { LogOrder, LogSearch } from '../../push-log/search';

export interface FirstOptions extends LogOrder {
  /** Most entries. */
  readonly limit: number;
  /** Told after each page. */
  readonly onPage?: (reached: Reached) => void;
}

export interface Reached {
  readonly found: number;
  /** Request id after which the search would go on; undefined at the end of the log. */
  readonly next: string | undefined;
}

export async function* firstEntries(
  search: LogSearch,
  filter: LogFilter,
  { limit, onPage, ...order }: FirstOptions,
): AsyncGenerator<LogEntry> {
  let found = 0;
  let after: string | undefined;
  do {
    const { entries, next } = await search.page(filter, { ...order, limit: limit - found, after });
    found += entries.length;
    after = next;
    onPage?.({ found, next });
    yield* entries;
  } while (after !== undefined && found < limit);
}

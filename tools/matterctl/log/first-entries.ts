/** The first entries that a filter asks for, however many short pages that takes. */
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder } from '../../../src/storage/push-log/search';
import { localTime } from '../local-time';
import type { LogSource, ShownEntry } from '../source/sources';
import type { Tool } from '../tool';

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

/** Milliseconds between two lines of progress. */
const INTERVAL = 2_000;

/** The progress of a long search, on stderr. @returns to be told of each page; silent while the search is short */
export function createSearchProgress({ stderr, settings }: Tool): (reached: Reached) => void {
  const timeZone = settings.timeZone();
  let told = Date.now();
  return ({ found, next, place }) => {
    if (next === undefined || Date.now() - told < INTERVAL) return;
    told = Date.now();
    const from = place === undefined ? '' : ` from ${localTime(place, timeZone)}`;
    stderr.write(`${found} found, searching on${from}\n`);
  };
}

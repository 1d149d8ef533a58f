/** The first entries that a filter asks for, however many short pages that takes. */
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder } from '../../../src/storage/push-log/search';
import { zonedTime } from '../local-time';
import { note } from '../print';
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
  /** As of the first page. */
  readonly notRecorded: number | undefined;
}

export async function* firstEntries(
  source: Pick<LogSource, 'page'>,
  filter: LogFilter,
  { limit, onPage, ...order }: FirstOptions,
): AsyncGenerator<ShownEntry> {
  let found = 0;
  let after: string | undefined;
  let notRecorded: number | undefined;
  do {
    const page = await source.page(filter, { ...order, limit: limit - found, after });
    notRecorded ??= page.notRecorded;
    const { entries, next, place } = page;
    found += entries.length;
    after = next;
    onPage?.({ found, next, place, notRecorded });
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
    const from = place === undefined ? '' : ` from ${zonedTime(place, timeZone)}`;
    note(stderr, `${found} found, searching on${from}`);
  };
}

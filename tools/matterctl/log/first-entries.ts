/** Reads the first entries that match a filter. It reads as many pages as needed, because a page can be short. */
import type { LogFilter, LogOrder } from '../../../src/storage/push-log';
import { zonedTime } from '../local-time';
import { note } from '../print';
import type { LogSource, ShownEntry } from '../source/sources';
import type { Tool } from '../tool';

export interface FirstOptions extends LogOrder {
  /** Maximum entries. */
  readonly limit: number;
  /** Called after each page. */
  readonly onPage?: (reached: Reached) => void;
}

export interface Reached {
  /** Number of entries found so far. */
  readonly found: number;
  /** Position of the next page; undefined at the end of the log. */
  readonly next: string | undefined;
  /** Time of receipt that the search has reached, epoch milliseconds; undefined if it is unknown. */
  readonly place: number | undefined;
  /** `notRecorded` of the first page. */
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

/** Shows the progress of a long search on stderr. @returns the function to call after each page */
export function createSearchProgress({ stderr, settings }: Tool): (reached: Reached) => void {
  const timeZone = settings.timeZone();
  let printedAt = Date.now();
  return ({ found, next, place }) => {
    if (next === undefined || Date.now() - printedAt < INTERVAL) return;
    printedAt = Date.now();
    const from = place === undefined ? '' : ` from ${zonedTime(place, timeZone)}`;
    note(stderr, `${found} found, searching on${from}`);
  };
}

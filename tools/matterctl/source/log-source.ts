/**
 * Where the commands of the log read it: from the database, or from the signed queries of a service.
 * The commands render what they are given and do not know which of the two it is.
 */
import type { Diagnosis } from '../../../src/protocol/diagnosis';
import type { EntryView } from '../../../src/protocol/entry-view';
import type { OperatorEntryView } from '../../../src/queries/presenters/entry';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder, PageOptions } from '../../../src/storage/push-log/search';

/** An entry; what only operators may see is absent where a client asks. */
export type ShownEntry = EntryView & Partial<OperatorEntryView>;

export interface EntryPage {
  /** May be fewer than asked for, or none, and not be the last. */
  readonly entries: readonly ShownEntry[];
  /** `after` of the next page; undefined at the end. */
  readonly next: string | undefined;
  /** Up to where in time the search has come, epoch milliseconds, where that is known. */
  readonly place: number | undefined;
}

/** One push with everything that the log knows of it. */
export interface EntryDetail {
  readonly view: ShownEntry;
  /** Of a rejected signature. */
  readonly diagnosis: Diagnosis | undefined;
  /** Undefined: not asked for. Null: not kept (any more). */
  readonly body: string | null | undefined;
}

export interface LogSource {
  /** Whether its entries have what only operators may see. */
  readonly ofOperators: boolean;
  /** `attempt` may be null until an entry was `numbered`. */
  page(filter: LogFilter, options: PageOptions): Promise<EntryPage>;
  /** All that a filter asks for, read bit by bit as it is taken; as of `page`. */
  all(filter: LogFilter, order?: LogOrder): AsyncIterable<ShownEntry>;
  /** The same entries in their order, with the numbers of their attempts. */
  numbered(entries: AsyncIterable<ShownEntry>): AsyncIterable<ShownEntry>;
  detail(requestId: string, options: { readonly body: boolean }): Promise<EntryDetail | undefined>;
}

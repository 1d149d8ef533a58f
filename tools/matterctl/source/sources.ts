/**
 * Where commands read the log and the matters: from the database, or from the signed queries of a service.
 * The commands render what they are given and do not know which of the two it is.
 */

import type { Matter } from '../../../src/domain/matter';
import type { Diagnosis } from '../../../src/protocol/diagnosis';
import type { EntryView, OperatorEntryView } from '../../../src/protocol/log-entry';
import type { MatterView } from '../../../src/protocol/matter-view';
import type { MatterKey } from '../../../src/storage/ledger/matters';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder, PageOptions } from '../../../src/storage/push-log/search';

export interface Sources {
  readonly log: LogSource;
  readonly matters: MatterSource;
}

/** An entry; what only operators may see is absent where a client asks. */
export type ShownEntry = EntryView & Partial<OperatorEntryView>;

export interface EntryPage {
  /** May be fewer than asked for, or none, and not be the last. */
  readonly entries: readonly ShownEntry[];
  /** `after` of the next page; undefined at the end. */
  readonly next: string | undefined;
  /** Up to where in time the search has come, epoch milliseconds, where that is known. */
  readonly place: number | undefined;
  /**
   * Of the first page: pushes like these that have no entry, because rejections are recorded at a bounded rate.
   * Undefined if the filter asks for what is not counted.
   */
  readonly notRecorded: number | undefined;
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

/** The matters that a source names. */
export interface MatterList {
  names(externalId: string): boolean;
  /** Each once. */
  ids(): Iterable<string>;
}

export type OpenHere = Pick<Matter, 'externalId' | 'bizStatus' | 'title' | 'sourceUpdatedAt'>;

export interface MatterSource {
  /** Deleted ones too. */
  find(key: MatterKey): Promise<MatterView | undefined>;
  /** Deleted ones too, in any order. @param externalIds at most 500 */
  byKeys(systemCode: string, externalIds: readonly string[]): AsyncIterable<Matter>;
  /** What is open here and not in the list, by external id. */
  orphans(systemCode: string, list: MatterList): AsyncIterable<OpenHere>;
  /** Of some usernames, those that no enabled user of the portal has. */
  unknownUsers(usernames: readonly string[]): Promise<readonly string[]>;
}

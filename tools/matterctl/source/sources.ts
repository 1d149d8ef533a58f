/**
 * The sources from which commands read the push log and the matters: the database, or the signed queries of a service.
 * The commands do not know which of the two they use.
 */

import type { Matter } from '../../../src/domain/matter';
import type { EntryView, OperatorEntryView } from '../../../src/protocol/log-entry';
import type { Diagnosis } from '../../../src/protocol/log-page';
import type { MatterAnswer } from '../../../src/protocol/matter-view';
import type { MatterKey } from '../../../src/storage/ledger';
import type { LogFilter, LogOrder, PageOptions } from '../../../src/storage/push-log';

export interface Sources {
  readonly log: LogSource;
  readonly matters: MatterSource;
}

/** An entry. The fields that only operators may see are absent if a client reads it. */
export type ShownEntry = EntryView & Partial<OperatorEntryView>;

export interface EntryPage {
  /** A page may have fewer entries than its limit, or none, and still not be the last page. */
  readonly entries: readonly ShownEntry[];
  /** `after` of the next page; undefined for the last page. */
  readonly next: string | undefined;
  /** Time of receipt that the search has reached, epoch milliseconds; undefined if it is unknown. */
  readonly place: number | undefined;
  /**
   * In the first page: the number of rejected pushes that match the filter and have no entry, because the rate of such
   * entries is limited. Undefined in other pages, and if the push counts cannot answer the filter.
   */
  readonly notRecorded: number | undefined;
}

/** Everything that the push log has about one push. */
export interface EntryDetail {
  readonly view: ShownEntry;
  /** Present if the signature was rejected. */
  readonly diagnosis: Diagnosis | undefined;
  /** Undefined if the command did not request it; null if it is not stored. */
  readonly body: string | null | undefined;
}

export interface LogSource {
  /** Whether its entries have the fields that only operators may see. */
  readonly ofOperators: boolean;
  /** Reads one page. `attempt` of its entries may be null; `numbered` sets it. */
  page(filter: LogFilter, options: PageOptions): Promise<EntryPage>;
  /** All entries that match a filter, read as the command consumes them. `attempt` may be null as in `page`. */
  all(filter: LogFilter, order?: LogOrder): AsyncIterable<ShownEntry>;
  /** The same entries in the same order, with the numbers of their attempts. */
  numbered(entries: AsyncIterable<ShownEntry>): AsyncIterable<ShownEntry>;
  detail(requestId: string, options: { readonly body: boolean }): Promise<EntryDetail | undefined>;
}

/** The external ids that a file of the source system contains. */
export interface MatterList {
  /** Whether the file contains this id. */
  names(externalId: string): boolean;
  /** Each id once. */
  ids(): Iterable<string>;
}

export type OpenHere = Pick<Matter, 'externalId' | 'bizStatus' | 'title' | 'sourceUpdatedAt'>;

export interface MatterSource {
  /** Finds one matter, even if it is deleted. */
  find(key: MatterKey): Promise<MatterAnswer | undefined>;
  /** Finds matters, including deleted ones, in no defined order. @param externalIds at most 500 */
  byKeys(systemCode: string, externalIds: readonly string[]): AsyncIterable<Matter>;
  /** The open matters of the ledger that are not in the list, sorted by external id. */
  orphans(systemCode: string, list: MatterList): AsyncIterable<OpenHere>;
  /** The usernames without an enabled portal user. */
  unknownUsers(usernames: readonly string[]): Promise<readonly string[]>;
}

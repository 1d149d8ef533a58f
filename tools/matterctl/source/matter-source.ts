/** Where commands read matters: from the database, or from the signed queries of a service. */

import type { Matter } from '../../../src/domain/matter';
import type { MatterView } from '../../../src/protocol/matter-view';
import type { MatterKey } from '../../../src/storage/ledger/matters';

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

/** What `matters/query` asks the ledger for, and what a reading of it finds. */
import type { MatterView } from '../protocol/matter-view';
import type { ChangePosition } from '../storage/ledger/changed-matters';
import type { MatterFilter } from '../storage/ledger/search-matters';

export interface ChangesQuery extends MatterFilter {
  /** Epoch milliseconds. */
  readonly updatedFrom?: number | undefined;
  readonly updatedTo?: number | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What a page holds, and where the next one begins; undefined: there is none. */
export interface Found {
  readonly matters: readonly MatterView[];
  readonly next: ChangePosition | undefined;
}

/** What the queries about matters answer with. */
import type { MatterView } from './matter-view';

export interface GotMatters {
  /** In the order asked; what was asked twice stands once. */
  readonly matters: MatterView[];
  readonly missing: string[];
}

export interface ChangesPage {
  readonly matters: MatterView[];
  /** null: this was the last page. A page may be short, or empty, and not be the last. */
  readonly nextCursor: string | null;
  /** ISO-8601: `updatedFrom` of the next query, so that nothing is missed in between. */
  readonly watermark: string;
}

/** What the ledger has; instants are ISO-8601 UTC. */
export interface HeldView {
  readonly matterId: string;
  readonly bizStatus: string;
  readonly externalStatusCode: string | null;
  readonly sourceUpdatedAt: string | null;
  readonly deleted: boolean;
}

export interface MatterDiff {
  readonly compared: number;
  readonly equal: number;
  /** Of the lines that differ, in the order sent. */
  readonly differences: {
    readonly externalId: string;
    readonly differences: readonly MatterDifference[];
    readonly here: HeldView | null;
  }[];
}

/**
 * MISSING: not here. DELETED: deleted here only. NOT_DELETED: deleted there only. STALE_HERE: our
 * `sourceUpdatedAt` is older. NEWER_HERE: ours is newer. STATUS_DIFFERS: `bizStatus` or
 * `externalStatusCode` is another one.
 */
export type MatterDifference =
  | 'MISSING'
  | 'DELETED'
  | 'NOT_DELETED'
  | 'STALE_HERE'
  | 'NEWER_HERE'
  | 'STATUS_DIFFERS';

export interface Digest {
  readonly count: number;
  /** 16 lower-case hex digits. */
  readonly hash: string;
}

export interface DigestBucket extends Digest {
  readonly bizType: string | null;
  /** yyyy-MM-dd; null: the matter has no `sourceUpdatedAt`. */
  readonly day: string | null;
}

export interface MatterDigest {
  /** The zone of the days. */
  readonly timeZone: string;
  readonly total: Digest;
  readonly buckets: readonly DigestBucket[];
}

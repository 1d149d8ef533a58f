/** `push-logs/failures`: which pushes failed, why, and whether they are mended. */
import { z } from 'zod';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans } from './json-schema';
import { cursor, oneOrMoreWords, orderedWindow, pageSize } from './query-body';

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function failuresSchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone));
  const body = z.object({
    from: instant,
    to: instant,
    reason: oneOrMoreWords,
    stillFailed: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
    limit: pageSize(MAX_ROWS),
    cursor,
  });
  return orderedWindow(body, 'from', 'to');
}

const MAX_ROWS = 500;

/** `data` of push-logs/failures: of the failures that this page looked at. Instants are ISO-8601 in UTC. */
export interface Failures {
  readonly totals: FailureTotals;
  /** The largest first. A push with several fields is counted in the group of each. */
  readonly groups: readonly FailureGroup[];
  /** Groups that there are besides, where they are too many. */
  readonly moreGroups: number;
  /** The last failed first. */
  readonly rows: readonly FailedRow[];
  /** Whether nothing is left to look at: the same as no `nextCursor`. */
  readonly complete: boolean;
  readonly nextCursor: string | null;
  /** Failed pushes of the whole window and of these reasons that have no entry in the log. */
  readonly notRecorded: number;
  /** What was received before is not in the log any more. */
  readonly keptSince: string;
}

/** A push without a matter counts by its key, or, where it has none, alone. */
export interface FailureTotals {
  readonly pushes: number;
  readonly matters: number;
  /** Matters that no later push has mended. */
  readonly stillFailed: number;
}

export interface FailureGroup extends FailureTotals {
  readonly reason: string;
  /** Of the problem, list places left out (`parties[].username`); null: of no field. */
  readonly field: string | null;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** The newest ones. */
  readonly samples: readonly FailureSample[];
}

export interface FailureSample {
  readonly requestId: string;
  readonly externalId: string | null;
}

/** A matter (or a key, or a push that has neither) with its last failure. */
export interface FailedRow {
  readonly requestId: string;
  readonly clientId: string;
  readonly operation: string;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
  readonly reason: string;
  readonly fields: readonly string[];
  /** Failed pushes of it that were looked at. */
  readonly failures: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** The first push of it after that failure that was accepted; null: there is none. */
  readonly mended: Mended | null;
}

export interface Mended {
  readonly requestId: string;
  readonly at: string;
  /** STALE_IGNORED too: the ledger has something newer. */
  readonly outcome: string;
}

/**
 * Expected matters: the values that a file of the source system states for its matters. The comparison of the file with
 * the ledger is a "reconciliation". Pure. The console in `browser/console` imports this file too.
 */
import { CONTENT_FIELDS, type Matter } from '../../domain/matter';
import type { ExpectedFields } from '../compare';

/** A line of the file. The line can state only some fields of its matter. */
export interface Row {
  readonly kind: 'row';
  readonly expected: ExpectedFields;
  /**
   * The fields of PUSHED_FIELDS that the line states. `deadlineAt` is converted to the form that the service reads; the
   * other values are unchanged.
   */
  readonly pushed: Readonly<Record<string, unknown>>;
  /** `pushed.deadlineAt` in epoch milliseconds. */
  readonly deadlineAt?: number | null;
  /** The usernames in the column of assignees. Exactly these users should be ASSIGNEEs of the matter. */
  readonly assignees?: readonly string[];
  /**
   * Precision of the times in milliseconds, for example 60,000 if a spreadsheet has left out the seconds. Absent: exact
   * to the millisecond.
   */
  readonly precisions?: { readonly sourceUpdatedAt?: number; readonly deadlineAt?: number };
}

/** A whole matter, computed from a file of pushes: the result of all pushes of this matter. */
export interface FoldedMatter {
  readonly kind: 'folded';
  readonly expected: Matter;
}

/** The values that a file states for one matter. */
export type ExpectedMatter = Row | FoldedMatter;

/**
 * Fields of a line that are not in ExpectedFields. The comparison uses these fields, and a push that corrects the
 * ledger contains these fields.
 */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
  'removeParties',
]);

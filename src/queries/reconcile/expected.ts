/**
 * Expected matters: the values that a file of the source system states for its matters. The console (`browser/console`)
 * bundles this file, so this file must run in a browser.
 */
import { CONTENT_FIELDS, type Matter } from '../../domain/matter';
import type { ExpectedFields } from '../compare';

/** A line of the file, with some or all fields of its matter. */
export interface Row {
  readonly kind: 'row';
  readonly expected: ExpectedFields;
  /** The fields of PUSHED_FIELDS in the line. Only `deadlineAt` is converted, to the form that the service reads. */
  readonly pushed: Readonly<Record<string, unknown>>;
  /** `pushed.deadlineAt` in epoch milliseconds. */
  readonly deadlineAt?: number | null;
  /** The usernames of all ASSIGNEEs that the matter should have. */
  readonly assignees?: readonly string[];
  /** In milliseconds, for example 60,000 for times without seconds; absent for exact times. */
  readonly precisions?: { readonly sourceUpdatedAt?: number; readonly deadlineAt?: number };
}

/** The result of all pushes of one matter in a file of pushes. */
export interface FoldedMatter {
  readonly kind: 'folded';
  readonly expected: Matter;
}

export type ExpectedMatter = Row | FoldedMatter;

/** Fields of a line that are not in ExpectedFields; a push that corrects the ledger contains these fields. */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
  'removeParties',
]);

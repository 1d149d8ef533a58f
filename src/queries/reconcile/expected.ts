/** The matters in a file of the source system. This module must run in a browser (`browser/console`). */
import { CONTENT_FIELDS, type Matter } from '../../domain/matter';
import type { ExpectedFields } from '../compare';

/** A line of the file: some or all fields of one matter. */
export interface Row {
  readonly kind: 'row';
  readonly expected: ExpectedFields;
  /** The fields of the line that are in PUSHED_FIELDS. */
  readonly pushed: Readonly<Record<string, unknown>>;
  /** `pushed.deadlineAt` in epoch milliseconds. */
  readonly deadlineAt?: number | null;
  /** The usernames of all ASSIGNEEs that the matter should have. */
  readonly assignees?: readonly string[];
  /** Precisions in milliseconds; absent for an exact time. */
  readonly precisions?: { readonly sourceUpdatedAt?: number; readonly deadlineAt?: number };
}

/** The result of all pushes of one matter in a file of pushes. */
export interface FoldedMatter {
  readonly kind: 'folded';
  readonly expected: Matter;
}

export type ExpectedMatter = Row | FoldedMatter;

/** Fields that a correcting push can contain in addition to `ExpectedFields`. */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
  'removeParties',
]);

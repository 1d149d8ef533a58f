/** What a file says that matters should be, whatever its form: pure. Served to the console too. */
import { CONTENT_FIELDS, type Matter } from '../../domain/matter';
import type { ExpectedFields } from '../compare';

/** Fields of one line, as far as it states them. */
export interface Row {
  readonly kind: 'row';
  readonly expected: ExpectedFields;
  /** The stated ones of PUSHED_FIELDS, as they stand in the file; times in the form that the service reads. */
  readonly pushed: Readonly<Record<string, unknown>>;
  /** Of `pushed.deadlineAt`, epoch milliseconds. */
  readonly deadlineAt?: number | null;
  /** Logins in the column of assignees: exactly these are ASSIGNEE. */
  readonly assignees?: readonly string[];
  /** Milliseconds that a time of the file leaves open: a spreadsheet writes no seconds. Absent: none. */
  readonly steps?: { readonly sourceUpdatedAt?: number; readonly deadlineAt?: number };
}

/** A whole matter: what all pushes of it come to. */
export interface Folded {
  readonly kind: 'folded';
  readonly expected: Matter;
}

/** What a file says that a matter of its system should be. */
export type ExpectedMatter = Row | Folded;

/** Fields of a row besides those of `expected`: what an upsert takes. All of them are compared. */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
]);

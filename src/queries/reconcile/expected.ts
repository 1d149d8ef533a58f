/** What a file says that matters should be, whatever its form: pure. Served to the console too. */
import { CONTENT_FIELDS, type Matter } from '../../domain/matter';
import type { ExpectedFields } from '../compare';

/** Fields of one line, as far as it states them. */
export interface Row {
  readonly kind: 'row';
  readonly expected: ExpectedFields;
  /** The stated ones of PUSHED_FIELDS, as they stand in the file. */
  readonly pushed: Readonly<Record<string, unknown>>;
}

/** A whole matter: what all pushes of it come to. */
export interface Folded {
  readonly kind: 'folded';
  readonly expected: Matter;
}

/** What a file says that a matter of its system should be. */
export type ExpectedMatter = Row | Folded;

/** Fields of a row that only a re-push uses: what an upsert takes and nobody compares. */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
]);

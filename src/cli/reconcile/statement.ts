/** What a file says of the matters of its system. */

import type { Matter } from '../../domain/matter';
import { CONTENT_FIELDS } from '../../domain/restate';
import type { Believed } from '../../reconcile/compare';

/** Fields of one line, as far as it states them. */
export interface Row {
  readonly kind: 'row';
  readonly believed: Believed;
  /** The stated ones of PUSHED_FIELDS, as they stand in the file. */
  readonly pushed: Readonly<Record<string, unknown>>;
}

/** A whole matter: what all pushes of it come to. */
export interface Folded {
  readonly kind: 'folded';
  readonly believed: Matter;
}

export type Statement = Row | Folded;

/** Fields of a row that only a re-push uses: what an upsert takes and nobody compares. */
export const PUSHED_FIELDS: ReadonlySet<string> = new Set([
  'matterType',
  'title',
  ...CONTENT_FIELDS.filter((field) => field !== 'externalStatusCode'),
  'parties',
  'replaceParties',
]);

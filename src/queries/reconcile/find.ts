/** How one matter of the file differs from the ledger's, with both sides of each difference. */

import { type ContentField, contentDifferences, nameOf } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { MatterDifference } from '../../protocol/comparison';
import { compare } from '../compare';
import type { ExpectedMatter } from './expected';

export type Finding = MatterDifference | 'CONTENT_DIFFERS';

/** Values as JSON; null: there is no such matter on this side. */
export type Side = Readonly<Record<string, unknown>> | null;

export interface Found {
  readonly finding: Finding;
  readonly yours: Side;
  readonly here: Side;
}

type ShownField = ContentField | 'bizStatus' | 'externalStatusCode' | 'sourceUpdatedAt' | 'deleted';
type Fields = Partial<Pick<Matter, ShownField>>;

const STATUS = ['bizStatus', 'externalStatusCode'] as const;
const SHOWN: Readonly<Record<MatterDifference, readonly ShownField[]>> = {
  MISSING: [...STATUS, 'sourceUpdatedAt'],
  DELETED: ['deleted'],
  NOT_DELETED: ['deleted'],
  STALE_HERE: ['sourceUpdatedAt'],
  NEWER_HERE: ['sourceUpdatedAt'],
  STATUS_DIFFERS: STATUS,
};

/** @returns nothing where both say the same, as far as the file says something */
export function find(expectedMatter: ExpectedMatter, held: Matter | undefined): Found[] {
  const yours: Fields = {
    ...expectedMatter.expected,
    deleted: expectedMatter.expected.deleted ?? false,
  };
  const tell = (finding: Finding, fields: readonly ShownField[]): Found => {
    return { finding, yours: toSide(yours, fields), here: held ? toSide(held, fields) : null };
  };
  const isShown = (field: ShownField) =>
    yours[field] !== undefined && (!held || yours[field] !== held[field]);
  const found = compare(expectedMatter.expected, held).map((difference) =>
    tell(difference, SHOWN[difference].filter(isShown)),
  );
  // What a deleted matter says is of no account.
  if (expectedMatter.kind === 'row' || !held || held.deleted || expectedMatter.expected.deleted)
    return found;
  const content = contentDifferences(expectedMatter.expected, held);
  return content.length === 0 ? found : [...found, tell('CONTENT_DIFFERS', content)];
}

/** Some fields of a matter as JSON; instants are ISO-8601 UTC, parties `ROLE username`. */
export function toSide(fields: Fields, names: readonly ShownField[]): NonNullable<Side> {
  return Object.fromEntries(names.map((name) => [name, toJson(name, fields[name] ?? null)]));
}

function toJson(name: ShownField, value: Fields[ShownField] | null): unknown {
  if (typeof value === 'number') return new Date(value).toISOString();
  if (name !== 'parties' || !Array.isArray(value)) return value;
  return value.map(nameOf).sort();
}

/** How one matter of the file differs from the ledger's, with both sides of each difference. */

import { type ContentField, contentDifferences, nameOf } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { MatterDifference } from '../../protocol/comparison';
import { compare } from '../compare';
import type { Doubt, DoubtKind } from './doubts';
import type { ExpectedMatter } from './expected';
import { contentOf, rowDifferences, settled } from './row-content';

export type Finding = MatterDifference | 'CONTENT_DIFFERS' | DoubtKind;

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
export function find(stated: ExpectedMatter, held: Matter | undefined): Found[] {
  const expectedMatter = withSettledTime(stated, held);
  const isRow = expectedMatter.kind === 'row';
  const rowContent = isRow ? contentOf(expectedMatter, held) : {};
  const yours: Fields = {
    ...rowContent,
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
  if (!held || held.deleted || expectedMatter.expected.deleted) return found;
  const content = isRow
    ? rowDifferences(rowContent, held)
    : contentDifferences(expectedMatter.expected, held);
  return content.length === 0 ? found : [...found, tell('CONTENT_DIFFERS', content)];
}

/** In place of MISSING: a matter that is probably here under another id. */
export function foundDoubt({ expected }: ExpectedMatter, { kind, meant }: Doubt): Found {
  const yours = { externalId: expected.externalId };
  return { finding: kind, yours, here: meant === undefined ? null : { externalId: meant } };
}

/**
 * A spreadsheet writes no seconds. Where the ledger's time lies within what the file's leaves open, they are the same:
 * every matter would differ otherwise, and a push with the file's time would be stale.
 */
export function withSettledTime(matter: ExpectedMatter, held: Matter | undefined): ExpectedMatter {
  if (matter.kind === 'folded') return matter;
  const { expected, steps } = matter;
  const { sourceUpdatedAt: theirs } = expected;
  const at = settled(theirs, held?.sourceUpdatedAt, steps?.sourceUpdatedAt);
  return at === theirs || at === undefined
    ? matter
    : { ...matter, expected: { ...expected, sourceUpdatedAt: at } };
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

/** Compares one matter of a file with the ledger, and shows the two values of each difference. */

import { type ContentField, contentDifferences } from '../../domain/full-upsert';
import { type Matter, partyKey } from '../../domain/matter';
import type { MatterDifference } from '../../protocol/matter-answers';
import { compareWithLedger } from '../compare';
import type { Doubt, DoubtKind } from './doubts';
import type { ExpectedMatter } from './expected';
import { contentOf, ledgerTimeIfEqual, rowDifferences } from './row-content';

export type MatterFinding = MatterDifference | 'CONTENT_DIFFERS' | DoubtKind;

/** Values of a matter in the file or in the ledger, as JSON; null if the ledger does not have the matter. */
export type SideValues = Readonly<Record<string, unknown>> | null;

export interface FoundDifference {
  readonly finding: MatterFinding;
  /** The values of the file. */
  readonly yours: SideValues;
  /** The values of the ledger. */
  readonly here: SideValues;
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

export function findDifferences(
  stated: ExpectedMatter,
  stored: Matter | undefined,
): FoundDifference[] {
  const expectedMatter = withLedgerTime(stated, stored);
  const isRow = expectedMatter.kind === 'row';
  const rowContent = isRow ? contentOf(expectedMatter, stored) : {};
  const yours: Fields = {
    ...rowContent,
    ...expectedMatter.expected,
    deleted: expectedMatter.expected.deleted ?? false,
  };
  const describe = (finding: MatterFinding, fields: readonly ShownField[]): FoundDifference => {
    return { finding, yours: toSide(yours, fields), here: stored ? toSide(stored, fields) : null };
  };
  const isShown = (field: ShownField) =>
    yours[field] !== undefined && (!stored || yours[field] !== stored[field]);
  const found = compareWithLedger(expectedMatter.expected, stored).map((difference) =>
    describe(difference, SHOWN[difference].filter(isShown)),
  );
  if (!stored || stored.deleted || expectedMatter.expected.deleted) return found;
  const content = isRow
    ? rowDifferences(rowContent, stored)
    : contentDifferences(expectedMatter.expected, stored);
  return content.length === 0 ? found : [...found, describe('CONTENT_DIFFERS', content)];
}

/** Makes the difference that a matter with a doubtful id gets instead of the differences from `findDifferences`. */
export function doubtDifference(
  { expected }: ExpectedMatter,
  { kind, probableId }: Doubt,
): FoundDifference {
  const yours = { externalId: expected.externalId };
  return {
    finding: kind,
    yours,
    here: probableId === undefined ? null : { externalId: probableId },
  };
}

/** Takes `sourceUpdatedAt` from the ledger if both times are equal within the precision of the file. */
export function withLedgerTime(matter: ExpectedMatter, stored: Matter | undefined): ExpectedMatter {
  if (matter.kind === 'folded') return matter;
  const { expected, precisions } = matter;
  const { sourceUpdatedAt: theirs } = expected;
  const at = ledgerTimeIfEqual(theirs, stored?.sourceUpdatedAt, precisions?.sourceUpdatedAt);
  return at === theirs || at === undefined
    ? matter
    : { ...matter, expected: { ...expected, sourceUpdatedAt: at } };
}

export function toSide(fields: Fields, names: readonly ShownField[]): NonNullable<SideValues> {
  return Object.fromEntries(names.map((name) => [name, toJson(name, fields[name] ?? null)]));
}

function toJson(name: ShownField, value: Fields[ShownField] | null): unknown {
  if (typeof value === 'number') return new Date(value).toISOString();
  if (name !== 'parties' || !Array.isArray(value)) return value;
  return value.map(partyKey).sort();
}

/** Makes pushes that correct the ledger with the values of a file. */

import { toFullUpsert } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { OperationName } from '../../domain/operation';
import type { DoubtKind } from './doubts';
import type { ExpectedMatter, FoldedMatter, Row } from './expected';
import { type MatterFinding, withLedgerTime } from './find';
import { contentOf, statedParties } from './row-content';

export interface RepushLine {
  readonly op: OperationName;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The reason why no push is made for the matter:
 *
 * - NEWER_HERE: the matter is newer in the ledger than in the file.
 * - ONLY_NEWER: the matter is newer in the ledger, but all other compared fields are equal.
 * - NEEDS_CONTENT: the file lacks fields that a push needs.
 * - DAMAGED_ID and LOOK_ALIKE: the id is doubtful, so the ledger probably has the matter under another id.
 */
export type Obstacle = 'NEWER_HERE' | 'ONLY_NEWER' | 'NEEDS_CONTENT' | DoubtKind;

export interface RepushOptions {
  /** Whether to correct matters that are newer in the ledger than in the file. */
  readonly overwriteNewer: boolean;
  /** Converts an instant to the form of `deadlineAt`. */
  readonly formatLocal: (instant: number) => string;
  /** Default if the row and the ledger contain no matter type. */
  readonly matterType?: string | undefined;
}

export interface MatterMismatch {
  readonly expectedMatter: ExpectedMatter;
  readonly stored: Matter | undefined;
  readonly findings: readonly MatterFinding[];
}

export function createRepushLine(
  { expectedMatter: stated, stored, findings }: MatterMismatch,
  options: RepushOptions,
): RepushLine | Obstacle {
  const doubt = findings.find((finding) => finding === 'DAMAGED_ID' || finding === 'LOOK_ALIKE');
  if (doubt) return doubt;
  const expectedMatter = withLedgerTime(stated, stored);
  const isNewer = isNewerHere(expectedMatter, stored);
  if (isNewer && !options.overwriteNewer) return 'NEWER_HERE';
  if (findings.every((finding) => finding === 'NEWER_HERE')) return 'ONLY_NEWER';
  const stamp = (isNewer ? stored : expectedMatter.expected)?.sourceUpdatedAt ?? undefined;
  if (expectedMatter.expected.deleted) {
    return { op: 'delete', body: bodyOf(expectedMatter, {}, stamp) };
  }
  if (expectedMatter.kind === 'folded') return upsertOf(expectedMatter, stamp, options);
  const line = rowLine(expectedMatter, stored, { stamp, findings, options });
  return line ?? 'NEEDS_CONTENT';
}

/** A null time in the file counts as older than every other time. */
export function isNewerHere({ expected }: ExpectedMatter, stored: Matter | undefined): boolean {
  const { sourceUpdatedAt: theirs } = expected;
  const ours = stored?.sourceUpdatedAt ?? null;
  return theirs !== undefined && ours !== null && (theirs === null || theirs < ours);
}

function upsertOf(
  { expected }: FoldedMatter,
  stamp: number | undefined,
  { formatLocal }: RepushOptions,
): RepushLine {
  const matter = { ...expected, sourceUpdatedAt: stamp ?? null };
  return { op: 'upsert', body: { ...toFullUpsert(matter, formatLocal) } };
}

interface RowCorrection {
  /** `sourceUpdatedAt` of the push if the row has a title. Epoch milliseconds. */
  readonly stamp: number | undefined;
  readonly findings: readonly MatterFinding[];
  readonly options: RepushOptions;
}

/** If the row has no title, the push keeps the time of the ledger. */
function rowLine(
  row: Row,
  stored: Matter | undefined,
  { stamp, findings, options }: RowCorrection,
): RepushLine | undefined {
  const { bizStatus, externalStatusCode } = row.expected;
  const { externalStatusLabel } = row.pushed;
  const status = { bizStatus, externalStatusCode };
  const isWhole = row.pushed.title != null;
  const matterType = row.pushed.matterType ?? stored?.matterType ?? options.matterType;
  const title = row.pushed.title ?? stored?.title;
  const isHere = stored !== undefined && !stored.deleted;
  const correctsContent = isHere && findings.includes('CONTENT_DIFFERS');
  if ((isWhole || correctsContent) && matterType != null && title != null) {
    const parties = row.assignees && statedParties(row, stored);
    const isSameDeadline = stored && contentOf(row, stored).deadlineAt === stored.deadlineAt;
    const content = {
      ...{ ...row.pushed, matterType, title },
      // Leaves out an equal deadline. A file without seconds would otherwise remove the seconds in the ledger.
      ...(isSameDeadline && { deadlineAt: undefined }),
      ...(parties && { parties: parties.parties, replaceParties: parties.replaces }),
      // The service rejects `removeParties` together with `replaceParties`.
      ...(parties?.replaces && { removeParties: undefined }),
      ...status,
    };
    const time = isWhole ? stamp : (stored?.sourceUpdatedAt ?? undefined);
    return { op: 'upsert', body: bodyOf(row, content, time) };
  }
  if (!isHere || !findings.includes('STATUS_DIFFERS')) return undefined;
  const kept = stored.sourceUpdatedAt ?? undefined;
  return { op: 'status', body: bodyOf(row, { ...status, externalStatusLabel }, kept) };
}

function bodyOf({ expected }: ExpectedMatter, fields: object, stamp: number | undefined) {
  const { externalId } = expected;
  const sourceUpdatedAt = stamp === undefined ? undefined : new Date(stamp).toISOString();
  return { externalId, ...fields, sourceUpdatedAt };
}

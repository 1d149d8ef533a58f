/** Makes the push that corrects a matter of the ledger by the file, or returns the obstacle to such a push. Pure. */

import { toFullUpsert } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { OperationName } from '../../domain/operation';
import type { DoubtKind } from './doubts';
import type { ExpectedMatter, FoldedMatter, Row } from './expected';
import { type MatterFinding, withLedgerTime } from './find';
import { contentOf, statedParties } from './row-content';

/** A line of a push file. */
export interface RepushLine {
  readonly op: OperationName;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The obstacle that prevents a push from correcting the matter. NEWER_HERE: the push would be ignored as stale.
 * ONLY_NEWER: only the time differs, and a push cannot set the time of a matter back. NEEDS_CONTENT: the file lacks
 * fields that a push needs. DAMAGED_ID and LOOK_ALIKE: the ledger probably has the matter under another id, and an
 * upsert would create a second matter.
 */
export type Obstacle = 'NEWER_HERE' | 'ONLY_NEWER' | 'NEEDS_CONTENT' | DoubtKind;

export interface RepushOptions {
  /**
   * True: also correct a matter that is newer in the ledger. The push then has the time of the ledger, so it is not
   * stale.
   */
  readonly overwriteNewer: boolean;
  /** Converts an instant to the form of `deadlineAt`. */
  readonly formatLocal: (instant: number) => string;
  /** For a matter that is not in the ledger and whose row does not state a type. */
  readonly matterType?: string | undefined;
}

/** A matter that differs between the file and the ledger, and its differences. */
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

/**
 * Whether a push with the time of the file would be stale. If the file has no time, the push has none and is not stale.
 */
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
  readonly stamp: number | undefined;
  readonly findings: readonly MatterFinding[];
  readonly options: RepushOptions;
}

/**
 * The push for a row. If the row does not state a type or a title, the push has that of the ledger.
 *
 * A row without a title does not state the whole matter. Its push has the time of the ledger and not of the row. With
 * the time of the row, a resend of an earlier lost push would be stale, and its content would be missing unnoticed.
 */
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
      // The file may have left out the seconds, so an equal deadline is not sent.
      ...(isSameDeadline && { deadlineAt: undefined }),
      ...(parties && { parties: parties.parties, replaceParties: parties.replaces }),
      // The list is complete without the removed parties, and the service rejects both together.
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

/** The body of a push. JSON leaves out undefined fields. */
function bodyOf({ expected }: ExpectedMatter, fields: object, stamp: number | undefined) {
  const { externalId } = expected;
  const sourceUpdatedAt = stamp === undefined ? undefined : new Date(stamp).toISOString();
  return { externalId, ...fields, sourceUpdatedAt };
}

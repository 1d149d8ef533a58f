/** What has to be pushed so that the ledger says what the file says; or why nothing can. */

import { toFullUpsert } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { OperationName } from '../../domain/operation';
import type { DoubtKind } from './doubts';
import type { ExpectedMatter, Folded, Row } from './expected';
import { type Finding, withSettledTime } from './find';
import { contentOf, statedParties } from './row-content';

/** A line of a push file. */
export interface RepushLine {
  readonly op: OperationName;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * NEWER_HERE: the push would be ignored as stale. ONLY_NEWER: nothing but the time differs, which a
 * push cannot set back. NEEDS_CONTENT: the file lacks what would make a matter of it. DAMAGED_ID and LOOK_ALIKE: the
 * matter is probably here under another id, and an upsert would make a second one.
 */
export type Obstacle = 'NEWER_HERE' | 'ONLY_NEWER' | 'NEEDS_CONTENT' | DoubtKind;

export interface RepushOptions {
  /** Push over what is newer here, with its own time: an equal time counts as newer. */
  readonly overwriteNewer: boolean;
  /** Writes an instant as `deadlineAt`. */
  readonly formatLocal: (instant: number) => string;
  /** Of a matter that is not here and whose row does not say it. */
  readonly matterType?: string | undefined;
}

/** A matter that differs, and in what. */
export interface Differing {
  readonly expectedMatter: ExpectedMatter;
  readonly held: Matter | undefined;
  readonly findings: readonly Finding[];
}

export function repush(
  { expectedMatter: stated, held, findings }: Differing,
  options: RepushOptions,
): RepushLine | Obstacle {
  const doubt = findings.find((finding) => finding === 'DAMAGED_ID' || finding === 'LOOK_ALIKE');
  if (doubt) return doubt;
  const expectedMatter = withSettledTime(stated, held);
  const isNewer = isNewerHere(expectedMatter, held);
  if (isNewer && !options.overwriteNewer) return 'NEWER_HERE';
  if (findings.every((finding) => finding === 'NEWER_HERE')) return 'ONLY_NEWER';
  const stamp = (isNewer ? held : expectedMatter.expected)?.sourceUpdatedAt ?? undefined;
  if (expectedMatter.expected.deleted) {
    return { op: 'delete', body: keyed(expectedMatter, {}, stamp) };
  }
  if (expectedMatter.kind === 'folded') return upsertOf(expectedMatter, stamp, options);
  const line = rowLine(expectedMatter, held, { stamp, findings, options });
  return line ?? 'NEEDS_CONTENT';
}

/** Whether a push with the file's time would be stale; a file without times pushes without. */
export function isNewerHere({ expected }: ExpectedMatter, held: Matter | undefined): boolean {
  const { sourceUpdatedAt: theirs } = expected;
  const ours = held?.sourceUpdatedAt ?? null;
  return theirs !== undefined && ours !== null && (theirs === null || theirs < ours);
}

function upsertOf(
  { expected }: Folded,
  stamp: number | undefined,
  { formatLocal }: RepushOptions,
): RepushLine {
  const matter = { ...expected, sourceUpdatedAt: stamp ?? null };
  return { op: 'upsert', body: { ...toFullUpsert(matter, formatLocal) } };
}

interface RowMending {
  readonly stamp: number | undefined;
  readonly findings: readonly Finding[];
  readonly options: RepushOptions;
}

/**
 * What a row does not say of its type and title is taken from the ledger. A row without a title is not all that its
 * system knows of the matter. What it states is mended, if it differs, with the ledger's own time: with the row's, a
 * push that was lost in between would count as stale for ever, and the content that is missing would never be noticed.
 */
function rowLine(
  row: Row,
  held: Matter | undefined,
  { stamp, findings, options }: RowMending,
): RepushLine | undefined {
  const { bizStatus, externalStatusCode } = row.expected;
  const { externalStatusLabel } = row.pushed;
  const status = { bizStatus, externalStatusCode };
  const isWhole = row.pushed.title != null;
  const matterType = row.pushed.matterType ?? held?.matterType ?? options.matterType;
  const title = row.pushed.title ?? held?.title;
  const isHere = held !== undefined && !held.deleted;
  const mends = isHere && findings.includes('CONTENT_DIFFERS');
  if ((isWhole || mends) && matterType != null && title != null) {
    const parties = row.assignees && statedParties(row, held);
    const isSameDeadline = held && contentOf(row, held).deadlineAt === held.deadlineAt;
    const content = {
      ...{ ...row.pushed, matterType, title },
      // It may be the ledger's without its seconds.
      ...(isSameDeadline && { deadlineAt: undefined }),
      ...(parties && { parties: parties.parties, replaceParties: parties.replaces }),
      ...status,
    };
    const time = isWhole ? stamp : (held?.sourceUpdatedAt ?? undefined);
    return { op: 'upsert', body: keyed(row, content, time) };
  }
  if (!isHere || !findings.includes('STATUS_DIFFERS')) return undefined;
  const kept = held.sourceUpdatedAt ?? undefined;
  return { op: 'status', body: keyed(row, { ...status, externalStatusLabel }, kept) };
}

/** A field that is undefined does not come into the file. */
function keyed({ expected }: ExpectedMatter, fields: object, stamp: number | undefined) {
  const { externalId } = expected;
  const sourceUpdatedAt = stamp === undefined ? undefined : new Date(stamp).toISOString();
  return { externalId, ...fields, sourceUpdatedAt };
}

/** What has to be pushed so that the ledger says what the file says; or why nothing can. */

import { toFullUpsert } from '../../domain/full-upsert';
import type { Matter } from '../../domain/matter';
import type { OperationName } from '../../domain/operation';
import type { ExpectedMatter, Folded, Row } from './expected';
import type { Finding } from './find';

/** A line of a push file. */
export interface RepushLine {
  readonly op: OperationName;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * NEWER_HERE: the push would be ignored as stale. ONLY_NEWER: nothing but the time differs, which a
 * push cannot set back. NEEDS_CONTENT: the file lacks what would make a matter of it.
 */
export type Obstacle = 'NEWER_HERE' | 'ONLY_NEWER' | 'NEEDS_CONTENT';

export interface RepushOptions {
  /** Push over what is newer here, with its own time: an equal time counts as newer. */
  readonly overwriteNewer: boolean;
  /** Writes an instant as `deadlineAt`. */
  readonly formatLocal: (instant: number) => string;
}

/** A matter that differs, and in what. */
export interface Differing {
  readonly expectedMatter: ExpectedMatter;
  readonly held: Matter | undefined;
  readonly findings: readonly Finding[];
}

export function repush(differing: Differing, options: RepushOptions): RepushLine | Obstacle {
  const { expectedMatter, held, findings } = differing;
  const isNewer = isNewerHere(expectedMatter, held);
  if (isNewer && !options.overwriteNewer) return 'NEWER_HERE';
  const stamp = (isNewer ? held : expectedMatter.expected)?.sourceUpdatedAt ?? undefined;
  const line = expectedMatter.expected.deleted
    ? { op: 'delete' as const, body: keyed(expectedMatter, {}, stamp) }
    : expectedMatter.kind === 'folded'
      ? upsertOf(expectedMatter, stamp, options)
      : rowLine(expectedMatter, held, { stamp, findings });
  const mendsNothing = findings.every((finding) => finding === 'NEWER_HERE');
  // An upsert of a row may mend what was not compared.
  const isBlind = expectedMatter.kind === 'row' && line?.op === 'upsert';
  if (mendsNothing && !isBlind) return 'ONLY_NEWER';
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

/**
 * Without type and title there is only a status to set, and only where there is a matter and its
 * status differs. It keeps the ledger's own time: with the row's, a push that was lost in between
 * would count as stale for ever, and nobody would see that its content is missing.
 */
function rowLine(
  row: Row,
  held: Matter | undefined,
  { stamp, findings }: { stamp: number | undefined; findings: readonly Finding[] },
): RepushLine | undefined {
  const { bizStatus, externalStatusCode } = row.expected;
  const { matterType, title, externalStatusLabel } = row.pushed;
  const status = { bizStatus, externalStatusCode };
  if (matterType != null && title != null) {
    return { op: 'upsert', body: keyed(row, { ...row.pushed, ...status }, stamp) };
  }
  if (!held || held.deleted || !findings.includes('STATUS_DIFFERS')) return undefined;
  const kept = held.sourceUpdatedAt ?? undefined;
  return { op: 'status', body: keyed(row, { ...status, externalStatusLabel }, kept) };
}

/** A field that is undefined does not come into the file. */
function keyed({ expected }: ExpectedMatter, fields: object, stamp: number | undefined) {
  const { externalId } = expected;
  const sourceUpdatedAt = stamp === undefined ? undefined : new Date(stamp).toISOString();
  return { externalId, ...fields, sourceUpdatedAt };
}

/** Groups failed pushes for the query `push-logs/failures`. */
import { renderAll } from '../protocol/envelope';
import type { FailedRow, FailureGroup, FailureTotals, Mended } from '../protocol/failures';
import type { Language } from '../protocol/language';
import { isRejectedBatch, type LogEntry } from '../storage/push-log';

/**
 * Failed pushes with the same externalId. Pushes without an externalId have the same client, operation and
 * idempotency key instead (`subjectOf`). A push without externalId and idempotency key is alone.
 */
export interface FailedSubject {
  /** At least one entry, newest first. */
  readonly entries: readonly LogEntry[];
  /** The push that resolved the failure of `entries[0]`; null if unresolved. */
  readonly mended: Mended | null;
}

const MAX_SAMPLES = 3;
/** Maximum groups in an answer. */
const MAX_GROUPS = 200;
const LIST_PLACE = /\[\d+\]/g;

export function subjectOf({ _id, clientId, operation, ...entry }: LogEntry): string {
  const { externalId, idempotencyKey: key } = entry;
  if (externalId !== undefined) return JSON.stringify([externalId]);
  return JSON.stringify(key === undefined ? [null, String(_id)] : [clientId, operation, key]);
}

export const isRejectedBatchSubject = ({ entries: [last] }: FailedSubject) =>
  last !== undefined && isRejectedBatch(last);

/** A rejected batch does not count as still failed. */
export const isStillFailed = (subject: FailedSubject) =>
  subject.mended === null && !isRejectedBatchSubject(subject);

export function totalsOf(subjects: readonly FailedSubject[]): FailureTotals {
  return {
    pushes: subjects.reduce((sum, { entries }) => sum + entries.length, 0),
    matters: subjects.length,
    stillFailed: subjects.filter(isStillFailed).length,
  };
}

export function rowOf({ entries, mended }: FailedSubject, language: Language): FailedRow {
  const [last, first] = [entries[0], entries.at(-1)] as [LogEntry, LogEntry];
  return {
    requestId: String(last._id),
    clientId: last.clientId,
    operation: last.operation,
    externalId: last.externalId ?? null,
    idempotencyKey: last.idempotencyKey ?? null,
    reason: last.result ?? '',
    fields: fieldsOf(last),
    problems: renderAll(last.problems ?? [], language),
    cause: causeOf(entries, language),
    failures: entries.length,
    refusedBatch: isRejectedBatch(last),
    firstSeen: first.receivedAt.toISOString(),
    lastSeen: last.receivedAt.toISOString(),
    mended,
  };
}

/** The last failed upsert is the probable cause of MATTER_NOT_FOUND. */
function causeOf(entries: readonly LogEntry[], language: Language): FailedRow['cause'] {
  if (entries[0]?.result !== 'MATTER_NOT_FOUND') return null;
  const upsert = entries.find(({ operation }) => operation === 'upsert');
  if (!upsert) return null;
  return {
    requestId: String(upsert._id),
    reason: upsert.result ?? '',
    fields: fieldsOf(upsert),
    problems: renderAll(upsert.problems ?? [], language),
  };
}

/**
 * Groups failed pushes by reason and invalid field. A push with several invalid fields is in several groups.
 *
 * @returns the largest groups first
 */
export function groupsOf(subjects: readonly FailedSubject[]): {
  readonly groups: readonly FailureGroup[];
  readonly moreGroups: number;
} {
  const byName = new Map<string, Map<FailedSubject, LogEntry[]>>();
  for (const subject of subjects) {
    for (const entry of subject.entries) {
      const fields = fieldsOf(entry);
      for (const field of fields.length > 0 ? fields : [null]) {
        const name = JSON.stringify([entry.result, field]);
        const group = byName.get(name) ?? new Map<FailedSubject, LogEntry[]>();
        byName.set(name, group);
        group.set(subject, [...(group.get(subject) ?? []), entry]);
      }
    }
  }
  const all = [...byName].map(([name, group]) => toGroup(name, group));
  all.sort((a, b) => b.pushes - a.pushes || (a.lastSeen < b.lastSeen ? 1 : -1));
  return { groups: all.slice(0, MAX_GROUPS), moreGroups: Math.max(0, all.length - MAX_GROUPS) };
}

function toGroup(
  name: string,
  group: ReadonlyMap<FailedSubject, readonly LogEntry[]>,
): FailureGroup {
  const [reason, field] = JSON.parse(name) as [string, string | null];
  const entries = [...group.values()].flat();
  // Request ids ascend in the order of receipt.
  entries.sort((a, b) => (String(a._id) < String(b._id) ? 1 : -1));
  const [newest, oldest] = [entries[0], entries.at(-1)] as [LogEntry, LogEntry];
  const ofGroup = [...group].map(([{ mended }, own]) => ({ entries: own, mended }));
  return {
    reason,
    field,
    ...totalsOf(ofGroup),
    firstSeen: oldest.receivedAt.toISOString(),
    lastSeen: newest.receivedAt.toISOString(),
    samples: entries.slice(0, MAX_SAMPLES).map(({ _id, externalId = null }) => ({
      requestId: String(_id),
      externalId,
    })),
  };
}

function fieldsOf({ problems = [] }: LogEntry): string[] {
  return [...new Set(problems.map(({ field }) => field.replace(LIST_PLACE, '[]')))];
}

/** Failed pushes as they are told: by reason and field, and by matter. */
import type { FailedRow, FailureGroup, FailureTotals, Mended } from '../protocol/failures';
import type { LogEntry } from '../storage/push-log/entry-model';
import { isRefusedBatch } from '../storage/push-log/log-filter';

/** All failures of one matter, or of one key, or one that has neither; the newest first. */
export interface FailedSubject {
  readonly entries: readonly LogEntry[];
  readonly mended: Mended | null;
}

/** Of a group. */
const MAX_SAMPLES = 3;
/** Fields of unknown names may be as many as there are pushes. */
const MAX_GROUPS = 200;
const LIST_PLACE = /\[\d+\]/g;

/** What pushes of one matter have in common: it, else client, operation and key, else nothing. */
export function subjectOf({ _id, clientId, operation, ...entry }: LogEntry): string {
  const { externalId, idempotencyKey: key } = entry;
  if (externalId !== undefined) return JSON.stringify([externalId]);
  return JSON.stringify(key === undefined ? [null, String(_id)] : [clientId, operation, key]);
}

/** A batch that was rejected as a whole, of which nobody can tell whether it was sent again. */
export const isBatch = ({ entries: [last] }: FailedSubject) =>
  last !== undefined && isRefusedBatch(last);

export const isStillFailed = (subject: FailedSubject) =>
  subject.mended === null && !isBatch(subject);

export function totalsOf(subjects: readonly FailedSubject[]): FailureTotals {
  return {
    pushes: subjects.reduce((sum, { entries }) => sum + entries.length, 0),
    matters: subjects.length,
    stillFailed: subjects.filter(isStillFailed).length,
  };
}

export function rowOf({ entries, mended }: FailedSubject): FailedRow {
  const [last, first] = [entries[0], entries.at(-1)] as [LogEntry, LogEntry];
  return {
    requestId: String(last._id),
    clientId: last.clientId,
    operation: last.operation,
    externalId: last.externalId ?? null,
    idempotencyKey: last.idempotencyKey ?? null,
    reason: last.result ?? '',
    fields: fieldsOf(last),
    failures: entries.length,
    refusedBatch: isRefusedBatch(last),
    firstSeen: first.receivedAt.toISOString(),
    lastSeen: last.receivedAt.toISOString(),
    mended,
  };
}

/** @returns the largest first, and how many there are besides */
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
  // Ids are in the order of receipt.
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

/** Each once, without the places in lists. */
function fieldsOf({ problems = [] }: LogEntry): string[] {
  return [...new Set(problems.map(({ field }) => field.replace(LIST_PLACE, '[]')))];
}

/** From a push-log entry to what readers outside see of it. */
import type { EntryView } from '../../protocol/entry-view';
import { renderAll, renderWarnings } from '../../protocol/envelope';
import type { Language } from '../../protocol/language';
import type { LogEntry } from '../../storage/push-log/entry-model';

/** What operators see besides; they read English. */
export interface OperatorEntryView extends EntryView {
  readonly worker: string | null;
  readonly operator: string | null;
}

/** @param attempt see EntryView. @param language what its reader reads */
export function toEntryView(
  entry: LogEntry,
  attempt: number | undefined,
  language: Language,
): EntryView {
  const { state, result = null, stale } = entry;
  const isAccepted = state === 'PERSISTED' || state === 'REPLAYED';
  return {
    requestId: String(entry._id),
    clientId: entry.clientId,
    systemCode: entry.systemCode ?? null,
    operation: entry.operation,
    externalId: entry.externalId ?? null,
    idempotencyKey: entry.idempotencyKey ?? null,
    attempt: attempt ?? null,
    bodyHash: entry.bodyHash,
    bodySize: entry.bodySize,
    secretId: entry.secretId ?? null,
    receivedAt: entry.receivedAt.toISOString(),
    deadlineAt: entry.deadlineAt.toISOString(),
    queuedAt: toIso(entry.queuedAt),
    startedAt: toIso(entry.startedAt),
    settledAt: toIso(entry.settledAt),
    state,
    outcome: isAccepted ? result : null,
    reason: isAccepted ? null : result,
    problems: renderAll(entry.problems ?? [], language),
    warnings: renderWarnings(entry.warnings ?? [], language),
    stale: stale ? { sent: stale.sent.toISOString(), stored: stale.stored.toISOString() } : null,
    matterId: entry.matterId === undefined ? null : String(entry.matterId),
    revision: entry.revision ?? null,
    changes: entry.changes ?? [],
    duplicateOf: toText(entry.duplicateOf),
    resentFrom: toText(entry.resentFrom),
    mark: entry.mark ?? null,
    traceId: entry.traceId ?? null,
  };
}

export function toOperatorEntryView(
  entry: LogEntry,
  attempt: number | undefined,
): OperatorEntryView {
  const { worker = null, operator = null } = entry;
  return { ...toEntryView(entry, attempt, 'en'), worker, operator };
}

const toIso = (date: Date | undefined) => date?.toISOString() ?? null;
const toText = (id: LogEntry['duplicateOf']) => (id === undefined ? null : String(id));

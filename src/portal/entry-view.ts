/** From a push-log entry to what readers outside see of it. */
import type { EntryView } from '../contract/entry-view';
import type { LogEntry } from '../push-log/entry-model';

/** What operators see besides. */
export interface OperatorEntryView extends EntryView {
  readonly worker: string | null;
  readonly operator: string | null;
}

/** @param attempt see EntryView */
export function toEntryView(entry: LogEntry, attempt: number | undefined): EntryView {
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
    problems: entry.problems ?? [],
    warnings: entry.warnings ?? [],
    stale: stale ? { sent: stale.sent.toISOString(), stored: stale.stored.toISOString() } : null,
    matterId: entry.matterId === undefined ? null : String(entry.matterId),
    revision: entry.revision ?? null,
    changes: entry.changes ?? [],
    origin: toText(entry.origin),
    replayOf: toText(entry.replayOf),
    mark: entry.mark ?? null,
    traceId: entry.traceId ?? null,
  };
}

export function toOperatorEntryView(
  entry: LogEntry,
  attempt: number | undefined,
): OperatorEntryView {
  const { worker = null, operator = null } = entry;
  return { ...toEntryView(entry, attempt), worker, operator };
}

const toIso = (date: Date | undefined) => date?.toISOString() ?? null;
const toText = (id: LogEntry['origin']) => (id === undefined ? null : String(id));

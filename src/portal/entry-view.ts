/** A push-log entry as readers outside see it: JSON-safe, absent values null, instants ISO-8601 UTC. */
import type { FieldChange } from '../domain/changes';
import type { FieldError } from '../errors';
import type { LogEntry, LogState } from '../push-log/entry-model';

export interface EntryView {
  readonly requestId: string;
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly operation: string;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
  /** The how-manieth request with this client, operation and key; null without a key, or beyond 100. */
  readonly attempt: number | null;
  /** SHA-256 of the raw body, hex. */
  readonly bodyHash: string;
  readonly bodySize: number;
  /** Which of the client's secrets signed. */
  readonly secretId: string | null;
  readonly receivedAt: string;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  /** Persisted, where `state` says so; else when it ended without an effect. */
  readonly settledAt: string | null;
  readonly state: LogState;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly problems: readonly FieldError[];
  /** Of a push that was ignored as stale: its `sourceUpdatedAt`, and the newer one it met. */
  readonly stale: { readonly sent: string; readonly stored: string } | null;
  readonly matterId: string | null;
  /** The matter's revision after it, where it changed the matter. */
  readonly revision: number | null;
  readonly changes: readonly FieldChange[];
  /** The request whose outcome this retry was answered with. */
  readonly origin: string | null;
  /** The request that an operator sent again with this one. */
  readonly replayOf: string | null;
  readonly mark: 'KEY_REUSED' | null;
}

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
    queuedAt: toIso(entry.queuedAt),
    startedAt: toIso(entry.startedAt),
    settledAt: toIso(entry.settledAt),
    state,
    outcome: isAccepted ? result : null,
    reason: isAccepted ? null : result,
    problems: entry.problems ?? [],
    stale: stale ? { sent: stale.sent.toISOString(), stored: stale.stored.toISOString() } : null,
    matterId: entry.matterId === undefined ? null : String(entry.matterId),
    revision: entry.revision ?? null,
    changes: entry.changes ?? [],
    origin: toText(entry.origin),
    replayOf: toText(entry.replayOf),
    mark: entry.mark ?? null,
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

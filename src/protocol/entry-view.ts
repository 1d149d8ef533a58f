/** A push-log entry as readers outside see it: JSON-safe, absent values null, instants ISO-8601 UTC. */
import type { FieldChange } from '../domain/changes';
import type { Diagnosis } from './diagnosis';
import type { FieldError } from './errors';
import type { Warning } from './warnings';

export interface EntryView {
  readonly requestId: string;
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly operation: string;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
  /** Attempt number (1-based) among the requests of this client, operation and key; null without a key, or beyond 100. */
  readonly attempt: number | null;
  /** SHA-256 of the raw body, hex. */
  readonly bodyHash: string;
  readonly bodySize: number;
  /** Which of the client's secrets signed. */
  readonly secretId: string | null;
  readonly receivedAt: string;
  /** Until when its caller waits. */
  readonly deadlineAt: string;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  /** Persisted, where `state` says so; else when it ended without an effect. */
  readonly settledAt: string | null;
  /** `QUEUED` until it is settled; every other state is final. */
  readonly state: 'QUEUED' | 'PERSISTED' | 'REPLAYED' | 'REFUSED' | 'EXPIRED';
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly problems: readonly FieldError[];
  /** What looks wrong in it, whatever became of it. */
  readonly warnings: readonly Warning[];
  /** Of a push that was ignored as stale: its `sourceUpdatedAt`, and the newer one it met. */
  readonly stale: { readonly sent: string; readonly stored: string } | null;
  readonly matterId: string | null;
  /** The matter's revision after it, where it changed the matter. */
  readonly revision: number | null;
  readonly changes: readonly FieldChange[];
  /** The request whose outcome this retry was answered with. */
  readonly duplicateOf: string | null;
  /** The request that an operator sent again with this one. */
  readonly resentFrom: string | null;
  readonly mark: 'KEY_REUSED' | null;
  /** The trace of the request, where the service keeps traces. */
  readonly traceId: string | null;
}

/** An entry with its body and what was wrong with its signature, where that was asked for. */
export interface PageEntry extends EntryView {
  readonly body?: string | null;
  readonly diagnosis?: Diagnosis;
}

/** `data` of push-logs/query. */
export interface LogPage {
  readonly entries: readonly PageEntry[];
  readonly nextCursor: string | null;
  /** Pushes like these without an entry: on a first page that asks for no single matter, key or request. */
  readonly notRecorded?: number;
  readonly count?: { readonly value: number; readonly exact: boolean };
}

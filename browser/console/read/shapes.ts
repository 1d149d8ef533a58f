/** The answers of the service, with the fields that the console reads (docs/openapi.json). */

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly requestId: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  /** Seconds to wait, from the header Retry-After. */
  readonly retryAfter?: number;
  readonly errors?: readonly FieldProblem[];
  readonly warnings?: readonly FieldProblem[];
}

export interface Self {
  readonly clientId: string;
  readonly systemCode: string;
  readonly paused: { readonly since: string; readonly reason: string | null } | null;
  readonly signedWith: {
    readonly secretId: string;
    readonly scopes: readonly string[];
    readonly bodies?: boolean;
    readonly endsAt: string | null;
  };
  readonly timeZone: string;
  readonly concludedStatuses: readonly string[];
  readonly limits: { readonly batchLines: number; readonly batchBytes: number };
}

export interface Change {
  readonly field: string;
  readonly from?: string | boolean | null;
  readonly to?: string | boolean | null;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly unread?: readonly string[];
}

export interface Diagnosis {
  readonly complete: boolean;
  readonly findings: readonly {
    readonly cause: string;
    readonly explanation: string;
    readonly fix: string;
    readonly difference?: {
      readonly offset: number;
      readonly sent: string;
      readonly signed: string;
    };
  }[];
}

export interface Entry {
  readonly requestId: string;
  readonly clientId: string;
  readonly operation: string;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
  readonly attempt: number | null;
  readonly bodyHash: string;
  readonly bodySize: number;
  readonly secretId: string | null;
  readonly receivedAt: string;
  readonly deadlineAt: string;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly settledAt: string | null;
  readonly state: 'QUEUED' | 'PERSISTED' | 'REPLAYED' | 'REFUSED' | 'EXPIRED';
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
  readonly stale: { readonly sent: string; readonly stored: string } | null;
  readonly matterId: string | null;
  readonly revision: number | null;
  readonly changes: readonly Change[];
  readonly duplicateOf: string | null;
  readonly resentFrom: string | null;
  readonly mark: string | null;
  readonly traceId: string | null;
  /** Present if the query requested it; null: no longer stored. */
  readonly body?: string | null;
  readonly diagnosis?: Diagnosis;
}

export interface LogPage {
  readonly entries: readonly Entry[];
  readonly nextCursor: string | null;
  readonly notRecorded?: number;
}

export interface FailedRow {
  readonly requestId: string;
  readonly clientId: string;
  readonly operation: string;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
  readonly reason: string;
  readonly fields: readonly string[];
  readonly problems: readonly FieldProblem[];
  /** The failed upsert, if the matter does not exist because of it. */
  readonly cause: Pick<FailedRow, 'requestId' | 'reason' | 'fields' | 'problems'> | null;
  readonly failures: number;
  /** A batch that was rejected as a whole. */
  readonly refusedBatch: boolean;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly mended: {
    readonly requestId: string;
    readonly at: string;
    readonly outcome: string;
  } | null;
}

export interface FailuresPage {
  readonly rows: readonly FailedRow[];
  readonly refusedBatches: number;
  readonly notRecorded: number;
  readonly complete: boolean;
  readonly nextCursor: string | null;
  readonly keptSince: string;
}

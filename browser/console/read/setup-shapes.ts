/** The answers of clients/me and users/check, with the fields that the setup screen reads (docs/openapi.json). */
import type { Self } from './shapes';

export interface Secret {
  readonly secretId: string;
  readonly createdAt: string;
  readonly endsAt: string | null;
  readonly lastUsedAt: string | null;
  /** Of a query key. */
  readonly scopes?: readonly string[];
  readonly bodies?: boolean;
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface OwnSelf extends Self {
  /** Of the client; a query key has its own. */
  readonly rate: Rate | null;
  readonly signedWith: Self['signedWith'] & { readonly rate: Rate | null };
  readonly secrets: readonly Secret[];
  readonly queryKeys: readonly Secret[];
  readonly concludedStatuses: readonly string[];
  /** Seconds. */
  readonly retentions: {
    readonly pushLog: number;
    readonly bodies: number;
    readonly replay: number;
  };
  readonly limits: {
    readonly bodyBytes: number;
    readonly pushTimeout: number;
    readonly batchLines: number;
    readonly batchBytes: number;
    readonly batchTimeout: number;
    readonly timestampWindow: number;
    readonly signatureGrace: number | null;
    readonly parties: number;
  };
  readonly serviceTime: string;
  readonly version: string;
}

export interface CheckedUser {
  readonly username: string;
  readonly state: 'ENABLED' | 'DISABLED' | 'UNKNOWN';
}

/** `skipped`: an earlier check failed. */
export interface Check {
  readonly name: 'ready' | 'tls' | 'signature' | 'clock' | 'body' | 'dryRun' | 'pushes';
  readonly status: 'ok' | 'note' | 'failed' | 'skipped';
  readonly words: readonly [english: string, chinese: string];
  readonly values: readonly (string | number)[];
}

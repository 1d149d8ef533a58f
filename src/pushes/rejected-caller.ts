/** What both ways of reading a signed request do before and after they reject their caller. */

import type { AuthHeaders } from '../auth/auth-headers';
import { OPERATIONS } from '../domain/operation';
import type { PushError } from '../protocol/errors';
import { BATCH } from '../protocol/paths';
import type { KnownClient } from '../storage/directory/clients';
import type { BodyDigest, RequestFields } from '../storage/push-log/entry-model';
import type { PushCounts } from '../storage/push-log/push-counts';
import { newEntry, unsignedEntry } from './log-entry';
import type { LogRejection } from './rejection-log';

export interface RejectedRequest {
  readonly requestId: string;
  /** Stands in the push log. */
  readonly operation: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly headers: AuthHeaders;
  /** Absent if it was not kept. */
  readonly rawBody?: Uint8Array;
  /** Of a large body, and of one that was not kept. */
  readonly digest?: BodyDigest | undefined;
  readonly logged?: RequestFields;
}

export interface RejectionRecorder {
  readonly logRejection: LogRejection;
  /** Counts rejected pushes; queries are no pushes. */
  readonly counts?: PushCounts | undefined;
}

/** Of a stranger nothing is recorded, and nothing is counted. */
export function recordRejection(
  { logRejection, counts }: RejectionRecorder,
  client: KnownClient | undefined,
  { headers, digest, rawBody, ...about }: RejectedRequest,
  error: PushError,
): void {
  if (!client) return;
  const { clientId, systemCode } = client;
  const { operation, receivedAt } = about;
  const push =
    PUSHES.has(operation) && systemCode !== null
      ? { clientId, systemCode, operation, receivedAt, result: error.reason }
      : undefined;
  if (push) counts?.ended(push, 0);
  // The entry is written when the request counts no longer among those in flight: a large body must not wait for it.
  const kept = digest ? undefined : rawBody;
  const source = { ...client, ...about, rawBody: kept ?? NOTHING, digest, timeout: 0 };
  const entry = () => unsignedEntry(newEntry(source), error, headers, about.receivedAt);
  const dropped = () => push && counts?.unrecorded(push);
  logRejection(clientId, entry, kept, dropped);
}

/** A batch counts as one: nobody has looked how many lines it has. */
const PUSHES: ReadonlySet<string> = new Set([...OPERATIONS, BATCH]);
const NOTHING = new Uint8Array(0);

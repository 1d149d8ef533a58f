/** A request whose signature was rejected, as far as it is known afterwards. */

import { OPERATIONS, type OperationName } from '../domain/operation';
import { pushPath, type QueryName, queryPath } from '../protocol/paths';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { SentSignature } from '../storage/push-log/sent-signature';

export interface RejectedRequest {
  readonly clientId: string;
  readonly sent: SentSignature;
  /** Undefined: not kept. */
  readonly body: Uint8Array | undefined;
  /** That it was sent to. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

/** @returns undefined where it was not rejected for its signature or timestamp */
export function rejectedRequest(
  { clientId, operation, signature, receivedAt }: LogEntry,
  body: Uint8Array | undefined,
): RejectedRequest | undefined {
  if (!signature) return undefined;
  const isPush = OPERATIONS.some((name) => name === operation);
  const path = isPush ? pushPath(operation as OperationName) : queryPath(operation as QueryName);
  return { clientId, sent: signature, body, path, receivedAt: receivedAt.getTime() };
}

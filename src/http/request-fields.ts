/** What a push-log entry has of the HTTP request itself, whoever sent it and whatever becomes of it. */
import type { IncomingMessage } from 'node:http';
import type { RequestFields } from '../storage/push-log/entry-model';
import type { RequestState } from './request-state';

export interface ReceivedRequest {
  readonly req: IncomingMessage;
  readonly state: RequestState;
}

/** Each is a field of ENTRY_FIELDS (protocol/log-entry.ts). What is not known is left out. */
export function requestFields({ state: { traceId } }: ReceivedRequest): RequestFields {
  return { ...(traceId !== undefined && { traceId }) };
}

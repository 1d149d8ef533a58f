/** A request whose sender is known: what the routes work with. */
import type { RequestFields } from '../storage/push-log/entry-model';
import type { Caller } from './authenticate';

export interface SignedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  /** When the whole request was there, epoch milliseconds. */
  readonly receivedAt: number;
  /** Lower-case hex. */
  readonly signature: string;
  /** Epoch seconds. */
  readonly timestamp: number;
  /** What its entry in the push log has of the HTTP request itself. */
  readonly logged?: RequestFields | undefined;
}

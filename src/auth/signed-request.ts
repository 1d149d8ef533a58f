/** A request whose sender is known: what the routes work with. */
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
  /** Where TRACING is on. */
  readonly traceId?: string;
}

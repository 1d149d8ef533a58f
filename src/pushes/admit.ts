/** Admission of an authenticated request: its signature was for this use, its client is within its rate. */

import type { SignedRequest } from '../auth/signed-request';
import { PushError, type RateState } from '../protocol/errors';
import { rateLimited } from '../protocol/limit-errors';
import type { Admission, AdmissionRequest, RateLimit } from '../queue/admission';
import { queueCall } from './availability';

/**
 * @param timeout milliseconds for the answer
 * @returns what the client may still send
 * @throws PushError SIGNATURE_REUSED, RATE_LIMITED or QUEUE_UNAVAILABLE
 */
export type Admit = (
  request: Pick<SignedRequest, 'caller' | 'signature' | 'timestamp'> & {
    readonly path: string;
    /** Of a push; for queries it means nothing. */
    readonly idempotencyKey?: string | undefined;
    /** Of a batch: how many it has. */
    readonly pushes?: number | undefined;
  },
  timeout: number,
) => Promise<RateState | undefined>;

/**
 * @param defaults RATE_LIMIT and RATE_BURST, for clients without a rate of their own
 * @param queryKeys QUERY_KEY_RATE and QUERY_KEY_BURST, of each query key by itself: somebody at a browser
 *   takes nothing of the rate of the client
 */
export function createAdmit(
  ask: (request: AdmissionRequest) => Promise<Admission>,
  defaults: RateLimit,
  queryKeys: RateLimit,
): Admit {
  return async ({ caller, path, idempotencyKey, pushes, signature, timestamp }, timeout) => {
    const { clientId, secretId, queryKey } = caller;
    const limit = queryKey ? queryKeys : { ...defaults, ...caller.limit };
    const rateOf = queryKey ? `${clientId} ${secretId}` : clientId;
    const use = { path, idempotencyKey, signature, timestamp };
    const asked = ask({ clientId, rateOf, limit, pushes, ...use });
    const admission = await queueCall(asked, timeout);
    if (admission.kind === 'signature-reused') throw new PushError('SIGNATURE_REUSED');
    if (admission.kind === 'rate-limited') {
      throw rateLimited(limit, Math.ceil(admission.retryAfter / 1000));
    }
    const { remaining } = admission;
    return remaining === undefined ? undefined : { ...limit, remaining };
  };
}

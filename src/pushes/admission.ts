/**
 * Admission of authenticated requests, before their bodies are validated (contract 3.2). A Redis script checks that the
 * signature was not used for another request, and that the client is within its rate. Concurrent requests share one
 * round trip.
 */
import { createHash } from 'node:crypto';
import type { Caller } from '../auth/authenticate';
import { createBatcher } from '../concurrency/batcher';
import { defineScript } from '../infra/redis/commands';
import type { RedisConnection } from '../infra/redis/connect';
import { BATCH_MAX_ITEMS } from '../protocol/batch';
import { PushError, type RateState, rateLimited } from '../protocol/errors';
import type { RedisKeys } from '../queue/keys';
import { queueCall } from './availability';

/** The fields that admission needs of a push or of a signed query. */
export interface AdmissibleRequest {
  readonly caller: Caller;
  readonly path: string;
  /** Absent for a query, and for a push without a key. */
  readonly idempotencyKey?: string | undefined;
  /** Lower-case hex. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
}

/**
 * @param timeout milliseconds for the answer of Redis
 * @param pushes number of pushes that the rate counts for the request; 1 by default
 * @returns the remaining rate of the client; undefined if there is no limit
 * @throws PushError SIGNATURE_REUSED, RATE_LIMITED, QUEUE_UNAVAILABLE or QUEUE_MEMORY_FULL
 */
export type Admit = (
  request: AdmissibleRequest,
  timeout: number,
  pushes?: number,
) => Promise<RateState | undefined>;

export interface RateLimit {
  /** Pushes per second; 0: no limit. */
  readonly rate: number;
  /** Maximum pushes that the client may send at once. */
  readonly burst: number;
}

export interface AdmissionSettings {
  /**
   * SIGNATURE_GRACE: for this many milliseconds after the first use of a signature, other requests may use the
   * signature too. 'off': other requests may always use the signature.
   */
  readonly signatureGrace: number | 'off';
  /** RATE_LIMIT and RATE_BURST, for clients without a rate of their own. */
  readonly rate: RateLimit;
  /** QUERY_KEY_RATE: the limit of each query key, separate from the rate of its client. */
  readonly queryKeyRate: RateLimit;
}

/**
 * Milliseconds for which signatures are remembered. A timestamp can differ by 300 s from the clock of a web process,
 * and the clock of a web process can be wrong by 300 s. So all uses of one timestamp lie within 1,200 s. This value
 * adds a minute.
 */
export const SIGNATURE_MEMORY = 1_260_000;
/** Approximate bytes of one remembered signature in Redis. */
export const SIGNATURE_BYTES = 110;
/**
 * Maximum signatures that are remembered for one client and minute: enough for 8,300 requests a second. Further
 * signatures are not checked for reuse. Only the client that sends so many requests lacks this protection.
 */
const MAX_REMEMBERED = 500_000;

/**
 * Minimum milliseconds between the starts of two concurrent round trips. If no round trip is running, the next round
 * trip starts at once.
 */
const HEAD_START = 20;

interface AdmissionRequest {
  readonly request: AdmissibleRequest;
  readonly limit: RateLimit;
  readonly pushes: number;
}

/**
 * The rate limit is a leaky bucket (GCRA). A batch with more pushes than the burst is admitted if the bucket is empty,
 * and fills the bucket above its capacity. Then requests are rejected until the bucket has drained below its capacity.
 */
export function createAdmit(
  redis: RedisConnection,
  keys: RedisKeys,
  { signatureGrace, rate, queryKeyRate }: AdmissionSettings,
): Admit {
  const grace = signatureGrace === 'off' ? -1 : signatureGrace;
  const limits = [grace, SIGNATURE_MEMORY, MAX_REMEMBERED, BATCH_MAX_ITEMS];
  /**
   * Returns two numbers for each request. `wait`: 0 if the request is admitted, -1 if the signature was reused,
   * otherwise the milliseconds until the request would be within the rate. `remaining`: the number of pushes that the
   * client may send at once after this request.
   */
  const run = defineScript<[wait: number, remaining: number][]>(redis, __dirname, 'admission');
  const batcher = createBatcher({
    run: (requests: readonly AdmissionRequest[]) =>
      run(
        requests.flatMap(({ request }) => keysOf(keys, request)),
        [...limits, ...requests.flatMap(argumentsOf)],
      ),
    maxBatch: 500,
    maxRunning: 4,
    headStart: HEAD_START,
  });
  return async (request, timeout, pushes = 1) => {
    const { queryKey, limit: override } = request.caller;
    const limit = queryKey ? queryKeyRate : { ...rate, ...override };
    const answer = batcher.add({ request, limit, pushes });
    const [wait, remaining] = await queueCall(answer, timeout);
    if (wait < 0) throw new PushError('SIGNATURE_REUSED');
    if (wait > 0) throw rateLimited(limit, Math.ceil(wait / 1000));
    return limit.rate > 0 ? { ...limit, remaining } : undefined;
  };
}

function keysOf(keys: RedisKeys, { caller, timestamp }: AdmissibleRequest): string[] {
  const { clientId, secretId, queryKey } = caller;
  return [
    keys.signatures(clientId, Math.floor(timestamp / 60)),
    keys.rate(queryKey ? `${clientId} ${secretId}` : clientId),
  ];
}

function argumentsOf({ request, limit: { rate, burst }, pushes }: AdmissionRequest) {
  const { path, idempotencyKey, signature } = request;
  // `use` identifies the request by path and idempotency key, because the signature covers neither.
  const use = idempotencyKey === undefined ? path : `${path}\n${idempotencyKey}`;
  const digest = createHash('sha256').update(use).digest('base64url').slice(0, 22);
  return [signature.slice(0, 32), digest, rate === 0 ? 0 : 1000 / rate, burst, pushes];
}

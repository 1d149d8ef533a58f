/**
 * Checks the rate limit and the reuse of the signature before the body is validated (contract 3.2). Concurrent
 * requests share round trips to Redis.
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

export interface AdmissibleRequest {
  readonly caller: Caller;
  readonly path: string;
  readonly idempotencyKey?: string | undefined;
  /** Lower-case hex. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
}

/**
 * @param timeout maximum milliseconds to wait for Redis
 * @param pushes number of pushes that count against the rate; 1 by default
 * @returns the rate limit and the remaining requests; undefined if there is no limit
 * @throws PushError SIGNATURE_REUSED, RATE_LIMITED, QUEUE_UNAVAILABLE or QUEUE_MEMORY_FULL
 */
export type Admit = (
  request: AdmissibleRequest,
  timeout: number,
  pushes?: number,
) => Promise<RateState | undefined>;

export interface RateLimit {
  /** Requests per second; 0: no limit. Each push of a batch or resend counts as a request. */
  readonly rate: number;
  /** Maximum requests at once. */
  readonly burst: number;
}

export interface AdmissionSettings {
  /** SIGNATURE_GRACE: milliseconds for which different requests may use the same signature. 'off': forever. */
  readonly signatureGrace: number | 'off';
  /** RATE_LIMIT and RATE_BURST, for clients without an individual rate. */
  readonly rate: RateLimit;
  /** QUERY_KEY_RATE: the rate of each query key. */
  readonly queryKeyRate: RateLimit;
}

/**
 * Minimum milliseconds for which Redis remembers a signature. This number is the sum of:
 *
 * - 600 s: one web process accepts a timestamp for this time.
 * - 600 s: maximum difference between the clocks of two web processes.
 * - 60 s: margin.
 */
export const SIGNATURE_MEMORY = 1_260_000;
/** Approximate bytes of one remembered signature in Redis. */
export const SIGNATURE_BYTES = 110;
/**
 * Maximum signatures that Redis remembers for one client and one minute of X-Timestamp. Reuse of further signatures
 * is not detected.
 */
const MAX_REMEMBERED = 500_000;

/** Minimum milliseconds between the starts of two concurrent round trips. */
const HEAD_START = 20;

interface AdmissionRequest {
  readonly request: AdmissibleRequest;
  readonly limit: RateLimit;
  readonly pushes: number;
}

/**
 * The rate limit is a leaky bucket (GCRA). A batch that exceeds the burst is admitted when the full burst is available.
 */
export function createAdmit(
  redis: RedisConnection,
  keys: RedisKeys,
  { signatureGrace, rate, queryKeyRate }: AdmissionSettings,
): Admit {
  const grace = signatureGrace === 'off' ? -1 : signatureGrace;
  const limits = [grace, SIGNATURE_MEMORY, MAX_REMEMBERED, BATCH_MAX_ITEMS];
  /**
   * Returns `[wait, remaining]` for each request:
   *
   * - `wait` is 0: the request is admitted.
   * - `wait` is -1: the signature was reused.
   * - `wait` is positive: the request is above the rate. A retry can succeed after `wait` milliseconds.
   * - `remaining`: the number of pushes that the client may send immediately.
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
  // The signature covers neither the path nor the idempotency key. Therefore, `use` covers the path and the key.
  const use = idempotencyKey === undefined ? path : `${path}\n${idempotencyKey}`;
  const digest = createHash('sha256').update(use).digest('base64url').slice(0, 22);
  return [signature.slice(0, 32), digest, rate === 0 ? 0 : 1000 / rate, burst, pushes];
}

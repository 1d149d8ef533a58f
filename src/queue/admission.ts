/**
 * Admission: before anything is recorded, one round trip for all pushes of a tick asks Redis
 * whether a signature was used for something else and whether the client is within its rate.
 */
import { createHash } from 'node:crypto';
import { createBatcher } from '../concurrency/batcher';
import { BATCH_MAX_ITEMS } from '../protocol/batch';
import type { RedisKeys } from './keys';
import type { RedisConnection } from './redis';

export interface AdmissionRequest {
  readonly clientId: string;
  /** Whose rate it takes from: the client's, or that of one of its query keys. */
  readonly rateOf: string;
  /** The operation's path. */
  readonly path: string;
  /** As sent; undefined where there is none, or where it means nothing (queries). */
  readonly idempotencyKey?: string | undefined;
  /** Lower-case hex of the verified signature. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
  readonly limit: RateLimit;
  /** How many pushes it counts for; absent: one. */
  readonly pushes?: number | undefined;
}

export type Admission =
  /** `remaining`: pushes that the client may still send at once; absent where there is no limit. */
  | { readonly kind: 'admitted'; readonly remaining?: number }
  | { readonly kind: 'signature-reused' }
  /** `retryAfter`: milliseconds until the client has room for one more push. */
  | { readonly kind: 'rate-limited'; readonly retryAfter: number };

export interface RateLimit {
  /** Pushes per second; 0: no limit. */
  readonly rate: number;
  readonly burst: number;
}

/**
 * Longer than the widest distance between two uses of one timestamp: either may be 300 s from the clock
 * of its web process, and either of these clocks 300 s off.
 */
export const SIGNATURE_MEMORY = 1_260_000;
/** That one signature takes in Redis, about. */
export const SIGNATURE_BYTES = 110;
/**
 * Signatures of one client and one minute that are remembered, at about 110 bytes each: 8,300 pushes
 * a second. Only their own client can make them more, and all it loses is the guard of the rest.
 */
const MAX_REMEMBERED = 500_000;

/** Milliseconds: longer than Redis takes where nothing is wrong. */
const HEAD_START = 20;

/**
 * KEYS: per push the memory of signatures and its rate key. ARGV: grace (ms, -1: remember nothing),
 * memory (ms), most of one memory, most pushes of a batch, then per request signature, use, interval (ms
 * per push, 0: no limit), burst and how many pushes it has. Returns per request the wait in ms (0: admitted,
 * -1: reused) and how many more may come.
 * A signature's first use is kept with its time, and never made later.
 * The rate is a leaky bucket (GCRA): the key holds the time at which the bucket will be empty. A batch of
 * more pushes than the burst is let in where the bucket is empty, and fills it higher than full: what it had
 * too much is waited for by those behind it.
 */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local grace, memory, most, largest = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local size = {}
local function reused(seen, signature, use)
  size[seen] = size[seen] or redis.call('HLEN', seen)
  if size[seen] < most then
    local first = string.format('%.0f %s', now, use)
    if redis.call('HSETNX', seen, signature, first) == 1 then
      redis.call('PEXPIRE', seen, memory)
      size[seen] = size[seen] + 1
      return false
    end
  end
  local first = redis.call('HGET', seen, signature)
  if not first then return false end
  local at, what = string.match(first, '^(%d+) (.*)$')
  return what ~= use and now - tonumber(at) >= grace
end
local empty, answers = {}, {}
for i = 1, #KEYS / 2 do
  local seen, rate = KEYS[2 * i - 1], KEYS[2 * i]
  local signature, use = ARGV[5 * i], ARGV[5 * i + 1]
  local interval, burst, pushes = tonumber(ARGV[5 * i + 2]), tonumber(ARGV[5 * i + 3]), tonumber(ARGV[5 * i + 4])
  local full = burst * interval
  local fullest = math.max(burst, largest) * interval
  local wait, room = 0, 0
  if interval > 0 then
    local at = math.max(now, empty[rate] or tonumber(redis.call('GET', rate) or '0'))
    -- Filled under a slower rate, it is not fuller than full.
    if at > now + fullest then
      at = now + fullest
      empty[rate] = at
    end
    local over = at + math.min(pushes, burst) * interval - now - full
    if over > 0 then
      wait = math.ceil(over)
    else
      empty[rate] = at + pushes * interval
      room = math.max(0, math.floor((full - (empty[rate] - now)) / interval))
    end
  end
  -- Only of what is within the rate: what is rejected must not fill the memory.
  if wait == 0 and grace >= 0 and reused(seen, signature, use) then wait = -1 end
  answers[2 * i - 1], answers[2 * i] = wait, room
end
for rate, at in pairs(empty) do
  redis.call('SET', rate, tostring(at), 'PX', math.ceil(at - now))
end
return answers`;

interface AdmitCommand {
  admit(keyCount: number, ...args: (string | number)[]): Promise<number[]>;
}

/**
 * @param grace SIGNATURE_GRACE: milliseconds from a signature's first use in which it is good for
 *   something else too; `off`: for ever
 * @returns a function that admits one push; it rejects where Redis cannot be asked
 */
export function createAdmission(
  redis: RedisConnection,
  keys: RedisKeys,
  grace: number | 'off',
): (request: AdmissionRequest) => Promise<Admission> {
  redis.defineCommand('admit', { lua: ADMIT });
  const batcher = createBatcher<AdmissionRequest, Admission>({
    run: async (requests) => {
      const names = requests.flatMap(({ clientId, rateOf, timestamp }) => [
        keys.signatures(clientId, Math.floor(timestamp / 60)),
        keys.rate(rateOf),
      ]);
      const uses = requests.flatMap((request) => [
        request.signature.slice(0, 32),
        useOf(request),
        request.limit.rate === 0 ? 0 : 1000 / request.limit.rate,
        request.limit.burst,
        request.pushes ?? 1,
      ]);
      const answers = await (redis as unknown as AdmitCommand).admit(
        names.length,
        ...names,
        grace === 'off' ? -1 : grace,
        SIGNATURE_MEMORY,
        MAX_REMEMBERED,
        BATCH_MAX_ITEMS,
        ...uses,
      );
      return requests.map(({ limit }, index) =>
        toAdmission(answers[2 * index] ?? 0, limit.rate > 0 ? answers[2 * index + 1] : undefined),
      );
    },
    maxBatch: 500,
    maxRunning: 4,
    headStart: HEAD_START,
  });
  return (request) => batcher.add(request);
}

/** What a signature was used for: neither path nor key is covered by it. */
function useOf({ path, idempotencyKey }: AdmissionRequest): string {
  const use = idempotencyKey === undefined ? path : `${path}\n${idempotencyKey}`;
  return createHash('sha256').update(use).digest('base64url').slice(0, 22);
}

function toAdmission(wait: number, remaining: number | undefined): Admission {
  if (wait === 0)
    return remaining === undefined ? { kind: 'admitted' } : { kind: 'admitted', remaining };
  return wait < 0 ? { kind: 'signature-reused' } : { kind: 'rate-limited', retryAfter: wait };
}

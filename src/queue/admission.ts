/**
 * Admission: before anything is recorded, one round trip for all pushes of a tick asks Redis
 * whether a signature was seen on another path and whether the client is within its rate.
 */
import type { Redis } from 'ioredis';
import { createBatcher } from '../batcher';
import type { RedisKeys } from './keys';

export interface AdmissionRequest {
  readonly clientId: string;
  /** The operation's path. */
  readonly path: string;
  /** Lower-case hex of the verified signature. */
  readonly signature: string;
  /** X-Timestamp, epoch seconds. */
  readonly timestamp: number;
  readonly limit: RateLimit;
}

export type Admission =
  /** `room`: pushes that the client may still send at once; absent where there is no limit. */
  | { readonly kind: 'admitted'; readonly room?: number }
  | { readonly kind: 'signature-reused' }
  /** `retryAfter`: milliseconds until the client has room for one more push. */
  | { readonly kind: 'rate-limited'; readonly retryAfter: number };

export interface RateLimit {
  /** Pushes per second; 0: no limit. */
  readonly rate: number;
  readonly burst: number;
}

/** Longer than the widest distance between two uses of one timestamp (2 x 300 s). */
const SIGNATURE_MEMORY = 660_000;

/**
 * KEYS: per push its signature hash and its rate key. ARGV: memory (ms), then per push field, path,
 * interval (ms per push, 0: no limit) and burst. Returns per push the wait in ms (0: admitted, -1:
 * reused) and how many more may come at once.
 * The rate is a leaky bucket (GCRA): the key holds the time at which the bucket will be empty.
 */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local empty, answers = {}, {}
for i = 1, #KEYS / 2 do
  local seen, rate = KEYS[2 * i - 1], KEYS[2 * i]
  local field, path = ARGV[4 * i - 2], ARGV[4 * i - 1]
  local interval, burst = tonumber(ARGV[4 * i]), tonumber(ARGV[4 * i + 1])
  local full = burst * interval
  local wait, room = 0, 0
  if interval > 0 then
    local at = math.max(now, empty[rate] or tonumber(redis.call('GET', rate) or '0'))
    -- Filled under a slower rate, it is not fuller than full.
    if at > now + full then
      at = now + full
      empty[rate] = at
    end
    local over = at + interval - now - full
    if over > 0 then
      wait = math.ceil(over)
    else
      empty[rate] = at + interval
      room = math.floor((full - (empty[rate] - now)) / interval)
    end
  end
  -- Only of what is within the rate: what is refused must not fill the memory.
  if wait == 0 then
    if redis.call('HSETNX', seen, field, path) == 1 then
      redis.call('PEXPIRE', seen, ARGV[1])
    elseif redis.call('HGET', seen, field) ~= path then
      wait = -1
    end
  end
  answers[2 * i - 1], answers[2 * i] = wait, room
end
for rate, at in pairs(empty) do
  redis.call('SET', rate, tostring(at), 'PX', math.ceil(at - now))
end
return answers`;

interface AdmitCommand {
  admit(keyCount: number, ...args: (string | number)[]): Promise<number[]>;
}

/** @returns a function that admits one push; it rejects where Redis cannot be asked */
export function createAdmission(
  redis: Redis,
  keys: RedisKeys,
): (request: AdmissionRequest) => Promise<Admission> {
  redis.defineCommand('admit', { lua: ADMIT });
  const batcher = createBatcher<AdmissionRequest, Admission>({
    run: async (requests) => {
      const names = requests.flatMap(({ clientId, timestamp }) => [
        keys.signatures(Math.floor(timestamp / 60)),
        keys.rate(clientId),
      ]);
      const uses = requests.flatMap(({ signature, path, limit: { rate, burst } }) => [
        signature.slice(0, 32),
        path,
        rate === 0 ? 0 : 1000 / rate,
        burst,
      ]);
      const answers = await (redis as unknown as AdmitCommand).admit(
        names.length,
        ...names,
        SIGNATURE_MEMORY,
        ...uses,
      );
      return requests.map(({ limit }, index) =>
        toAdmission(answers[2 * index] ?? 0, limit.rate > 0 ? answers[2 * index + 1] : undefined),
      );
    },
    maxBatch: 500,
    maxRunning: 4,
  });
  return (request) => batcher.add(request);
}

function toAdmission(wait: number, room: number | undefined): Admission {
  if (wait === 0) return room === undefined ? { kind: 'admitted' } : { kind: 'admitted', room };
  return wait < 0 ? { kind: 'signature-reused' } : { kind: 'rate-limited', retryAfter: wait };
}

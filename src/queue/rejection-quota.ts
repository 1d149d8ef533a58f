/**
 * How many rejections of a client that anybody may have caused are recorded, by all processes together:
 * client ids are public (decisions, "Idempotency key and push log").
 */

import type { RedisKeys } from './keys';
import type { RedisConnection } from './redis';

/** At once: a morning's work on a signature that will not fit. */
const BURST = 100;
/** Milliseconds for one more: with the burst at most 1,540 in any 24 hours. */
const INTERVAL = 60_000;

/**
 * KEYS: the client's quota. ARGV: interval and burst. Returns 1 where one may be recorded, else 0.
 * The key holds the time at which the whole quota is free again (GCRA, as in admission).
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0')) + interval
if at - now > burst * interval then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', at - now)
return 1`;

interface TakeCommand {
  takeRejectionQuota(keyCount: number, ...args: (string | number)[]): Promise<number>;
}

/** @returns a function that takes one of the quota; it rejects where Redis is away */
export function createRejectionQuota(
  redis: RedisConnection,
  keys: RedisKeys,
): (clientId: string) => Promise<boolean> {
  redis.defineCommand('takeRejectionQuota', { lua: TAKE });
  const command = redis as unknown as TakeCommand;
  return async (clientId) =>
    (await command.takeRejectionQuota(1, keys.rejections(clientId), INTERVAL, BURST)) === 1;
}

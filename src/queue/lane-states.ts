/** How much waits, and for how long: one look at all lanes, which changes nothing. */
import type { Redis } from 'ioredis';
import { LANES } from '../domain/group';
import type { RedisKeys } from './keys';
import { HEAD_LENGTH, readHead } from './push';

export interface LaneState {
  /** Pushes in the lane. */
  readonly waiting: number;
  /** Milliseconds since the first of them was appended; null where there is none. */
  readonly oldestMs: number | null;
  /** Its request id. */
  readonly oldestId: string | null;
}

/** KEYS: the lanes. ARGV: characters of a head. Returns the time, then per lane length and head of the first item. */
const LOOK = `
local time = redis.call('TIME')
local seen = {time[1] * 1000 + math.floor(time[2] / 1000)}
for i, lane in ipairs(KEYS) do
  seen[2 * i] = redis.call('LLEN', lane)
  seen[2 * i + 1] = string.sub(redis.call('LINDEX', lane, 0) or '', 1, tonumber(ARGV[1]))
end
return seen`;

interface LookCommand {
  lookAtLanes(...args: (string | number)[]): Promise<(string | number)[]>;
}

/** @returns a function that tells the state of each lane; it rejects where Redis cannot be asked */
export function createLaneStates(redis: Redis, keys: RedisKeys): () => Promise<LaneState[]> {
  redis.defineCommand('lookAtLanes', { lua: LOOK, numberOfKeys: LANES });
  const commands = redis as unknown as LookCommand;
  const lanes = Array.from({ length: LANES }, (_, lane) => lane);
  return async () => {
    const [now, ...seen] = await commands.lookAtLanes(...lanes.map(keys.lane), HEAD_LENGTH);
    return lanes.map((lane) => {
      const waiting = Number(seen[2 * lane]);
      if (waiting === 0) return { waiting, oldestMs: null, oldestId: null };
      const { queuedAt, id } = readHead(String(seen[2 * lane + 1]));
      return { waiting, oldestMs: Math.max(0, Number(now) - queuedAt), oldestId: id };
    });
  };
}

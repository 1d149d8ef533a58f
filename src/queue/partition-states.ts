/** How much waits, and for how long: one look at all partitions, which changes nothing. */

import { PARTITIONS } from '../domain/group';
import type { RedisKeys } from './keys';
import { ITEM_HEADER_LENGTH, readItemHeader } from './push';
import type { RedisConnection } from './redis';

export interface PartitionState {
  /** Pushes in the partition. */
  readonly waiting: number;
  /** Milliseconds since the first of them was appended; null where there is none. */
  readonly oldestMs: number | null;
  /** Its request id. */
  readonly oldestId: string | null;
}

/**
 * KEYS: the partitions. ARGV: characters of an item header. Returns the time, then per partition length
 * and header of the first item.
 */
const LOOK = `
local time = redis.call('TIME')
local seen = {time[1] * 1000 + math.floor(time[2] / 1000)}
for i, partition in ipairs(KEYS) do
  seen[2 * i] = redis.call('LLEN', partition)
  seen[2 * i + 1] = string.sub(redis.call('LINDEX', partition, 0) or '', 1, tonumber(ARGV[1]))
end
return seen`;

interface LookCommand {
  lookAtPartitions(...args: (string | number)[]): Promise<(string | number)[]>;
}

/**
 * @returns a function that tells the state of each partition; it rejects where Redis cannot be asked
 */
export function createPartitionStates(
  redis: RedisConnection,
  keys: RedisKeys,
): () => Promise<PartitionState[]> {
  redis.defineCommand('lookAtPartitions', { lua: LOOK, numberOfKeys: PARTITIONS });
  const commands = redis as unknown as LookCommand;
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  return async () => {
    const [now, ...seen] = await commands.lookAtPartitions(
      ...partitions.map(keys.partition),
      ITEM_HEADER_LENGTH,
    );
    return partitions.map((partition) => {
      const waiting = Number(seen[2 * partition]);
      if (waiting === 0) return { waiting, oldestMs: null, oldestId: null };
      const { queuedAt, id } = readItemHeader(String(seen[2 * partition + 1]));
      return { waiting, oldestMs: Math.max(0, Number(now) - queuedAt), oldestId: id };
    });
  };
}

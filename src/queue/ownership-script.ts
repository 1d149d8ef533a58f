/** The script by which a worker asks Redis whether it still holds partitions, in one step and on one shard. */
import { AT_MAXMEMORY } from './redis';

/**
 * KEYS: owners. ARGV: id of the owner, the partitions' numbers. Returns 1 if it holds all of them, else 0.
 *
 * It begins with a write, of nothing (AT_MAXMEMORY): a primary that became a replica rejects it (READONLY), and so
 * does one that lost its replicas (NOREPLICAS, with `min-replicas-to-write`). Such a server does not know who
 * holds the partitions now.
 */
export const HOLDS = `${AT_MAXMEMORY}
for n = 2, #ARGV do
  local text = redis.call('HGET', KEYS[1], ARGV[n]) or ''
  if string.match(text, '^%w*') ~= ARGV[1] then return 0 end
end
return 1`;

-- Writes the heartbeat of a process (heartbeat.ts).
local records, heartbeats, workers, layout = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, record, own_layout, owned_partitions = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local remove_after, max_processes, gone_after = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

-- Heartbeats must work while the memory of Redis is full. Without heartbeats, all workers would count as dead.
allow_at_maxmemory(records)

local now = now_ms()
local now_text = string.format('%.0f', now)
redis.call('HSET', records, id, now_text .. ' ' .. record)
redis.call('ZADD', heartbeats, now_text, id)
if owned_partitions == '' then
  redis.call('HDEL', workers, id)
else
  redis.call('HSET', workers, id, owned_partitions)
end

local function remove(ids)
  for _, silent in ipairs(ids) do
    redis.call('HDEL', records, silent)
    redis.call('ZREM', heartbeats, silent)
  end
end
local remove_before = string.format('%.0f', now - remove_after)
remove(redis.call('ZRANGEBYSCORE', heartbeats, '-inf', remove_before))
remove(redis.call('ZRANGE', heartbeats, 0, -1 - max_processes))
redis.call('PEXPIRE', records, remove_after)
redis.call('PEXPIRE', heartbeats, remove_after)

for _, worker in ipairs(redis.call('HKEYS', workers)) do
  local last = redis.call('ZSCORE', heartbeats, worker)
  if not last or now - last > gone_after then redis.call('HDEL', workers, worker) end
end
redis.call('SETNX', layout, own_layout)
return { redis.call('GET', layout), redis.call('HGETALL', workers) }

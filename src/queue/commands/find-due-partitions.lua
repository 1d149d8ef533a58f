-- Finds the partitions of one shard that need a worker (partitions.ts).
local partition_bytes, owners, sweep = KEYS[1], KEYS[2], KEYS[3]
local list_prefix, time_digits, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local overdue, overdue_of_others, sweep_interval = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local live_workers = { unpack(ARGV, 7) }

-- The script must work while the memory of Redis is full, because only workers free memory.
allow_at_maxmemory(partition_bytes)

local now = now_ms()
local due = {}
local sees_all = redis.call('SET', sweep, id, 'NX', 'PX', sweep_interval)

for _, number in ipairs(redis.call('HKEYS', partition_bytes)) do
  local owner_id = string.match(redis.call('HGET', owners, number) or '', '^(%w+):')
  if sees_all or owner_id == id then
    local item = redis.call('LINDEX', list_prefix .. number, 0)
    if not item then
      redis.call('HDEL', partition_bytes, number)
    else
      local waited = now - tonumber(string.sub(item, time_digits + 1, 2 * time_digits))
      local limit = owner_id == id and overdue or overdue_of_others
      if not owner_id or waited > limit then due[#due + 1] = tonumber(number) end
    end
  end
end

-- An empty partition with an entry in `owners` is due too if no live worker owns the partition. Otherwise, the next
-- push would notify only a dead worker.
if sees_all and #live_workers > 0 then
  local is_alive = {}
  for _, worker in ipairs(live_workers) do is_alive[worker] = true end
  for _, number in ipairs(redis.call('HKEYS', owners)) do
    local owner_id = string.match(redis.call('HGET', owners, number), '^%w*')
    local is_empty = redis.call('HEXISTS', partition_bytes, number) == 0
    if is_empty and not is_alive[owner_id] then due[#due + 1] = tonumber(number) end
  end
end
return due

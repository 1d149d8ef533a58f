-- Ends the ownership of partitions of one shard (partitions.ts).
local owners = KEYS[1]
local lists = { unpack(KEYS, 2) }
local id, condition = ARGV[1], ARGV[2]
local numbers = { unpack(ARGV, 3) }

-- Workers must be able to release partitions while the memory of Redis is full, because only workers free memory.
allow_at_maxmemory(owners)

local STILL_OWNED = -1
local results = {}
for list, key in ipairs(lists) do
  local number, length = numbers[list], redis.call('LLEN', key)
  local text = redis.call('HGET', owners, number) or ''
  local is_owner = string.match(text, '^%w*') == id
  if is_owner and length > 0 and condition == 'IDLE' then
    results[list] = STILL_OWNED
  else
    results[list] = length
    if is_owner then
      -- Fenced owners are earlier owners whose transactions can still be open. A batch ends these transactions and then
      -- removes the fenced owners. With `FAILED`, this worker becomes a fenced owner if the partition has pushes.
      local fenced = string.match(text, '^%S*(%s.*)$')
      if condition == 'FAILED' and length > 0 then fenced = ' ' .. text end
      if fenced then redis.call('HSET', owners, number, fenced) else redis.call('HDEL', owners, number) end
    end
  end
end
return results

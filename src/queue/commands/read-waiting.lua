-- Reads how many pushes wait in each partition of one shard (read-waiting.ts).
local partition_bytes = KEYS[1]
local list_prefix, header_length = ARGV[1], tonumber(ARGV[2])

local now = now_ms()
local seen = {}
for _, number in ipairs(redis.call('HKEYS', partition_bytes)) do
  local list = list_prefix .. number
  local header = string.sub(redis.call('LINDEX', list, 0) or '', 1, header_length)
  seen[#seen + 1] = { tonumber(number), redis.call('LLEN', list), header }
end
return { now, seen }

-- Returns 1 if a worker owns all the named partitions of one shard, else 0 (partitions.ts).
local owners = KEYS[1]
local id = ARGV[1]
local numbers = { unpack(ARGV, 2) }

-- This write without effect fails on a server that may not know the current owners: a former primary (READONLY) or a
-- primary without replicas (NOREPLICAS).
redis.call('DEL', owners .. ':nothing')

for _, text in ipairs(redis.call('HMGET', owners, unpack(numbers))) do
  if string.match(text or '', '^%w*') ~= id then return 0 end
end
return 1

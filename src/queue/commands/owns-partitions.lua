-- Returns 1 if a worker owns all the named partitions of one shard, else 0 (partitions.ts).
local owners = KEYS[1]
local id = ARGV[1]
local numbers = { unpack(ARGV, 2) }

-- This `DEL` of a missing key fails on a former primary (READONLY) and on a primary without replicas (NOREPLICAS).
-- These servers may not know the current owners.
redis.call('DEL', owners .. ':nothing')

for _, text in ipairs(redis.call('HMGET', owners, unpack(numbers))) do
  if string.match(text or '', '^%w*') ~= id then return 0 end
end
return 1

-- Returns 1 if a worker owns all the named partitions of one shard, otherwise 0 (partitions.ts).
local owners = KEYS[1]
local id = ARGV[1]
local numbers = { unpack(ARGV, 2) }

-- This `DEL` of a missing key fails on a former primary (READONLY). With `min-replicas-to-write`, `DEL` also fails on
-- a primary without enough replicas (NOREPLICAS). Both servers can have outdated owners.
redis.call('DEL', owners .. ':nothing')

for _, text in ipairs(redis.call('HMGET', owners, unpack(numbers))) do
  if string.match(text or '', '^%w*') ~= id then return 0 end
end
return 1

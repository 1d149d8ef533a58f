-- Returns 1 if a worker owns all of some partitions of one shard, else 0. partitions.ts documents the command.
local owners = KEYS[1]
local id = ARGV[1]
local numbers = { unpack(ARGV, 2) }

-- A write without effect. It fails on a primary that became a replica (READONLY) or lost its replicas (NOREPLICAS), because
-- such a server does not know the current owners.
redis.call('DEL', owners .. ':nothing')

for _, number in ipairs(numbers) do
  local text = redis.call('HGET', owners, number) or ''
  if string.match(text, '^%w*') ~= id then return 0 end
end
return 1

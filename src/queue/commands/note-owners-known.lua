-- Records that Redis knows the owners of the partitions of one shard (partitions.ts).
local owners_known = KEYS[1]

-- This write must work while the memory of Redis is full. Without this record, each batch must end the open
-- transactions of all other workers.
allow_at_maxmemory(owners_known)
redis.call('SET', owners_known, '1')
return 1

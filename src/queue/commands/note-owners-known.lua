-- Records that Redis knows the owners of the partitions of one shard (partitions.ts).
local owners_known = KEYS[1]

-- The write must work while the memory of Redis is full: otherwise each batch would end the open transactions of all
-- other workers again.
allow_at_maxmemory(owners_known)
redis.call('SET', owners_known, '1')
return 1

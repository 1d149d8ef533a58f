-- Returns the time of the server that has a shard: seconds and microseconds.
local owners = KEYS[1] -- routes the command to the shard
return redis.call('TIME')

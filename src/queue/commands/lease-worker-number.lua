-- Takes or renews the lease of a worker number; a duration of 0 ends the lease (worker-number.ts).
local lease = KEYS[1]
local token, duration = ARGV[1], ARGV[2]

-- A worker must be able to take a number while the memory of Redis is full, because only workers free memory.
allow_at_maxmemory(lease)
if redis.call('GET', lease) == token then return redis.call('PEXPIRE', lease, duration) end
if duration == '0' then return 0 end
return redis.call('SET', lease, token, 'NX', 'PX', duration) and 1 or 0

-- Records when the database began to answer all pings of a worker, and the time of this report (worker-reach.ts).
local reach = KEYS[1]
local id, answered_for = ARGV[1], tonumber(ARGV[2])

allow_at_maxmemory(reach)
local now = now_ms()
redis.call('HSET', reach, id, (now - answered_for) .. ' ' .. now)
return 1

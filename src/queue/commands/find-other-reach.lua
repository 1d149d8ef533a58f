-- Returns 1 if another worker reaches the database and takes partitions, otherwise 0 (worker-reach.ts).
local reach, workers = KEYS[1], KEYS[2]
local id, at_least_for, within = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

allow_at_maxmemory(reach)
local now = now_ms()
-- Two workers that check at the same time must not both pause. Therefore, the script removes this worker's report
-- before the search.
redis.call('HDEL', reach, id)
local found = 0
for _, other in ipairs(redis.call('HKEYS', reach)) do
  local since, at = string.match(redis.call('HGET', reach, other), '^(%d+) (%d+)$')
  if redis.call('HEXISTS', workers, other) == 0 then
    redis.call('HDEL', reach, other)
  elseif now - since >= at_least_for and now - at <= within then
    found = 1
  end
end
return found

-- Claims a namespace for a database, if no other database has a claim. Returns the current claim (agreements.ts).
local claim = KEYS[1]
local id, name, duration, earlier_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- A worker must be able to start while the memory of Redis is full, because only workers free memory.
allow_at_maxmemory(claim)
local held = redis.call('GET', claim)
local held_id = held and string.match(held, '^%S+')
-- `earlier_id` is the database id in the last claim of this process. After a restore, the database has a new id, and
-- the process must replace its last claim.
if not held or held_id == id or held_id == earlier_id then
  held = id .. ' ' .. name
  redis.call('SET', claim, held, 'PX', duration)
end
return held

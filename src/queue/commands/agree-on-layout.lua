-- Records the layout `own` if no layout is recorded, or if `replaceable` is recorded (agreements.ts).
-- Returns the layout that is recorded afterwards.
local layout = KEYS[1]
local own, replaceable = ARGV[1], ARGV[2]

-- A worker must be able to start while the memory of Redis is full, because only workers free memory.
allow_at_maxmemory(layout)

local recorded = redis.call('GET', layout)
if not recorded or recorded == replaceable then
  redis.call('SET', layout, own)
  return own
end
return recorded

-- Records the layout `own` if no layout is recorded or the recorded layout equals `replaceable`. Returns the recorded
-- layout.
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

-- Records the layout of a process if Redis has no layout, or if the recorded layout equals `replaceable`. Returns the
-- layout that is recorded afterwards. agreements.ts documents the command.
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

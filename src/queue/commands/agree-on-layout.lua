-- Records the layout of the queue if Redis has no layout or has the replaceable one. Returns the layout that is then
-- recorded. agreements.ts documents the command.
local layout = KEYS[1]
local own, replaceable = ARGV[1], ARGV[2]

-- A worker must be able to start at `maxmemory`, because only workers free memory.
allow_at_maxmemory(layout)

local recorded = redis.call('GET', layout)
if not recorded or recorded == replaceable then
  redis.call('SET', layout, own)
  return own
end
return recorded

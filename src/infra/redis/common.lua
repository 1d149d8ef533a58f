-- Functions that `defineScript` puts in front of each script.

-- Lets the script write at `maxmemory`: there Redis continues a script only after its first write, and this one has no effect.
-- The script may add only little data. From Redis 7 on, `flags=allow-oom` has the same effect.
local function allow_at_maxmemory(key) redis.call('DEL', key .. ':nothing') end

-- The time of this Redis, epoch milliseconds.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Returns a function that returns the next values of ARGV, after the first `position` ones; nil after the last one.
local function arguments_after(position)
  return function(count)
    local first = position + 1
    position = position + count
    return unpack(ARGV, first, position)
  end
end


-- Functions that `defineScript` puts in front of each script.

-- Lets the script write even if the memory of Redis is full (`maxmemory`). With full memory, Redis allows commands that
-- need memory only in a script that has already written. This `DEL` of a missing key needs no memory, but counts as a
-- write.
-- The script must add only little data. From Redis 7 on, `flags=allow-oom` has the same effect.
local function allow_at_maxmemory(key) redis.call('DEL', key .. ':nothing') end

-- The time of the Redis server that runs the script, epoch milliseconds.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Returns a function that reads ARGV from left to right and skips the first `position` values. Each call returns the
-- next `count` values. After the end of ARGV, the values are nil.
local function arguments_after(position)
  return function(count)
    local first = position + 1
    position = position + count
    return unpack(ARGV, first, position)
  end
end


-- Functions that `defineScript` puts in front of each script.

-- Lets a script write although the memory of Redis is full (`maxmemory`). After the first write of a script, Redis
-- ignores `maxmemory` for this script. `DEL` of a missing key counts as a write and needs no memory.
-- A script that calls this function must add only little data.
local function allow_at_maxmemory(key) redis.call('DEL', key .. ':nothing') end

-- Epoch milliseconds of the Redis server that runs the script.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Skips the first `position` values of ARGV. Each call of the returned function returns the next `count` values.
local function arguments_after(position)
  return function(count)
    local first = position + 1
    position = position + count
    return unpack(ARGV, first, position)
  end
end


-- Admits requests: checks the rate of the client, and that no other request has used the signature. admission.ts
-- documents the command.
local grace, memory = tonumber(ARGV[1]), ARGV[2]
local max_remembered, largest_batch = tonumber(ARGV[3]), tonumber(ARGV[4])

-- KEYS has two keys per request: the remembered signatures, and the rate. The rest of ARGV has five values per request:
-- signature, use, interval, burst and number of pushes. The use is a digest that identifies the request. The interval
-- is the milliseconds for one push; 0: no limit.
local key_position = 0
local function take_keys()
  key_position = key_position + 2
  return KEYS[key_position - 1], KEYS[key_position]
end
local take = arguments_after(4)

local now = now_ms()

-- By key of the remembered signatures: how many signatures Redis remembers there.
local sizes = {}

-- Remembers the first use of a signature and the time of that use. Later uses do not change this record.
-- @returns true if another request was the first use, at least `grace` milliseconds ago
local function is_reused(seen, signature, use)
  sizes[seen] = sizes[seen] or redis.call('HLEN', seen)
  if sizes[seen] < max_remembered then
    local first = string.format('%.0f %s', now, use)
    if redis.call('HSETNX', seen, signature, first) == 1 then
      redis.call('PEXPIRE', seen, memory)
      sizes[seen] = sizes[seen] + 1
      return false
    end
  end
  local first = redis.call('HGET', seen, signature)
  if not first then return false end
  local at, first_use = string.match(first, '^(%d+) (.*)$')
  return first_use ~= use and now - tonumber(at) >= grace
end

local ADMITTED, REUSED = 0, -1
-- By rate key: the time at which the bucket of this key will be empty.
local empty_at, answers = {}, {}
while key_position < #KEYS do
  local seen, rate = take_keys()
  local signature, use, interval_text, burst_text, pushes_text = take(5)
  local interval, burst, pushes = tonumber(interval_text), tonumber(burst_text), tonumber(pushes_text)
  local wait, room = ADMITTED, 0
  if interval > 0 then
    local capacity = burst * interval
    local max_capacity = math.max(burst, largest_batch) * interval
    local at = math.max(now, empty_at[rate] or tonumber(redis.call('GET', rate) or '0'))
    -- A bucket that was filled while the rate was lower may be above the maximum.
    if at > now + max_capacity then
      at = now + max_capacity
      empty_at[rate] = at
    end
    local excess = at + math.min(pushes, burst) * interval - now - capacity
    if excess > 0 then
      wait = math.ceil(excess)
    else
      empty_at[rate] = at + pushes * interval
      room = math.max(0, math.floor((capacity - (empty_at[rate] - now)) / interval))
    end
  end
  -- The signature of a request above the rate is not remembered, so that it does not use memory.
  if wait == ADMITTED and grace >= 0 and is_reused(seen, signature, use) then wait = REUSED end
  answers[#answers + 1] = { wait, room }
end
for rate, at in pairs(empty_at) do
  redis.call('SET', rate, tostring(at), 'PX', math.ceil(at - now))
end
return answers

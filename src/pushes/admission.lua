-- Checks the rate limit and the reuse of the signature for each request. `run` in admission.ts describes the answer.
local grace, memory = tonumber(ARGV[1]), ARGV[2]
local max_remembered, largest_batch = tonumber(ARGV[3]), tonumber(ARGV[4])

-- KEYS, per request: remembered signatures, rate.
-- ARGV, after the four values above, per request: signature, use (a digest of path and idempotency key), interval
-- (milliseconds for one push; 0: no limit), burst, number of pushes.
local key_position = 0
local function take_keys()
  key_position = key_position + 2
  return KEYS[key_position - 1], KEYS[key_position]
end
local take = arguments_after(4)

local now = now_ms()

local ADMITTED, REUSED = 0, -1
-- `empty_at`: for each Redis key of a rate, the epoch milliseconds at which the leaky bucket will be empty.
local empty_at, answers = {}, {}
-- For each Redis key of remembered signatures: the requests whose signatures are checked.
local signed = {}
while key_position < #KEYS do
  local seen, rate = take_keys()
  local signature, use, interval_text, burst_text, pushes_text = take(5)
  local interval, burst, pushes = tonumber(interval_text), tonumber(burst_text), tonumber(pushes_text)
  local wait, room = ADMITTED, 0
  if interval > 0 then
    local capacity = burst * interval
    local max_capacity = math.max(burst, largest_batch) * interval
    local at = math.max(now, empty_at[rate] or tonumber(redis.call('GET', rate) or '0'))
    -- After a change of the rate or of the burst, the bucket can exceed `max_capacity`.
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
  answers[#answers + 1] = { wait, room }
  -- A request above the rate must not use memory for its signature. A negative `grace` means SIGNATURE_GRACE=off.
  if wait == ADMITTED and grace >= 0 then
    local requests = signed[seen] or { signatures = {}, uses = {}, positions = {} }
    table.insert(requests.signatures, signature)
    table.insert(requests.uses, use)
    table.insert(requests.positions, #answers)
    signed[seen] = requests
  end
end
for rate, at in pairs(empty_at) do
  redis.call('SET', rate, tostring(at), 'PX', math.ceil(at - now))
end

-- A repeated signature is rejected if `use` differs and `grace` milliseconds have passed since the first request.
for seen, requests in pairs(signed) do
  local remembered = redis.call('HMGET', seen, unpack(requests.signatures))
  local size = redis.call('HLEN', seen)
  local added, first_uses = {}, {}
  for index, signature in ipairs(requests.signatures) do
    local use = requests.uses[index]
    local first = remembered[index] or first_uses[signature]
    if first then
      local at, first_use = string.match(first, '^(%d+) (.*)$')
      local is_reused = first_use ~= use and now - tonumber(at) >= grace
      if is_reused then answers[requests.positions[index]][1] = REUSED end
    elseif size < max_remembered then
      first_uses[signature] = string.format('%.0f %s', now, use)
      added[#added + 1] = signature
      added[#added + 1] = first_uses[signature]
      size = size + 1
    end
  end
  if #added > 0 then
    redis.call('HSET', seen, unpack(added))
    redis.call('PEXPIRE', seen, memory)
  end
end
return answers

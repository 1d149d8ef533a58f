-- Appends pushes to partitions of one shard. append-pushes.ts documents the command.
local partition_bytes, owners = KEYS[1], KEYS[2]
local lists = { unpack(KEYS, 3) }
local max_pushes, max_bytes = tonumber(ARGV[1]), tonumber(ARGV[2])
local wake_up_prefix = ARGV[3]

-- The rest of ARGV: the number of each partition; then for each push the index of its list, its deadline and its text.
local take = arguments_after(3)
local numbers = { take(#lists) }

local now = now_ms()

local length, bytes, was_empty = {}, {}, {}
for list, key in ipairs(lists) do
  length[list] = redis.call('LLEN', key)
  was_empty[list] = length[list] == 0
  -- The count of an empty partition starts at zero, even if an earlier count was wrong.
  bytes[list] = was_empty[list] and 0
    or tonumber(redis.call('HGET', partition_bytes, numbers[list]) or '0')
end

local APPENDED, TOO_MANY_PUSHES, TOO_MANY_BYTES = 0, 1, 2
local outcomes, rejection, has_grown = {}, {}, {}
local list_text, deadline, text = take(3)
while list_text do
  local list = tonumber(list_text)
  local item = string.format('%013d%013d', deadline, now) .. text
  -- A partition that rejected one push rejects all later pushes of this call, because they must not overtake it.
  if not rejection[list] then
    if length[list] >= max_pushes then
      rejection[list] = TOO_MANY_PUSHES
    elseif length[list] > 0 and bytes[list] + #item > max_bytes then
      rejection[list] = TOO_MANY_BYTES
    end
  end
  if not rejection[list] then
    length[list] = redis.call('RPUSH', lists[list], item)
    bytes[list] = bytes[list] + #item
    has_grown[list] = true
  end
  outcomes[#outcomes + 1] = rejection[list] or APPENDED
  list_text, deadline, text = take(3)
end

local unowned, notified = {}, {}
for list in pairs(has_grown) do
  local number = numbers[list]
  redis.call('HSET', partition_bytes, number, bytes[list])
  if was_empty[list] then
    local owner_id = string.match(redis.call('HGET', owners, number) or '', '^(%w+):')
    if owner_id then
      notified[owner_id] = (notified[owner_id] and notified[owner_id] .. ' ' or '') .. number
    else
      unowned[#unowned + 1] = tonumber(number)
    end
  end
end
for owner_id, partitions in pairs(notified) do
  redis.call('PUBLISH', wake_up_prefix .. owner_id, partitions)
end
return { outcomes, unowned, now }

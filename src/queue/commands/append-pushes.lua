-- Appends pushes to partitions of one shard (append-pushes.ts).
local partition_bytes, owners, partition_clients = KEYS[1], KEYS[2], KEYS[3]
local lists = { unpack(KEYS, 4) }
local max_pushes, max_bytes = tonumber(ARGV[1]), tonumber(ARGV[2])
local share_pushes, share_bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local tally_from_pushes, tally_from_bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local wake_up_prefix = ARGV[7]

-- The rest of ARGV: the number of each partition; then for each push the index of its list, its deadline and text.
local take = arguments_after(7)
local numbers = { take(#lists) }

local now = now_ms()
local has_tallies = redis.call('EXISTS', partition_clients) == 1

local stored_bytes = redis.call('HMGET', partition_bytes, unpack(numbers))
local length, bytes, was_empty, tallies = {}, {}, {}, {}
for list, key in ipairs(lists) do
  length[list] = redis.call('LLEN', key)
  was_empty[list] = length[list] == 0
  bytes[list] = was_empty[list] and 0 or tonumber(stored_bytes[list] or '0')
  if has_tallies then tallies[list] = read_tally(partition_clients, numbers[list], length[list]) end
end

local function count_all(list)
  local tally, chunk = {}, 100
  for first = 0, length[list] - 1, chunk do
    for _, item in ipairs(redis.call('LRANGE', lists[list], first, first + chunk - 1)) do
      count_item(tally, client_of(item), #item, 1)
    end
  end
  return tally
end

-- Returns the tally of a list (client-tally.lua). If the list has no tally, the function counts a large list and
-- returns nil for a small list.
local function tally_of(list, size)
  local holds_much = length[list] >= tally_from_pushes or bytes[list] + size > tally_from_bytes
  if holds_much and not tallies[list] then tallies[list] = count_all(list) end
  return tallies[list]
end

local APPENDED, TOO_MANY_PUSHES, TOO_MANY_BYTES = 0, 1, 2

-- Returns the reason to reject a push, or nil if the list has room. A client may exceed its share while the list has
-- no pushes of other clients. The first push of each client may be larger than the share.
local function check(list, client, size)
  local tally = tallies[list]
  local own_pushes, own_bytes = unpack(tally[client] or { 0, 0 })
  local is_alone = own_pushes == length[list]
  if not is_alone then
    if own_pushes >= share_pushes then return TOO_MANY_PUSHES end
    if own_pushes > 0 and own_bytes + size > share_bytes then return TOO_MANY_BYTES end
  end
  if length[list] < max_pushes and bytes[list] + size <= max_bytes then return nil end
  -- A client that fills the list must not block other clients. Therefore, pushes that another client has beyond its
  -- share do not count.
  local counted_pushes, counted_bytes = own_pushes, own_bytes
  for other, held in pairs(tally) do
    if other ~= client then
      counted_pushes = counted_pushes + math.min(held[1], share_pushes)
      counted_bytes = counted_bytes + math.min(held[2], share_bytes)
    end
  end
  if counted_pushes >= max_pushes then return TOO_MANY_PUSHES end
  if counted_pushes > 0 and counted_bytes + size > max_bytes then return TOO_MANY_BYTES end
end

local outcomes, rejections, has_grown = {}, {}, {}
local list_text, deadline, text = take(3)
while list_text do
  local list = tonumber(list_text)
  local item = string.format('%013d%013d', deadline, now) .. text
  local tally, client, rejection = tally_of(list, #item), nil, nil
  if tally then
    client = client_of(text)
    local rejected = rejections[list] or {}
    -- Later pushes of a client must not overtake its rejected pushes.
    rejection = rejected[client] or check(list, client, #item)
    rejected[client] = rejection
    rejections[list] = rejected
  end
  if not rejection then
    length[list] = redis.call('RPUSH', lists[list], item)
    bytes[list] = bytes[list] + #item
    has_grown[list] = true
    if tally then count_item(tally, client, #item, 1) end
  end
  outcomes[#outcomes + 1] = rejection or APPENDED
  list_text, deadline, text = take(3)
end

for list, tally in pairs(tallies) do
  redis.call('HSET', partition_clients, numbers[list], cjson.encode(tally))
end

local new_bytes, woken = {}, {}
for list in pairs(has_grown) do
  new_bytes[#new_bytes + 1] = numbers[list]
  new_bytes[#new_bytes + 1] = bytes[list]
  if was_empty[list] then woken[#woken + 1] = numbers[list] end
end
if #new_bytes > 0 then redis.call('HSET', partition_bytes, unpack(new_bytes)) end

local unowned, notified = {}, {}
local owner_texts = #woken > 0 and redis.call('HMGET', owners, unpack(woken)) or {}
for index, number in ipairs(woken) do
  local owner_id = string.match(owner_texts[index] or '', '^(%w+):')
  if owner_id then
    notified[owner_id] = (notified[owner_id] and notified[owner_id] .. ' ' or '') .. number
  else
    unowned[#unowned + 1] = tonumber(number)
  end
end
for owner_id, partitions in pairs(notified) do
  redis.call('PUBLISH', wake_up_prefix .. owner_id, partitions)
end
return { outcomes, unowned, now }

-- Reads the first pushes of some partitions of one shard (partitions.ts).
local owners, owners_known = KEYS[1], KEYS[2]
local lists = { unpack(KEYS, 3) }
local max_items, max_bytes = tonumber(ARGV[1]), tonumber(ARGV[2])
local reader, max_fenced = ARGV[3], tonumber(ARGV[4])

-- The rest of ARGV: for each partition its number, and 1 if the reader has just received the job of the partition.
local take = arguments_after(4)

local LOST = -1
local now = now_ms()
local reader_id = string.match(reader, '^%w+')
local fenced = {}

local numbers, are_taken = {}, {}
for list = 1, #lists do
  numbers[list], are_taken[list] = take(2)
end
local owner_of = {}
for list, text in ipairs(redis.call('HMGET', owners, unpack(numbers))) do
  owner_of[numbers[list]] = text or ''
end

-- Returns whether the reader owns the partition. A reader that has just received the job of the partition becomes the
-- owner. The function adds the earlier owners to `fenced`, because their transactions can still be open.
local function claim(number, is_taken)
  local text = owner_of[number]
  if text == reader then return true end
  local owner, earlier = string.match(text, '^(%S*)%s?(.*)$')
  local is_own = string.match(owner, '^%w*') == reader_id
  if not (is_own or is_taken) then return false end
  local others = {}
  if not is_own and owner ~= '' then others[1] = owner end
  for other in string.gmatch(earlier, '%S+') do
    if #others < max_fenced then others[#others + 1] = other end
  end
  for _, other in ipairs(others) do fenced[#fenced + 1] = other end
  if owner ~= reader then
    -- Workers must be able to take partitions while the memory of Redis is full, because only workers free memory.
    allow_at_maxmemory(owners)
    owner_of[number] = table.concat({ reader, unpack(others) }, ' ')
    redis.call('HSET', owners, number, owner_of[number])
  end
  return true
end

-- Always reads the first item, even if the item exceeds the byte limit.
local function read(list, limit, byte_limit)
  local items, bytes, size = {}, 0, 4
  while #items < limit and bytes < byte_limit do
    local chunk = redis.call('LRANGE', list, #items, math.min(#items + size, limit) - 1)
    for _, item in ipairs(chunk) do
      if #items > 0 and bytes + #item > byte_limit then return items, bytes end
      items[#items + 1] = item
      bytes = bytes + #item
    end
    if #chunk < size then break end
    -- Assumes that the next items have the average size of `items`.
    size = math.max(1, math.min(32, math.floor((byte_limit - bytes) * #items / bytes)))
  end
  return items, bytes
end

local found, sizes, readable = {}, {}, {}
for list, number in ipairs(numbers) do
  if claim(number, are_taken[list] == '1') then
    readable[#readable + 1] = list
  else
    found[list], sizes[list] = LOST, 0
  end
end

local function share(limit) return math.max(1, math.floor(limit / #readable)) end
local total = 0
-- The order of the partitions changes from call to call. In a fixed order, the first partitions could always use up all
-- bytes.
for turn = 1, #readable do
  local list = readable[(turn + now) % #readable + 1]
  found[list], sizes[list] = {}, 0
  if total < max_bytes then
    found[list], sizes[list] = read(lists[list], share(max_items), share(max_bytes))
    total = total + sizes[list]
  end
end
return { now, fenced, found, sizes, redis.call('EXISTS', owners_known) }

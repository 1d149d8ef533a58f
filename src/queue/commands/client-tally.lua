-- Functions for append-pushes.lua and reply-and-remove.lua. The tally of a partition contains the number and the bytes
-- of the waiting pushes of each client.

-- `sign`: 1 adds the item, -1 subtracts the item.
local function count_item(tally, client, size, sign)
  local pushes, bytes = unpack(tally[client] or { 0, 0 })
  pushes, bytes = pushes + sign, bytes + sign * size
  tally[client] = pushes > 0 and { pushes, bytes } or nil
end

-- Only the field `clientId` matches this pattern, because JSON escapes quotation marks within strings. The end
-- `","` of the pattern always matches, because another field follows `clientId`.
local function client_of(item) return string.match(item, '"clientId":"(.-)","') or '' end

-- Returns the stored tally, or nil if no tally is stored. If the total of the tally is not `length`, the
-- function removes the tally and returns nil. Processes of an earlier version do not update tallies.
local function read_tally(partition_clients, number, length)
  local text = redis.call('HGET', partition_clients, number)
  if not text then return nil end
  local tally, total = cjson.decode(text), 0
  for _, own in pairs(tally) do total = total + own[1] end
  if total == length then return tally end
  redis.call('HDEL', partition_clients, number)
end


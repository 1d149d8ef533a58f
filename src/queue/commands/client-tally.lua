-- Functions that append-pushes.lua and reply-and-remove.lua use. A tally counts the waiting pushes in one partition:
-- for each client id, the number of pushes and their total bytes. The hash `partition_clients` stores the tally of
-- each partition as JSON.

-- Adds an item of `size` bytes to a tally if `sign` is 1. Subtracts the item if `sign` is -1.
local function count_item(tally, client, size, sign)
  local pushes, bytes = unpack(tally[client] or { 0, 0 })
  pushes, bytes = pushes + sign, bytes + sign * size
  tally[client] = pushes > 0 and { pushes, bytes } or nil
end

-- Returns the client id of an item, with the escapes of its JSON. JSON escapes quotation marks within strings, so no
-- other text of the item looks like the field `clientId`. Another field always follows, so the pattern ends with a
-- comma.
local function client_of(item) return string.match(item, '"clientId":"(.-)","') or '' end

-- Returns the stored tally of a partition with `length` pushes, or nil. Processes of an earlier version append and
-- remove pushes without updating the tally. Therefore a tally is deleted if its number of pushes is not `length`.
local function read_tally(partition_clients, number, length)
  local text = redis.call('HGET', partition_clients, number)
  if not text then return nil end
  local tally, total = cjson.decode(text), 0
  for _, own in pairs(tally) do total = total + own[1] end
  if total == length then return tally end
  redis.call('HDEL', partition_clients, number)
end


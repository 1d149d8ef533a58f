-- Publishes the replies of a batch, then removes the pushes of the batch from one shard (partitions.ts).
local owners, partition_bytes, partition_clients = KEYS[1], KEYS[2], KEYS[3]
local lists = { unpack(KEYS, 4) }
local owner, has_fenced, reply_count = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3])

-- The rest of ARGV: channel and text of each message. Then, for each partition: its number, the count and bytes of the
-- batch's pushes, and the header of the last push.
local take = arguments_after(3)

-- The script must be able to write `owners` while the memory of Redis is full, because only workers free memory.
if has_fenced then allow_at_maxmemory(owners) end

for _ = 1, reply_count do
  local channel, message = take(2)
  redis.call('PUBLISH', channel, message)
end

local has_tallies = redis.call('EXISTS', partition_clients) == 1

local waiting, numbers, emptied = {}, {}, {}
for list, key in ipairs(lists) do
  local number, count_text, bytes, header = take(4)
  local count = tonumber(count_text)
  -- A list can lose pushes only at its ends. Another batch removes the first pushes; a failover loses the last pushes.
  -- If the last push of the batch is still at its position, no push of the batch is missing.
  local last = redis.call('LINDEX', key, count - 1)
  local is_unchanged = count > 0 and last and string.sub(last, 1, #header) == header
  local tally = has_tallies and is_unchanged and read_tally(partition_clients, number, redis.call('LLEN', key))
  if tally then
    for _, item in ipairs(redis.call('LRANGE', key, 0, count - 1)) do
      count_item(tally, client_of(item), #item, -1)
    end
  end
  if is_unchanged then redis.call('LTRIM', key, count, -1) end
  local length = redis.call('LLEN', key)
  if tally and length > 0 then redis.call('HSET', partition_clients, number, cjson.encode(tally)) end
  if length == 0 then
    emptied[#emptied + 1] = number
  elseif is_unchanged then
    redis.call('HINCRBY', partition_bytes, number, -bytes)
  end
  waiting[list], numbers[list] = length, number
end

if #emptied > 0 then
  redis.call('HDEL', partition_bytes, unpack(emptied))
  if has_tallies then redis.call('HDEL', partition_clients, unpack(emptied)) end
end

-- The batch has ended the open transactions of earlier owners, so the script removes the earlier owners.
if has_fenced then
  for list, text in ipairs(redis.call('HMGET', owners, unpack(numbers))) do
    if string.match(text or '', '^%S*') == owner then redis.call('HSET', owners, numbers[list], owner) end
  end
end
return waiting

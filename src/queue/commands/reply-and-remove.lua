-- Publishes the replies of a batch, then removes its pushes from the partitions of one shard.
-- partitions.ts documents the command.
local owners, partition_bytes = KEYS[1], KEYS[2]
local lists = { unpack(KEYS, 3) }
local owner, has_fenced, reply_count = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3])

-- The rest of ARGV: for each message its channel and text; then four values for each partition. These are its number, and the
-- count, the bytes and the last header of the pushes that the batch has read from it.
local take = arguments_after(3)

-- The HSET below must work at `maxmemory`.
if has_fenced then allow_at_maxmemory(owners) end

for _ = 1, reply_count do
  local channel, message = take(2)
  redis.call('PUBLISH', channel, message)
end

local waiting = {}
for list, key in ipairs(lists) do
  local number, count_text, bytes, header = take(4)
  local count = tonumber(count_text)
  -- If the last push of the batch is at its position, so are all earlier pushes. Another batch would have removed pushes from
  -- the front of the list, and a failover would have lost pushes at the end.
  local last = redis.call('LINDEX', key, count - 1)
  local is_unchanged = count > 0 and last and string.sub(last, 1, #header) == header
  if is_unchanged then redis.call('LTRIM', key, count, -1) end
  local length = redis.call('LLEN', key)
  if length == 0 then
    redis.call('HDEL', partition_bytes, number)
  elseif is_unchanged then
    redis.call('HINCRBY', partition_bytes, number, -bytes)
  end
  local is_owner = string.match(redis.call('HGET', owners, number) or '', '^%S*') == owner
  if has_fenced and is_owner then redis.call('HSET', owners, number, owner) end
  waiting[list] = length
end
return waiting

/** The scripts that work on partitions, each in one step. partitions.ts calls them. */
import { AT_MAXMEMORY } from './redis';

/**
 * KEYS: bytes, partitions. ARGV: most pushes and most bytes of a partition, the partitions' numbers,
 * then per push index of its partition, deadline (Redis time) and text. Per push 0: appended, 1 or 2:
 * which limit rejects.
 */
export const APPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, mostBytes = tonumber(ARGV[1]), tonumber(ARGV[2])
local length, bytes, grown, wasEmpty, appended = {}, {}, {}, {}, {}
for l = 1, #KEYS - 1 do
  length[l] = redis.call('LLEN', KEYS[l + 1])
  -- Where nothing waits nothing can be counted wrong: by a process that does not count, say.
  bytes[l] = length[l] > 0 and tonumber(redis.call('HGET', KEYS[1], ARGV[l + 2]) or '0') or 0
  wasEmpty[l] = length[l] == 0 and 1 or 0
end
for i = #KEYS + 2, #ARGV, 3 do
  local l = tonumber(ARGV[i])
  local item = string.format('%013d%013d', ARGV[i + 1], now) .. ARGV[i + 2]
  if length[l] >= most then
    appended[#appended + 1] = 1
  elseif length[l] > 0 and bytes[l] + #item > mostBytes then
    appended[#appended + 1] = 2
  else
    length[l] = redis.call('RPUSH', KEYS[l + 1], item)
    bytes[l] = bytes[l] + #item
    grown[l] = true
    appended[#appended + 1] = 0
  end
end
for l in pairs(grown) do redis.call('HSET', KEYS[1], ARGV[l + 2], bytes[l]) end
return {appended, wasEmpty, now}`;

/**
 * KEYS: owners, partitions. ARGV: most items and most bytes of a partition, owner, most fenced owners,
 * partition numbers. It writes down the owner, and must do so at `maxmemory` too: else nobody could
 * make room.
 */
export const READ = `${AT_MAXMEMORY}
local time = redis.call('TIME')
local most, mostBytes, owner = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local records, sizes, fencedOwners = {}, {}, {}
for l = 2, #KEYS do
  local items, bytes, from = {}, 0, 0
  while #items < most and bytes < mostBytes do
    local chunk = redis.call('LRANGE', KEYS[l], from, math.min(from + 31, most - 1))
    if #chunk == 0 then break end
    for _, item in ipairs(chunk) do
      items[#items + 1] = item
      bytes = bytes + #item
    end
    from = from + 32
  end
  -- The owner in front, then the owners that it fences, until a batch is acknowledged.
  local partition, others = ARGV[3 + l], {}
  for other in string.gmatch(redis.call('HGET', KEYS[1], partition) or '', '%S+') do
    if other ~= owner and #others < tonumber(ARGV[4]) then
      others[#others + 1] = other
      fencedOwners[#fencedOwners + 1] = other
    end
  end
  if #items > 0 then
    redis.call('HSET', KEYS[1], partition, owner .. ' ' .. table.concat(others, ' '))
  end
  records[#records + 1] = items
  sizes[#sizes + 1] = bytes
end
return {time[1] * 1000 + math.floor(time[2] / 1000), fencedOwners, records, sizes}`;

/**
 * KEYS: owners, bytes, partitions. ARGV: owner, then per partition its number, how many were read,
 * their bytes and the header of the last item, then channel and message of each reply. Where the last
 * one stands where it was read, so do all before it: a batch that overtook took from the front, a
 * failover from the end.
 */
export const ACKNOWLEDGE = `
local owner, left = ARGV[1], {}
for i = 4 * #KEYS - 6, #ARGV, 2 do
  redis.call('PUBLISH', ARGV[i], ARGV[i + 1])
end
for l = 3, #KEYS do
  local at = 4 * l - 10
  local partition, count, bytes, header = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local last = redis.call('LINDEX', KEYS[l], count - 1)
  if last and string.sub(last, 1, #header) == header then
    redis.call('LTRIM', KEYS[l], count, -1)
    if redis.call('HINCRBY', KEYS[2], partition, -bytes) <= 0 then redis.call('HDEL', KEYS[2], partition) end
  end
  local held = redis.call('HGET', KEYS[1], partition) or ''
  if string.match(held, '^%S*') == owner then redis.call('HDEL', KEYS[1], partition) end
  left[#left + 1] = redis.call('LLEN', KEYS[l])
  if left[#left] == 0 then redis.call('HDEL', KEYS[2], partition) end
end
return left`;

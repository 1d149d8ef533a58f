/**
 * The scripts that work on partitions, each in one step and on one shard. partitions.ts calls them.
 *
 * A partition's owner is `id:sessions@name` (owner.ts); behind it, after a blank each, stand the owners
 * that it fenced, until it has acknowledged a batch.
 */
import { AT_MAXMEMORY } from './redis';

/**
 * KEYS: partitioning, bytes, owners, partitions. ARGV: first and count of the partitioning by which the
 * caller chose, the same of a new queue, most pushes and most bytes of a partition, prefix of the
 * channels for rings, the partitions' numbers, then per push index of its partition, deadline (Redis
 * time) and text. Returns the partitioning where it is another one; nothing was appended then. Else per
 * push 0: appended, 1 or 2: which limit rejects; then the partitions that nobody holds, and the time.
 * A partition that has rejected one push takes none behind it: it must not overtake that one. Who holds
 * a partition that was empty is rung.
 */
export const APPEND = `
local known = redis.call('HMGET', KEYS[1], 'first', 'count')
local first, count = known[1] or ARGV[3], known[2] or ARGV[4]
if first ~= ARGV[1] or count ~= ARGV[2] then return {tonumber(first), tonumber(count)} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, mostBytes, numbers = tonumber(ARGV[5]), tonumber(ARGV[6]), 7
local length, bytes, full, grown, wasEmpty, appended = {}, {}, {}, {}, {}, {}
for l = 1, #KEYS - 3 do
  length[l] = redis.call('LLEN', KEYS[l + 3])
  -- Where nothing waits nothing can be counted wrong: by a process that does not count, say.
  bytes[l] = length[l] > 0 and tonumber(redis.call('HGET', KEYS[2], ARGV[l + numbers]) or '0') or 0
  wasEmpty[l] = length[l] == 0
end
for i = #KEYS + numbers - 2, #ARGV, 3 do
  local l = tonumber(ARGV[i])
  local item = string.format('%013d%013d', ARGV[i + 1], now) .. ARGV[i + 2]
  if not full[l] then
    if length[l] >= most then
      full[l] = 1
    elseif length[l] > 0 and bytes[l] + #item > mostBytes then
      full[l] = 2
    end
  end
  if full[l] then
    appended[#appended + 1] = full[l]
  else
    length[l] = redis.call('RPUSH', KEYS[l + 3], item)
    bytes[l] = bytes[l] + #item
    grown[l] = true
    appended[#appended + 1] = 0
  end
end
local unheld, rings = {}, {}
for l in pairs(grown) do
  local number = ARGV[l + numbers]
  redis.call('HSET', KEYS[2], number, bytes[l])
  if wasEmpty[l] then
    local holder = string.match(redis.call('HGET', KEYS[3], number) or '', '^(%w+):')
    if holder then
      rings[holder] = (rings[holder] and rings[holder] .. ' ' or '') .. number
    else
      unheld[#unheld + 1] = tonumber(number)
    end
  end
end
for holder, held in pairs(rings) do redis.call('PUBLISH', ARGV[7] .. holder, held) end
return {appended, unheld, now}`;

/**
 * KEYS: owners, draining, partitioning, owners known, partitions. ARGV: most items and most bytes in all, owner, most fenced
 * owners, shards, then per partition its number and 1 where the owner takes it now, 0 where it holds it. Per
 * partition its items and their bytes, or -1: another one holds it, or -2: an older partition that may hold
 * pushes of its groups drains first. All others have an equal share; an item that is larger than its share is
 * read alone, and once the bytes are used up, partitions have none: the answer exceeds its bound by one item at most.
 * Which older ones these are follows from the two counts where one divides the other; else any may be.
 * Taking must go at `maxmemory` too: else nobody could make room.
 */
export const READ = `
local time = redis.call('TIME')
local owner = ARGV[3]
local id = string.match(owner, '^%w+')
local shards = tonumber(ARGV[5])
local isDraining = redis.call('SCARD', KEYS[2]) > 0
local found, sizes, fencedOwners, readable = {}, {}, {}, {}
local first, count, oldFirst, oldCount
if isDraining then
  local known = redis.call('HMGET', KEYS[3], 'first', 'count', 'oldFirst', 'oldCount')
  first, count = tonumber(known[1] or 0), tonumber(known[2] or 0)
  oldFirst, oldCount = tonumber(known[3] or 0), tonumber(known[4] or 0)
  -- A process that does not know of them has changed the partitions since.
  if oldFirst + oldCount ~= first then oldCount = 0 end
end
local function waits(partition)
  if not isDraining then return false end
  local shard = partition % shards
  local index = (partition - shard) / shards - first
  if index < 0 then return false end
  local step = count
  if oldCount > 0 and count % oldCount == 0 then
    index, step = index % oldCount, oldCount
  elseif oldCount == 0 or oldCount % count ~= 0 then
    return true
  end
  for old = index, oldCount - 1, step do
    if redis.call('SISMEMBER', KEYS[2], (oldFirst + old) * shards + shard) == 1 then return true end
  end
  return false
end
local function own(number, others)
  ${AT_MAXMEMORY}
  redis.call('HSET', KEYS[1], number, table.concat({owner, unpack(others)}, ' '))
end
local function hold(number, takes)
  local text = redis.call('HGET', KEYS[1], number) or ''
  if text == owner then return true end
  local holder, rest = string.match(text, '^(%S*)%s?(.*)$')
  local isMine = string.match(holder, '^%w*') == id
  if not (isMine or takes) then return false end
  local others = {}
  if not isMine and holder ~= '' then others[1] = holder end
  for other in string.gmatch(rest, '%S+') do
    if #others < tonumber(ARGV[4]) then others[#others + 1] = other end
  end
  for _, other in ipairs(others) do fencedOwners[#fencedOwners + 1] = other end
  if holder ~= owner then own(number, others) end
  return true
end
local function items(list, most, mostBytes)
  local read, bytes, size = {}, 0, 4
  while #read < most and bytes < mostBytes do
    local chunk = redis.call('LRANGE', list, #read, math.min(#read + size, most) - 1)
    for _, item in ipairs(chunk) do
      if #read > 0 and bytes + #item > mostBytes then return read, bytes end
      read[#read + 1] = item
      bytes = bytes + #item
    end
    if #chunk < size then break end
    -- As many as fit if they are like those before.
    size = math.max(1, math.min(32, math.floor((mostBytes - bytes) * #read / bytes)))
  end
  return read, bytes
end
for l = 5, #KEYS do
  local number, takes = ARGV[2 * l - 4], ARGV[2 * l - 3] == '1'
  if not hold(number, takes) then
    found[l - 4], sizes[l - 4] = -1, 0
  elseif waits(tonumber(number)) then
    found[l - 4], sizes[l - 4] = -2, 0
  else
    readable[#readable + 1] = l
  end
end
local function share(whole) return math.max(1, math.floor(tonumber(whole) / #readable)) end
local total, whole = 0, tonumber(ARGV[2])
for n = 1, #readable do
  -- From any of them on: where a few take all of the bytes, it is another few each time.
  local l = readable[(n + time[2]) % #readable + 1]
  found[l - 4], sizes[l - 4] = {}, 0
  if total < whole then
    found[l - 4], sizes[l - 4] = items(KEYS[l], share(ARGV[1]), share(whole))
    total = total + sizes[l - 4]
  end
end
return {time[1] * 1000 + math.floor(time[2] / 1000), fencedOwners, found, sizes, redis.call('EXISTS', KEYS[4])}`;

/** KEYS: owners known. It must go at `maxmemory` too: else every batch would end the work of all workers. */
export const NOTE_OWNERS_KNOWN = `${AT_MAXMEMORY}
redis.call('SET', KEYS[1], '1')
return 1`;

/**
 * KEYS: owners, bytes, draining, partitions. ARGV: owner, 1 where it fenced others, then per partition
 * its number, how many were read, their bytes and the header of the last item, then channel and message
 * of each reply. Where the last one stands where it was read, so do all before it: a batch that overtook
 * took from the front, a failover from the end.
 */
export const ACKNOWLEDGE = `
local owner, hasFenced, left = ARGV[1], ARGV[2] == '1', {}
if hasFenced then ${AT_MAXMEMORY} end
for i = 4 * #KEYS - 9, #ARGV, 2 do
  redis.call('PUBLISH', ARGV[i], ARGV[i + 1])
end
local isDraining = redis.call('EXISTS', KEYS[3]) == 1
for l = 4, #KEYS do
  local at = 4 * l - 13
  local partition, count, bytes, header = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
  local last = redis.call('LINDEX', KEYS[l], count - 1)
  local isTrimmed = count > 0 and last and string.sub(last, 1, #header) == header
  if isTrimmed then redis.call('LTRIM', KEYS[l], count, -1) end
  local length = redis.call('LLEN', KEYS[l])
  if length == 0 then
    redis.call('HDEL', KEYS[2], partition)
    if isDraining then redis.call('SREM', KEYS[3], partition) end
  elseif isTrimmed then
    redis.call('HINCRBY', KEYS[2], partition, -bytes)
  end
  if hasFenced and string.match(redis.call('HGET', KEYS[1], partition) or '', '^%S*') == owner then
    redis.call('HSET', KEYS[1], partition, owner)
  end
  left[#left + 1] = length
end
return left`;

/**
 * KEYS: owners, partitions. ARGV: id of the owner, which of them it lets go of (LetGo), the partitions' numbers.
 * Per partition how many pushes are left to others, or -1: it is still held. Owners that were fenced and whose
 * work may not be ended yet stay behind; of a batch that failed and is still there, the owner too.
 */
export const LET_GO = `${AT_MAXMEMORY}
local id, left = ARGV[1], {}
for l = 2, #KEYS do
  local number, length = ARGV[l + 1], redis.call('LLEN', KEYS[l])
  local text = redis.call('HGET', KEYS[1], number) or ''
  if string.match(text, '^%w*') ~= id then
    left[#left + 1] = length
  elseif length > 0 and ARGV[2] == 'IDLE' then
    left[#left + 1] = -1
  else
    local others = string.match(text, '^%S*(%s.*)$')
    if ARGV[2] == 'FAILED' and length > 0 then others = ' ' .. text end
    if others then redis.call('HSET', KEYS[1], number, others) else redis.call('HDEL', KEYS[1], number) end
    left[#left + 1] = length
  end
end
return left`;

/**
 * KEYS: bytes, owners, draining, sweep. ARGV: prefix of the partitions' names, characters of a time in an
 * item, id of the worker that asks, then milliseconds: how long the first push of a partition may wait
 * that this worker holds, and that another one does, and how long one look at all others is enough; then the
 * ids of the workers that are alive, where that is known. Returns the partitions to look at; among them those
 * without a push that are left to somebody who is not alive: their next push would ring nobody.
 */
export const FIND_DUE = `${AT_MAXMEMORY}
local prefix, digits, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = {}
local all = redis.call('SET', KEYS[4], id, 'NX', 'PX', ARGV[6])
for _, number in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  if redis.call('EXISTS', prefix .. number) == 0 then redis.call('SREM', KEYS[3], number) end
end
for _, number in ipairs(redis.call('HKEYS', KEYS[1])) do
  local holder = string.match(redis.call('HGET', KEYS[2], number) or '', '^(%w+):')
  if all or holder == id then
    local header = redis.call('LINDEX', prefix .. number, 0)
    local waited = header and now - tonumber(string.sub(header, digits + 1, 2 * digits))
    if not header then
      redis.call('HDEL', KEYS[1], number)
    elseif not holder or waited > tonumber(holder == id and ARGV[4] or ARGV[5]) then
      due[#due + 1] = tonumber(number)
    end
  end
end
if all and ARGV[7] then
  local isAlive = {}
  for i = 7, #ARGV do isAlive[ARGV[i]] = true end
  local held = redis.call('HGETALL', KEYS[2])
  for i = 1, #held, 2 do
    local isLeft = not isAlive[string.match(held[i + 1], '^%w*')]
    if isLeft and redis.call('HEXISTS', KEYS[1], held[i]) == 0 then due[#due + 1] = tonumber(held[i]) end
  end
end
return due`;

/**
 * KEYS: partitioning, bytes, draining. ARGV: first and count of a new queue, wanted count. Other
 * partitions take the pushes from now on; what waits in those that did drains first (READ). Returns the
 * partitioning, which is the old one while an earlier change is not through, and 1 where this call changed it.
 */
export const REPARTITION = `
local known = redis.call('HMGET', KEYS[1], 'first', 'count')
local first, count = tonumber(known[1] or ARGV[1]), tonumber(known[2] or ARGV[2])
local wanted = tonumber(ARGV[3])
if wanted == count or redis.call('EXISTS', KEYS[3]) == 1 then return {first, count, 0} end
for _, number in ipairs(redis.call('HKEYS', KEYS[2])) do redis.call('SADD', KEYS[3], number) end
redis.call('HSET', KEYS[1], 'oldFirst', first, 'oldCount', count)
first = first + count
redis.call('HSET', KEYS[1], 'first', first, 'count', wanted)
return {first, wanted, 1}`;

/**
 * KEYS: partitioning, bytes. ARGV: first and count of a new queue, prefix of the partitions' names,
 * characters of an item header. Returns the time and the partitioning, then of each partition that holds
 * pushes its number, how many, and the header of the first.
 */
export const LOOK = `
local time = redis.call('TIME')
local known = redis.call('HMGET', KEYS[1], 'first', 'count')
local seen = {time[1] * 1000 + math.floor(time[2] / 1000),
  tonumber(known[1] or ARGV[1]), tonumber(known[2] or ARGV[2])}
for _, number in ipairs(redis.call('HKEYS', KEYS[2])) do
  local list = ARGV[3] .. number
  seen[#seen + 1] = tonumber(number)
  seen[#seen + 1] = redis.call('LLEN', list)
  seen[#seen + 1] = string.sub(redis.call('LINDEX', list, 0) or '', 1, tonumber(ARGV[4]))
end
return seen`;


-- KEYS: those of the buckets, and behind them the set of those who share the store, and since when
-- it knows what was taken.
-- ARGV: the slot, how long its request can be under way, who asks; then of each bucket its
-- limit, how many slots to leave free, and its window.
-- Returns the wait and which bucket it is for, 0 and 0 if the slot is taken; then how many
-- share the store, since when it knows what was taken, and how many slots each bucket has left.

local slot, hold, asks = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local sharers, since = #KEYS - 1, #KEYS
local buckets = (#KEYS - 2) / 3

local function need(i)
  local a = 3 * i + 1
  return tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
end

-- ends appends when the first n slots of a set are free, at the latest known.
local function ends(all, key, n, most)
  local first = redis.call('ZRANGE', key, 0, n - 1, 'WITHSCORES')
  for j = 2, #first, 2 do all[#all + 1] = math.min(tonumber(first[j]), most) end
end

local function wait(k, limit, reserve, window)
  local longest = math.max(closed(k) - now, 0)
  local lacking = reserve + 1 - (limit - held(k))
  if lacking > 0 then
    local all = {}
    -- One under way holds its slot for a window after its answer, which may be now.
    ends(all, KEYS[k], lacking, now + window)
    ends(all, KEYS[k + 1], lacking, math.huge)
    table.sort(all)
    longest = math.max(longest, (all[lacking] or now + window) - now)
  end
  return longest
end

-- present notes who asks, and counts who has in the last window.
local lasts = 0
for i = 1, buckets do
  local _, _, window = need(i)
  lasts = math.max(lasts, hold + window)
end
local function present()
  redis.call('ZREMRANGEBYSCORE', KEYS[sharers], '-inf', int(now))
  redis.call('ZADD', KEYS[sharers], int(now + lasts), asks)
  live(sharers, lasts)
  return redis.call('ZCARD', KEYS[sharers])
end

-- known is since when the store knows what was taken: a server that was started anew, or flushed,
-- begins again.
local function known()
  redis.call('SET', KEYS[since], int(now), 'NX')
  live(since, lasts)
  return tonumber(redis.call('GET', KEYS[since]))
end

local function answer(longest, full)
  local all = {longest, full, present(), known()}
  for i = 1, buckets do
    local k, limit = at(i), need(i)
    all[#all + 1] = closed(k) > now and 0 or math.max(limit - held(k), 0)
  end
  return all
end

-- The script has run before, and its answer was lost.
if redis.call('ZSCORE', KEYS[1], slot) then return answer(0, 0) end

local longest, full = 0, 0
for i = 1, buckets do
  local _, _, window = need(i)
  sweep(at(i), hold + window)
  local w = wait(at(i), need(i))
  if w > longest then longest, full = w, i end
end
if full > 0 then return answer(longest, full) end

for i = 1, buckets do
  local k = at(i)
  local _, _, window = need(i)
  redis.call('ZADD', KEYS[k], int(now + hold + window), slot)
  live(k, hold + window)
end
return answer(0, 0)


-- ARGV: the place, how long its request can be under way; then of each bucket its
-- limit, how many places to keep, and its window.
-- Returns the wait and which bucket it is for; 0 and 0 if the place is taken.

local place, hold = ARGV[1], tonumber(ARGV[2])
local buckets = #KEYS / 3

local function claim(i)
  local a = 3 * i
  return tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
end

-- ends appends when the first n places of a set are free, at the latest known.
local function ends(all, key, n, most)
  local first = redis.call('ZRANGE', key, 0, n - 1, 'WITHSCORES')
  for j = 2, #first, 2 do all[#all + 1] = math.min(tonumber(first[j]), most) end
end

local function wait(k, limit, keep, window)
  local said, longest = word(k), 0
  if said.closed > now then longest = said.closed - now end
  if said.leftUntil > now and said.left <= keep then longest = math.max(longest, said.leftUntil - now) end
  local lacking = keep + 1 - (limit - held(k))
  if lacking > 0 then
    local all = {}
    -- One under way holds its place for a window after its answer, which may be now.
    ends(all, KEYS[k], lacking, now + window)
    ends(all, KEYS[k + 1], lacking, math.huge)
    table.sort(all)
    longest = math.max(longest, (all[lacking] or now + window) - now)
  end
  return longest
end

-- The script has run before, and its answer was lost.
if redis.call('ZSCORE', KEYS[1], place) then return {0, 0} end

local longest, lacks = 0, 0
for i = 1, buckets do
  sweep(at(i))
  local w = wait(at(i), claim(i))
  if w > longest then longest, lacks = w, i end
end
if lacks > 0 then return {longest, lacks} end

for i = 1, buckets do
  local k = at(i)
  local _, _, window = claim(i)
  redis.call('ZADD', KEYS[k], int(now + hold + window), place)
  live(k, hold + window)
  if word(k).leftUntil > now then redis.call('HINCRBY', KEYS[k + 2], 'left', -1) end
end
return {0, 0}

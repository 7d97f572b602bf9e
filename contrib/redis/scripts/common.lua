-- A bucket has three keys, of which at(i) is the first:
--   under way  a sorted set of slots, by when each is given up for dead
--   answered   a sorted set of slots, by when each is free again
--   closed     a hash: until when the service refuses everything, how many slots others
--              held when it said so (elsewhere), and when a script last ran (seen)
-- Times are microseconds of this server's clock, which no caller's can disturb.

-- TIME is not repeatable: Redis before 7 has to be told to replicate the effects.
if redis.replicate_commands then redis.replicate_commands() end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local function at(i) return 3 * i - 2 end

-- int writes a number in full, which Lua would round to 14 digits.
local function int(n) return string.format('%.0f', n) end

local function seen(k) return tonumber(redis.call('HGET', KEYS[k + 2], 'seen') or 0) end

-- earlier moves every time of a set back.
local function earlier(key, micros)
  local slots = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for j = 1, #slots, 2 do redis.call('ZADD', key, int(tonumber(slots[j + 1]) - micros), slots[j]) end
end

-- free removes the slots that are free by now.
local function free(k)
  redis.call('ZREMRANGEBYSCORE', KEYS[k], '-inf', int(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[k + 1], '-inf', int(now))
end

-- live lets a key expire, a little after the last of it is over.
local function live(k, micros)
  local ms = math.ceil(micros / 1000) + 1000
  if redis.call('PTTL', KEYS[k]) < ms then redis.call('PEXPIRE', KEYS[k], int(ms)) end
end

-- sweep removes the slots that are free by now, and notes the time for as long as slots
-- may be held. Where the clock was set back, or a replica takes over whose clock is
-- behind, what was noted before goes back with it: else slots would be held, and the
-- bucket closed, for that much longer.
local function sweep(k, micros)
  free(k) -- the first write: a full server refuses a script whose first write adds
  local back = seen(k) - now
  if back > 0 then
    earlier(KEYS[k], back)
    earlier(KEYS[k + 1], back)
    local till = tonumber(redis.call('HGET', KEYS[k + 2], 'closed') or 0)
    if till > 0 then redis.call('HSET', KEYS[k + 2], 'closed', int(till - back)) end
    free(k)
  end
  redis.call('HSET', KEYS[k + 2], 'seen', int(now))
  live(k + 2, micros)
end

-- count counts the slots of a set that are not free.
local function count(k) return redis.call('ZCOUNT', KEYS[k], '(' .. int(now), '+inf') end

local function held(k) return count(k) + count(k + 1) end

-- closed returns until when a bucket is closed, and how many slots others held then.
local function closed(k)
  local said = redis.call('HMGET', KEYS[k + 2], 'closed', 'elsewhere')
  return tonumber(said[1] or 0) or 0, tonumber(said[2] or 0) or 0
end

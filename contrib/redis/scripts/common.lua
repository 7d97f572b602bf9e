-- A bucket has three keys, of which at(i) is the first:
--   under way  a sorted set of slots, by when each is given up for dead
--   answered   a sorted set of slots, by when each is free again
--   closed     a hash: until when the service refuses everything, and how many slots
--              others held when it said so (elsewhere)
-- Times are microseconds of this server's clock, which no caller's can disturb.

-- TIME is not repeatable: Redis before 7 has to be told to replicate the effects.
if redis.replicate_commands then redis.replicate_commands() end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local function at(i) return 3 * i - 2 end

-- int writes a number in full, which Lua would round to 14 digits.
local function int(n) return string.format('%.0f', n) end

-- sweep removes the slots that are free by now.
local function sweep(k)
  redis.call('ZREMRANGEBYSCORE', KEYS[k], '-inf', int(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[k + 1], '-inf', int(now))
end

-- count counts the slots of a set that are not free.
local function count(k) return redis.call('ZCOUNT', KEYS[k], '(' .. int(now), '+inf') end

local function held(k) return count(k) + count(k + 1) end

-- live lets a key expire, a little after the last of it is over.
local function live(k, micros)
  local ms = math.ceil(micros / 1000) + 1000
  if redis.call('PTTL', KEYS[k]) < ms then redis.call('PEXPIRE', KEYS[k], int(ms)) end
end

-- closed returns until when a bucket is closed, and how many slots others held then.
local function closed(k)
  local said = redis.call('HMGET', KEYS[k + 2], 'closed', 'elsewhere')
  return tonumber(said[1] or 0) or 0, tonumber(said[2] or 0) or 0
end

-- A bucket has three keys, of which at(i) is the first:
--   under way  a sorted set of places, by when each is given up for dead
--   answered   a sorted set of places, by when each is free again
--   word       a hash of what the service has said: closed, left, leftUntil,
--              elsewhere, elsewhereUntil
-- Times are microseconds of this server's clock, which no caller's can disturb.

-- TIME is not repeatable: Redis before 7 has to be told to replicate the effects.
if redis.replicate_commands then redis.replicate_commands() end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local function at(i) return 3 * i - 2 end

-- int writes a number in full, which Lua would round to 14 digits.
local function int(n) return string.format('%.0f', n) end

-- sweep removes the places that are free by now.
local function sweep(k)
  redis.call('ZREMRANGEBYSCORE', KEYS[k], '-inf', int(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[k + 1], '-inf', int(now))
end

-- count counts the places of a set that are not free.
local function count(k) return redis.call('ZCOUNT', KEYS[k], '(' .. int(now), '+inf') end

local function held(k) return count(k) + count(k + 1) end

-- live lets a key expire, a little after the last of it is over.
local function live(k, micros)
  local ms = math.ceil(micros / 1000) + 1000
  if redis.call('PTTL', KEYS[k]) < ms then redis.call('PEXPIRE', KEYS[k], int(ms)) end
end

local function word(k)
  local told = redis.call('HMGET', KEYS[k + 2], 'closed', 'left', 'leftUntil', 'elsewhere', 'elsewhereUntil')
  local function number(i) return told[i] and tonumber(told[i]) or 0 end
  return {closed = number(1), left = number(2), leftUntil = number(3), elsewhere = number(4), elsewhereUntil = number(5)}
end


-- ARGV: the bucket's limit, how many places the service says are left, for how long.

local k, limit, left, span = at(1), tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local elsewhere = math.max(limit - left - held(k), 0)
-- What is under way beside the answer the service may not have counted yet.
local sure = math.max(left - math.max(count(k) - 1, 0), 0)
redis.call('HSET', KEYS[k + 2], 'left', int(sure), 'leftUntil', int(now + span),
  'elsewhere', int(elsewhere), 'elsewhereUntil', int(now + span))
live(k + 2, span)
return 0

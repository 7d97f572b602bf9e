
-- ARGV: the bucket's limit, and for how long it is closed.

local k, limit = at(1), tonumber(ARGV[1])
sweep(k, tonumber(ARGV[2]))
local till = math.max(closed(k), now + tonumber(ARGV[2]))
-- The service says that it is full: others hold what we do not.
local elsewhere = math.max(limit - held(k), 0)
redis.call('HSET', KEYS[k + 2], 'closed', int(till), 'elsewhere', int(elsewhere))
live(k + 2, till - now)
return 0


-- ARGV: the slot, whether its request was sent; then of each bucket its window.

local slot, sent = ARGV[1], ARGV[2] == '1'

for i = 1, #KEYS / 3 do
  local k, window = at(i), tonumber(ARGV[2 + i])
  redis.call('ZREM', KEYS[k], slot)
  sweep(k, window)
  if sent then
    -- Also one that was given up for dead: the service has seen it.
    redis.call('ZADD', KEYS[k + 1], int(now + window), slot)
    live(k + 1, window)
  end
end
return 0

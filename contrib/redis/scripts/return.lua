
-- ARGV: the place, whether its request was sent; then of each bucket its window.

local place, sent = ARGV[1], ARGV[2] == '1'

for i = 1, #KEYS / 3 do
  local k, window = at(i), tonumber(ARGV[2 + i])
  local was = redis.call('ZREM', KEYS[k], place)
  sweep(k)
  if sent then
    -- Also one that was given up for dead: the service has seen it.
    redis.call('ZADD', KEYS[k + 1], int(now + window), place)
    live(k + 1, window)
  elseif was == 1 and word(k).leftUntil > now then
    redis.call('HINCRBY', KEYS[k + 2], 'left', 1)
  end
end
return 0


-- ARGV: the limit of each bucket. It writes nothing.
-- Returns of each: slots held, slots held elsewhere, slots left, how long closed.

local all, clock_now = {}, now
for i = 1, #KEYS / 3 do
  local k, limit = at(i), tonumber(ARGV[i])
  now = math.max(clock_now, seen(k)) -- the clock may have been set back
  local used = held(k)
  local till, elsewhere = closed(k)
  local left = math.max(limit - used, 0)
  if till > now then left = 0 else till, elsewhere = now, 0 end
  for _, n in ipairs({used, elsewhere, left, till - now}) do all[#all + 1] = n end
end
return all


-- ARGV: the limit of each bucket. It writes nothing.
-- Returns of each: places held, places held elsewhere, places left, how long closed.

local all = {}
for i = 1, #KEYS / 3 do
  local k, limit = at(i), tonumber(ARGV[i])
  local said, spent = word(k), held(k)
  local left = math.max(limit - spent, 0)
  if said.leftUntil > now then left = math.min(left, math.max(said.left, 0)) end
  local closed = math.max(said.closed - now, 0)
  if closed > 0 then left = 0 end
  local elsewhere = said.elsewhereUntil > now and said.elsewhere or 0
  for _, n in ipairs({spent, elsewhere, left, closed}) do all[#all + 1] = n end
end
return all

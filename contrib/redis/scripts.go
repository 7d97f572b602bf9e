package redis

import (
	_ "embed"

	goredis "github.com/redis/go-redis/v9"
)

// Each method is one script behind what they share.
var (
	//go:embed scripts/common.lua
	common string
	//go:embed scripts/take.lua
	takeLua string
	//go:embed scripts/return.lua
	returnLua string
	//go:embed scripts/block.lua
	blockLua string
	//go:embed scripts/usage.lua
	usageLua string

	scriptTake   = goredis.NewScript(common + takeLua)
	scriptReturn = goredis.NewScript(common + returnLua)
	scriptBlock  = goredis.NewScript(common + blockLua)
	scriptUsage  = goredis.NewScript(common + usageLua)
)

package redisbudget

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
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
	//go:embed scripts/learn.lua
	learnLua string
	//go:embed scripts/usage.lua
	usageLua string

	scriptTake   = redis.NewScript(common + takeLua)
	scriptReturn = redis.NewScript(common + returnLua)
	scriptBlock  = redis.NewScript(common + blockLua)
	scriptLearn  = redis.NewScript(common + learnLua)
	scriptUsage  = redis.NewScript(common + usageLua)
)

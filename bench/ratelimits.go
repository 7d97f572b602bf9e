package main

import "github.com/tradingapi/trading-go"

// outOfReach is more than any run sends in a minute.
const outOfReach = 1 << 30

// roomy counts every request, and no limit is ever full.
var roomy = trading.RateLimits{PerKey: outOfReach, PerClass: outOfReach, PerPro: outOfReach}

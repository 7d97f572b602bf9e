package main

import "github.com/tradingapi/trading-go"

// outOfReach is more than any run sends in a minute.
const outOfReach = 1 << 30

// roomy counts every place, and none is ever short.
var roomy = trading.Budget{PerKey: outOfReach, PerClass: outOfReach, PerPro: outOfReach}

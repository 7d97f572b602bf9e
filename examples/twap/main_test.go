package main

import (
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/program"
)

const want = `placed   1.2 BTC over an hour
holds    0.2 BTC, 1 running
holds    0.4 BTC, 1 running
holds    0.6 BTC, 1 running
edit     more than 0.3 is filled already
edit     down to 0.9 BTC
cancel   the rest
holds    0.75 BTC, 0 running
`

func TestRun(t *testing.T) { program.Prints(t, want, run) }

package main

import (
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/program"
)

const want = `all is well:               filled at 64000
the reply is lost:         filled at 64000
and nobody waits:          it was applied (evidence: its stored answer)
a limit below the market:  resting as ord_1
the price is stale:        no fresh price: next tick, next chance
the book is too thin:      too far from where it was decided: decide again
the account has passed:    stop: this account takes no more orders
                           (POST /orders BTC: not applied: account_locked: The account is not active: it has passed, and takes closes, TP/SL and reduceOnly orders only. (403))
too many orders:           again in 1m0s
`

func TestRun(t *testing.T) { program.Prints(t, want, run) }

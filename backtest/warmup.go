package backtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// ErrWarmUp is why a write is refused before the run begins: Config.WarmUp has the bot look, and
// not trade.
var ErrWarmUp = errors.New("backtest: the run warms up: nothing is traded yet")

// warmingUp refuses every write before the run begins.
func (p plan) warmingUp(context.Context, trading.Write) error {
	if time.Now().Before(p.From) {
		return ErrWarmUp
	}
	return nil
}

// begins is when the bot is called.
func (p plan) begins() time.Time { return p.From.Add(-p.WarmUp) }

func (r *Result) warmedUp() string {
	if r.WarmUp == 0 {
		return "none: the bot sees no price from before the run"
	}
	return fmt.Sprintf("the bot read prices for %s before the run, and its orders were refused", r.WarmUp)
}

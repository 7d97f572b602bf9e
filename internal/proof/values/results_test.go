package values

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

// What one environment does not tell is missing and not zero: a fill without a fee
// was not free, and a fill without an age is not fresh.
func TestTrap_T72_FillShapesDiffer(t *testing.T) {
	paper := trading.Fill{Price: trading.Dec("60000"), Repriced: trading.Some(false), MarkAge: trading.Some(40 * time.Millisecond)}
	_, ok := paper.Fee.Get()
	assert.False(t, ok)
	_, ok = paper.Size.Get()
	assert.False(t, ok)

	live := trading.Fill{Price: trading.Dec("60000"), Size: trading.Some(trading.Dec("0.5")), Fee: trading.Some(trading.Dec("13.5"))}
	_, ok = live.MarkAge.Get()
	assert.False(t, ok)
	_, ok = live.Repriced.Get()
	assert.False(t, ok)
}

// A full close leaves no position. On a live account, which does not tell what is
// left, there is no such answer to be misread.
func TestTrap_T60_NoPositionLeftIsNotNotTold(t *testing.T) {
	full, ok := trading.CloseResult{Sandbox: trading.Some(trading.SandboxClose{Pct: trading.Dec("100")})}.Sandbox.Get()
	assert.True(t, ok)
	assert.True(t, full.Left.IsZero(), "fully closed")

	part, _ := trading.CloseResult{Sandbox: trading.Some(trading.SandboxClose{Left: trading.Some(fullPosition())})}.Sandbox.Get()
	left, ok := part.Left.Get()
	assert.True(t, ok)
	assert.True(t, left.Equal(fullPosition()))

	_, ok = trading.CloseResult{}.Sandbox.Get()
	assert.False(t, ok, "not told")
}

func TestSandboxCloseEqual(t *testing.T) {
	checkEqual(t, trading.SandboxClose{
		Pct: trading.Dec("50"), ExitPrice: trading.Dec("60100"), Left: trading.Some(fullPosition()), Account: fullAccountState(),
	})
}

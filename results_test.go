package trading

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func ExampleSandboxClose() {
	result := CloseResult{
		PnL:     Dec("19"),
		Sandbox: Some(SandboxClose{Pct: Dec("100"), ExitPrice: Dec("60100")}),
	}
	if paper, ok := result.Sandbox.Get(); ok {
		_, open := paper.Left.Get()
		fmt.Println("still open:", open)
	}
	// Output: still open: false
}

// What one environment does not tell is missing and not zero: a fill without a fee
// was not free, and a fill without an age is not fresh.
func TestTrap_T72_FillShapesDiffer(t *testing.T) {
	paper := Fill{Price: Dec("60000"), Repriced: Some(false), MarkAge: Some(40 * time.Millisecond)}
	_, ok := paper.Fee.Get()
	assert.False(t, ok)
	_, ok = paper.Size.Get()
	assert.False(t, ok)

	live := Fill{Price: Dec("60000"), Size: Some(Dec("0.5")), Fee: Some(Dec("13.5"))}
	_, ok = live.MarkAge.Get()
	assert.False(t, ok)
	_, ok = live.Repriced.Get()
	assert.False(t, ok)
}

// A full close leaves no position. On a live account, which does not tell what is
// left, there is no such answer to be misread.
func TestTrap_T60_NoPositionLeftIsNotNotTold(t *testing.T) {
	full, ok := CloseResult{Sandbox: Some(SandboxClose{Pct: Dec("100")})}.Sandbox.Get()
	assert.True(t, ok)
	assert.True(t, full.Left.IsZero(), "fully closed")

	part, _ := CloseResult{Sandbox: Some(SandboxClose{Left: Some(fullPosition())})}.Sandbox.Get()
	left, ok := part.Left.Get()
	assert.True(t, ok)
	assert.True(t, left.Equal(fullPosition()))

	_, ok = CloseResult{}.Sandbox.Get()
	assert.False(t, ok, "not told")
}

func TestSandboxCloseEqual(t *testing.T) {
	checkEqual(t, SandboxClose{
		Pct: Dec("50"), ExitPrice: Dec("60100"), Left: Some(fullPosition()), Account: fullAccountState(),
	})
}

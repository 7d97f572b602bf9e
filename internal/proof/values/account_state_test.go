package values

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T78_FloorsAreLevelsAndBreachedAtTheFloor(t *testing.T) {
	none := trading.Opt[decimal.Decimal]{}
	for _, c := range []struct {
		name          string
		equity        string
		daily, global trading.Opt[decimal.Decimal]
		room          string // empty if not known
		breached      bool
	}{
		{"the higher floor counts", "10000", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "500", false},
		{"whichever it is", "10000", trading.Some(trading.Dec("9000")), trading.Some(trading.Dec("9500")), "500", false},
		{"a cent above", "9500.01", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "0.01", false},
		{"at the floor", "9500", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "0", true},
		{"below it", "9499.99", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "-0.01", true},
		{"only the daily floor known", "10000", trading.Some(trading.Dec("9500")), none, "500", false},
		{"only the global floor known", "10000", none, trading.Some(trading.Dec("9000")), "1000", false},
		{"below the one floor known", "8000", none, trading.Some(trading.Dec("9000")), "-1000", true},
		{"a floor of 0 is a floor", "100", trading.Some(decimal.Zero), none, "100", false},
		{"none known", "10000", none, none, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := trading.AccountState{Equity: trading.Dec(c.equity), DailyLossFloor: c.daily, GlobalLossFloor: c.global}
			room, ok := s.LossRoom()
			assert.Equal(t, c.room != "", ok)
			if ok {
				assert.True(t, room.Equal(trading.Dec(c.room)), "room is %v", room)
				assert.Equal(t, c.breached, !room.IsPositive())
			}
		})
	}
}

func TestTargetGap(t *testing.T) {
	_, ok := trading.AccountState{Equity: trading.Dec("10000")}.TargetGap()
	assert.False(t, ok, "no target is not a target of 0")

	for equity, want := range map[string]string{"10000": "800", "10800": "0", "10800.01": "-0.01"} {
		gap, ok := trading.AccountState{Equity: trading.Dec(equity), ProfitTarget: trading.Some(trading.Dec("10800"))}.TargetGap()
		assert.True(t, ok)
		assert.True(t, gap.Equal(trading.Dec(want)), "%s: %v", equity, gap)
	}
}

func fullAccountState() trading.AccountState {
	return trading.AccountState{
		ID: "acc_1", Environment: trading.EnvSandbox, Status: trading.StatusSandboxActive, Locked: true,
		Balance: trading.Dec("10000"), Equity: trading.Dec("10100"), UnrealizedPnL: trading.Some(trading.Dec("100")),
		ProfitTarget: trading.Some(trading.Dec("10800")), DailyLossFloor: trading.Some(trading.Dec("9500")), GlobalLossFloor: trading.Some(trading.Dec("9000")),
		ProfitSplit: trading.Some(trading.Dec("0.8")), Phase: trading.Some(1), Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestAccountStateEqual(t *testing.T) { checkEqual(t, fullAccountState()) }

package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

func ExampleAccountState_LossRoom() {
	state := AccountState{
		Equity:          Dec("9720.50"),
		DailyLossFloor:  Some(Dec("9500")),
		GlobalLossFloor: Some(Dec("9000")),
	}
	room, ok := state.LossRoom()
	fmt.Println(room, ok)
	// Output: 220.5 true
}

func TestTrap_T78_FloorsAreLevelsAndBreachedAtTheFloor(t *testing.T) {
	none := Opt[decimal.Decimal]{}
	for _, c := range []struct {
		name          string
		equity        string
		daily, global Opt[decimal.Decimal]
		room          string // empty if not known
		breached      bool
	}{
		{"the higher floor counts", "10000", Some(Dec("9500")), Some(Dec("9000")), "500", false},
		{"whichever it is", "10000", Some(Dec("9000")), Some(Dec("9500")), "500", false},
		{"a cent above", "9500.01", Some(Dec("9500")), Some(Dec("9000")), "0.01", false},
		{"at the floor", "9500", Some(Dec("9500")), Some(Dec("9000")), "0", true},
		{"below it", "9499.99", Some(Dec("9500")), Some(Dec("9000")), "-0.01", true},
		{"only the daily floor known", "10000", Some(Dec("9500")), none, "500", false},
		{"only the global floor known", "10000", none, Some(Dec("9000")), "1000", false},
		{"below the one floor known", "8000", none, Some(Dec("9000")), "-1000", true},
		{"a floor of 0 is a floor", "100", Some(decimal.Zero), none, "100", false},
		{"none known", "10000", none, none, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := AccountState{Equity: Dec(c.equity), DailyLossFloor: c.daily, GlobalLossFloor: c.global}
			room, ok := s.LossRoom()
			assert.Equal(t, c.room != "", ok)
			if ok {
				assert.True(t, room.Equal(Dec(c.room)), "room is %v", room)
				assert.Equal(t, c.breached, !room.IsPositive())
			}
		})
	}
}

func TestTargetGap(t *testing.T) {
	_, ok := AccountState{Equity: Dec("10000")}.TargetGap()
	assert.False(t, ok, "no target is not a target of 0")

	for equity, want := range map[string]string{"10000": "800", "10800": "0", "10800.01": "-0.01"} {
		gap, ok := AccountState{Equity: Dec(equity), ProfitTarget: Some(Dec("10800"))}.TargetGap()
		assert.True(t, ok)
		assert.True(t, gap.Equal(Dec(want)), "%s: %v", equity, gap)
	}
}

func fullAccountState() AccountState {
	return AccountState{
		ID: "acc_1", Environment: EnvSandbox, Status: StatusSandboxActive, Locked: true,
		Balance: Dec("10000"), Equity: Dec("10100"), UnrealizedPnL: Some(Dec("100")),
		ProfitTarget: Some(Dec("10800")), DailyLossFloor: Some(Dec("9500")), GlobalLossFloor: Some(Dec("9000")),
		ProfitSplit: Some(Dec("0.8")), Phase: Some(1), Extra: Extra{"a": json.RawMessage("1")},
	}
}

func TestAccountStateEqual(t *testing.T) { checkEqual(t, fullAccountState()) }

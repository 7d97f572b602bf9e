package values

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestSideOpposite(t *testing.T) {
	assert.Equal(t, trading.Short, trading.Long.Opposite())
	assert.Equal(t, trading.Long, trading.Short.Opposite())
	for _, s := range []trading.Side{"", "buy", "LONG"} {
		assert.Equal(t, s, s.Opposite(), "no side is made up")
	}
}

func TestTrap_T82_StatusesAllowNoEntryUnlessKnownTo(t *testing.T) {
	for _, c := range []struct {
		status      trading.AccountStatus
		entry, exit bool
	}{
		{trading.StatusActive, true, true},
		{trading.StatusPurchased, true, true},
		{trading.StatusFunded, true, true},
		{trading.StatusPassed, false, true},
		{trading.StatusFailed, false, false},
		{trading.StatusExpired, false, false},
		{trading.StatusSandboxActive, true, true},
		{trading.StatusSandboxLocked, false, false},
		{trading.StatusSandboxPassed, false, true},

		{"", false, true},
		{"SUSPENDED", false, true},
		{"Active", false, true},
		{"funded", false, true},
		{"LOCKED", false, true},
	} {
		assert.Equal(t, c.entry, c.status.AllowsEntry(), "entry while %q", c.status)
		assert.Equal(t, c.exit, c.status.AllowsExit(), "exit while %q", c.status)
	}
}

func TestTrap_T33_UnknownValuesOfTheServiceSurvive(t *testing.T) {
	const text = `{"A":"SUSPENDED","C":"expired","E":"3-step","H":"maintenance","F":"delayed"}`
	var r struct {
		A trading.AccountStatus
		C trading.CloseCause
		E trading.EvalType
		H trading.HealthStatus
		F trading.Feed
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	again, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, text, string(again))
}

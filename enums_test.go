package trading

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSideOpposite(t *testing.T) {
	assert.Equal(t, Short, Long.Opposite())
	assert.Equal(t, Long, Short.Opposite())
	for _, s := range []Side{"", "buy", "LONG"} {
		assert.Equal(t, s, s.Opposite(), "no side is made up")
		assert.False(t, s.valid())
	}
	assert.True(t, Long.valid() && Short.valid())
}

func TestTrap_T82_StatusesAllowNoEntryUnlessKnownTo(t *testing.T) {
	for _, c := range []struct {
		status      AccountStatus
		entry, exit bool
	}{
		{StatusActive, true, true},
		{StatusPurchased, true, true},
		{StatusFunded, true, true},
		{StatusPassed, false, true},
		{StatusFailed, false, false},
		{StatusExpired, false, false},
		{StatusSandboxActive, true, true},
		{StatusSandboxLocked, false, false},
		{StatusSandboxPassed, false, true},

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
		A AccountStatus
		C CloseCause
		E EvalType
		H HealthStatus
		F Feed
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	again, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, text, string(again))
}

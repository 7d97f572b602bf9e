package values

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/check"
)

// The zero value is no part: nobody closes a position by forgetting to say how much
// of it, and nobody leaves it to the service to decide.
func TestTrap_T59_HowMuchToCloseIsAlwaysSaid(t *testing.T) {
	taken := func(p trading.Part) (live, sandbox bool) {
		return check.Part(check.Live, p.Percent()) == nil, check.Part(check.Sandbox, p.Percent()) == nil
	}
	for _, p := range []trading.Part{trading.All, trading.Percent(trading.Dec("1")), trading.Percent(trading.Dec("33.3")), trading.Percent(trading.Dec("100.00"))} {
		live, sandbox := taken(p)
		assert.True(t, live && sandbox, p)
	}
	for _, p := range []trading.Part{trading.Percent(trading.Dec("0.99")), trading.Percent(trading.Dec("0.001"))} {
		live, sandbox := taken(p)
		assert.True(t, live && !sandbox, p)
	}
	for _, p := range []trading.Part{{}, trading.Percent(trading.Dec("0")), trading.Percent(trading.Dec("100.01")), trading.Percent(trading.Dec("-50")), trading.Percent(unwritable[0])} {
		live, sandbox := taken(p)
		assert.False(t, live || sandbox, p)
	}
}

func TestPartJSON(t *testing.T) {
	for _, text := range []string{"100", "25.5", "0"} {
		var p trading.Part
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		got, err := json.Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
	for _, text := range []string{`"all"`, `true`} {
		p := trading.All
		assert.Error(t, json.Unmarshal([]byte(text), &p))
		assert.True(t, p.Equal(trading.Part{}), "a part that cannot be read closes nothing")
	}
	p := trading.All
	require.NoError(t, json.Unmarshal([]byte("null"), &p))
	assert.True(t, p.Equal(trading.Part{}), "null is not all")
	assert.True(t, trading.All.Equal(trading.Percent(trading.Dec("100.0"))))
	assert.True(t, trading.All.Percent().Equal(trading.Dec("100")))
}

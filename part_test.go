package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/check"
)

func ExamplePart() {
	half := Percent(Dec("50"))
	fmt.Println(half, All)
	// Output: 50% 100%
}

// The zero value is no part: nobody closes a position by forgetting to say how much
// of it, and nobody leaves it to the service to decide.
func TestTrap_T59_HowMuchToCloseIsAlwaysSaid(t *testing.T) {
	taken := func(p Part) (live, sandbox bool) {
		return check.Part(check.Live, p.Percent()) == nil, check.Part(check.Sandbox, p.Percent()) == nil
	}
	for _, p := range []Part{All, Percent(Dec("1")), Percent(Dec("33.3")), Percent(Dec("100.00"))} {
		live, sandbox := taken(p)
		assert.True(t, live && sandbox, p)
	}
	for _, p := range []Part{Percent(Dec("0.99")), Percent(Dec("0.001"))} {
		live, sandbox := taken(p)
		assert.True(t, live && !sandbox, p)
	}
	for _, p := range []Part{{}, Percent(Dec("0")), Percent(Dec("100.01")), Percent(Dec("-50")), Percent(unwritable[0])} {
		live, sandbox := taken(p)
		assert.False(t, live || sandbox, p)
	}
}

func TestPartJSON(t *testing.T) {
	for _, text := range []string{"100", "25.5", "0"} {
		var p Part
		require.NoError(t, json.Unmarshal([]byte(text), &p))
		got, err := json.Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	}
	for _, text := range []string{`"all"`, `true`} {
		p := All
		assert.Error(t, json.Unmarshal([]byte(text), &p))
		assert.True(t, p.Equal(Part{}), "a part that cannot be read closes nothing")
	}
	p := All
	require.NoError(t, json.Unmarshal([]byte("null"), &p))
	assert.True(t, p.Equal(Part{}), "null is not all")
	assert.True(t, All.Equal(Percent(Dec("100.0"))))
	assert.True(t, All.Percent().Equal(Dec("100")))
}

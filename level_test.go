package trading

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleLevel() {
	// Moves the stop, removes the target, leaves ClosePct as it is.
	change := TPSL{
		StopLoss:   At(Dec("59000")),
		TakeProfit: Clear,
	}
	text, _ := json.Marshal(change)
	fmt.Println(string(text))
	// Output: {"TakeProfit":null,"StopLoss":59000}
}

func ExampleLevel_Value() {
	for _, stop := range []Level{At(Dec("59000")), Clear, {}} {
		price, ok := stop.Value()
		fmt.Println(stop, price, ok)
	}
	// Output:
	// 59000 59000 true
	// clear 0 false
	// absent 0 false
}

func TestTrap_T67_LevelsHaveThreeStates(t *testing.T) {
	type record struct {
		L Level `json:",omitzero"`
	}
	for _, c := range []struct {
		text  string
		level Level
		value bool
		clear bool
	}{
		{`{}`, Level{}, false, false},
		{`{"L":null}`, Clear, false, true},
		{`{"L":59000.5}`, At(Dec("59000.5")), true, false},
		{`{"L":0}`, At(decimal.Zero), true, false},
	} {
		text, err := json.Marshal(record{c.level})
		require.NoError(t, err)
		assert.Equal(t, c.text, string(text))

		var r record
		require.NoError(t, json.Unmarshal([]byte(c.text), &r))
		assert.True(t, r.L.Equal(c.level), c.text)
		_, ok := r.L.Value()
		assert.Equal(t, c.value, ok, c.text)
		assert.Equal(t, c.clear, r.L.IsClear(), c.text)
		assert.Equal(t, !c.value && !c.clear, r.L.IsZero(), c.text)
	}
}

func TestLevelsAreDistinct(t *testing.T) {
	distinct := []Level{{}, Clear, At(decimal.Zero), At(Dec("1")), At(Dec("2"))}
	for i, a := range distinct {
		for j, b := range distinct {
			assert.Equal(t, i == j, a.Equal(b), "%v and %v", a, b)
		}
	}
	assert.True(t, At(Dec("1.0")).Equal(At(Dec("1"))))
}

func TestLevelRefusesWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{`"59000"`, `false`, `[]`, `1e999999999`} {
		l := At(Dec("7"))
		assert.Error(t, json.Unmarshal([]byte(text), &l), text)
		assert.True(t, l.IsZero(), text)
	}
}

func FuzzLevelJSON(f *testing.F) {
	for _, seed := range []string{"null", "0", "-1", "59000.10", "1e-7", "1e999999999", `"1"`, "", "nul", "Null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l Level
		if l.UnmarshalJSON(data) != nil {
			if !l.IsZero() {
				t.Fatalf("refused %q and kept %v", data, l)
			}
			return
		}
		if l.IsZero() {
			t.Fatalf("%q is a value and was read as absent", data)
		}
		if l.IsClear() != (string(data) == "null") {
			t.Fatalf("%q was read as %v", data, l)
		}
		text, err := l.MarshalJSON()
		if err != nil {
			t.Fatalf("%q was read but cannot be written: %v", data, err)
		}
		var again Level
		if err := again.UnmarshalJSON(text); err != nil || !again.Equal(l) {
			t.Fatalf("%q became %q, and that %v (%v)", data, text, again, err)
		}
	})
}

package values

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T67_LevelsHaveThreeStates(t *testing.T) {
	type record struct {
		L trading.Level `json:",omitzero"`
	}
	for _, c := range []struct {
		text  string
		level trading.Level
		value bool
		clear bool
	}{
		{`{}`, trading.Level{}, false, false},
		{`{"L":null}`, trading.Clear, false, true},
		{`{"L":59000.5}`, trading.At(trading.Dec("59000.5")), true, false},
		{`{"L":0}`, trading.At(decimal.Zero), true, false},
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
	distinct := []trading.Level{{}, trading.Clear, trading.At(decimal.Zero), trading.At(trading.Dec("1")), trading.At(trading.Dec("2"))}
	for i, a := range distinct {
		for j, b := range distinct {
			assert.Equal(t, i == j, a.Equal(b), "%v and %v", a, b)
		}
	}
	assert.True(t, trading.At(trading.Dec("1.0")).Equal(trading.At(trading.Dec("1"))))
}

func TestLevelRefusesWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{`"59000"`, `false`, `[]`, `1e999999999`} {
		l := trading.At(trading.Dec("7"))
		assert.Error(t, json.Unmarshal([]byte(text), &l), text)
		assert.True(t, l.IsZero(), text)
	}
}

func FuzzLevelJSON(f *testing.F) {
	for _, seed := range []string{"null", "0", "-1", "59000.10", "1e-7", "1e999999999", `"1"`, "", "nul", "Null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l trading.Level
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
		var again trading.Level
		if err := again.UnmarshalJSON(text); err != nil || !again.Equal(l) {
			t.Fatalf("%q became %q, and that %v (%v)", data, text, again, err)
		}
	})
}

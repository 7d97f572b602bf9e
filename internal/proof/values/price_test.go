package values

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T50_NoPriceIsEverZero(t *testing.T) {
	notPositive := []decimal.Decimal{{}, decimal.Zero, trading.Dec("0.000"), trading.Dec("-0.01"), trading.Dec("-60000")}
	for _, d := range notPositive {
		m := trading.MarkAt(d)
		_, ok := m.Price()
		assert.False(t, ok, "MarkAt(%v)", d)
		assert.True(t, m.Equal(trading.Mark{}), "MarkAt(%v)", d)
	}
	for _, text := range []string{"0", "0.0", "-0", "0e5", "-1", "null"} {
		m := trading.MarkAt(trading.Dec("7"))
		require.NoError(t, json.Unmarshal([]byte(text), &m), text)
		_, ok := m.Price()
		assert.False(t, ok, text)
	}
}

func TestTrap_T49_EveryWayToHaveNoMarkIsTheSame(t *testing.T) {
	var row struct{ Null, Missing, Zero trading.Mark }
	require.NoError(t, json.Unmarshal([]byte(`{"Null": null, "Zero": 0}`), &row))
	absentKey := map[string]trading.Mark{}["BTC"]

	for _, m := range []trading.Mark{{}, row.Null, row.Missing, row.Zero, absentKey} {
		assert.True(t, m.Equal(trading.Mark{}))
		assert.True(t, m.IsZero())
		assert.Equal(t, "unpriced", m.String())
	}
}

func TestValuesInLogs(t *testing.T) {
	attrs := []any{
		"mark", trading.MarkAt(trading.Dec("1.50")), "unpriced", trading.Mark{},
		"level", trading.At(trading.Dec("2")), "clear", trading.Clear, "absent", trading.Level{},
		"pnl", trading.Some(trading.Dec("-3.0")), "none", trading.Opt[decimal.Decimal]{},
		"part", trading.Percent(trading.Dec("25")), "type", trading.LimitOrder, "side", trading.Short,
	}
	withoutTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	var text, object strings.Builder
	slog.New(slog.NewTextHandler(&text, withoutTime)).Info("m", attrs...)
	slog.New(slog.NewJSONHandler(&object, withoutTime)).Info("m", attrs...)

	assert.Equal(t, "level=INFO msg=m mark=1.5 unpriced=unpriced level=2 clear=clear absent=absent"+
		" pnl=-3 none=none part=25% type=limit side=short\n", text.String())
	assert.Equal(t, `{"level":"INFO","msg":"m","mark":1.5,"unpriced":null,"level":2,"clear":null,"absent":null,`+
		`"pnl":-3,"none":null,"part":25,"type":"limit","side":"short"}`+"\n", object.String())
}

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
	distinct := []trading.Level{{}, trading.Clear, trading.At(decimal.Zero), trading.At(trading.Dec("1"))}
	for i, a := range distinct {
		for j, b := range distinct {
			assert.Equal(t, i == j, a.Equal(b), "%v and %v", a, b)
		}
	}
}

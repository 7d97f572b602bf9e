package values

import (
	"encoding/json"
	"fmt"
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

func TestMarkJSON(t *testing.T) {
	for text, want := range map[string]string{
		"null":                   "null",
		"0":                      "null",
		"60000":                  "60000",
		"60000.10":               "60000.1",
		"1e-7":                   "0.0000001",
		"6E4":                    "60000",
		"12345678901234567.8901": "12345678901234567.8901",
	} {
		var m trading.Mark
		require.NoError(t, json.Unmarshal([]byte(text), &m), text)
		got, err := json.Marshal(m)
		require.NoError(t, err, text)
		assert.Equal(t, want, string(got), text)
	}
}

func TestMarkRefusesWhatIsNoNumber(t *testing.T) {
	for _, text := range []string{`"60000"`, `true`, `{}`, `[1]`, `1e999999999`, strings.Repeat("9", 65)} {
		m := trading.MarkAt(trading.Dec("7"))
		assert.Error(t, json.Unmarshal([]byte(text), &m), text)
		assert.True(t, m.IsZero(), "%s leaves the old price", text)
	}
}

func TestMarkEqual(t *testing.T) {
	assert.True(t, trading.MarkAt(trading.Dec("1.0")).Equal(trading.MarkAt(trading.Dec("1"))))
	assert.False(t, trading.MarkAt(trading.Dec("1")).Equal(trading.MarkAt(trading.Dec("2"))))
	assert.False(t, trading.MarkAt(trading.Dec("1")).Equal(trading.Mark{}))
}

func TestMarkPrints(t *testing.T) {
	m := trading.MarkAt(trading.Dec("60000.50"))
	assert.Equal(t, "60000.5 60000.5 unpriced", fmt.Sprintf("%v %s %v", m, m, trading.Mark{}))
	assert.Equal(t, "{60000.5}", fmt.Sprintf("%v", struct{ M trading.Mark }{m}))
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

func FuzzMarkJSON(f *testing.F) {
	for _, seed := range []string{"null", "0", "-0", "60000.10", "1e-7", "1e999999999", `"1"`, "", " 1", "01", "1.", "-1e64"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m trading.Mark
		if m.UnmarshalJSON(data) != nil {
			if !m.IsZero() {
				t.Fatalf("refused %q and kept %v", data, m)
			}
			return
		}
		if price, ok := m.Price(); ok != price.IsPositive() {
			t.Fatalf("%q: price %v, ok %v", data, price, ok)
		}
		text, err := m.MarshalJSON()
		if err != nil {
			t.Fatalf("%q was read but cannot be written: %v", data, err)
		}
		var again trading.Mark
		if err := again.UnmarshalJSON(text); err != nil || !again.Equal(m) {
			t.Fatalf("%q became %q, and that %v (%v)", data, text, again, err)
		}
		if !json.Valid(text) || strings.ContainsAny(string(text), `eE"`) {
			t.Fatalf("%q became %q", data, text)
		}
	})
}

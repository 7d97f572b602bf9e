package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/export"
)

// whole is a trade with everything that a record can show.
func whole() trading.Trade {
	return trading.Trade{
		Symbol: "BTC", Side: trading.Long, Cause: trading.CauseStopLoss,
		Size: trading.Some(trading.Dec("0.123456789012345678")), EntryPrice: trading.Some(trading.Dec("64000.1")), ExitPrice: trading.Dec("63000"),
		GrossPnL: trading.Dec("-123.456789012345678901"), RoundTripFee: trading.Dec("7.000000000000000001"),
		OpenedAt: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600)), ClosedAt: time.Date(2026, 1, 2, 23, 59, 59, 0, time.UTC),
	}
}

func rowsOf(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	return rows
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	trades := export.CSV(&b)
	require.NoError(t, trades.Write("acc_1", whole()))
	require.NoError(t, trades.Write("", trading.Trade{Symbol: "ETH", Side: trading.Short, Cause: trading.CauseMarket, ExitPrice: trading.Dec("3000")}))
	assert.Equal(t, `Date,Amount,Currency,Label,Description,Account,Symbol,Side,Cause,Size,Entry Price,Exit Price,Gross PnL,Fee,Opened At
2026-01-02T23:59:59Z,-130.456789012345678902,USD,realized gain,long 0.123456789012345678 BTC closed by stop_loss,acc_1,BTC,long,stop_loss,0.123456789012345678,64000.1,63000,-123.456789012345678901,7.000000000000000001,2026-01-02T02:04:05.6Z
,0,USD,realized gain,short ETH closed by market,,ETH,short,market,,,3000,0,0,
`, b.String(), "what is absent is empty, and not zero")
}

func TestCSVGoesOn(t *testing.T) {
	var b bytes.Buffer
	first := export.CSV(&b)
	require.NoError(t, first.Begin())
	require.NoError(t, first.Begin())
	more := export.CSVRows(&b)
	require.NoError(t, more.Begin())
	require.NoError(t, more.Write("acc_1", whole()))
	rows := rowsOf(t, b.String())
	require.Len(t, rows, 2)
	assert.Equal(t, "Date", rows[0][0])
	assert.Equal(t, "acc_1", rows[1][5])
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	trades := export.JSONLines(&b)
	require.NoError(t, trades.Begin())
	require.NoError(t, trades.Write("acc_1", whole()))
	require.NoError(t, trades.Write("", trading.Trade{Symbol: "=A&B"}))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	var first, second map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &second))
	assert.Equal(t, "-130.456789012345678902", first["netPnL"])
	assert.Equal(t, "2026-01-02T02:04:05.6Z", first["openedAt"])
	assert.Equal(t, "=A&B", second["symbol"], "a program reads it as it is")
	for _, absent := range []string{"date", "openedAt", "size", "entryPrice"} {
		assert.Contains(t, second, absent)
		assert.Nil(t, second[absent], absent)
	}
}

func TestNothingIsAFormula(t *testing.T) {
	for in, want := range map[string]string{
		"BTC":                   "BTC",
		"BTC-PERP":              "BTC-PERP",
		"=1+1":                  "'=1+1",
		"+cmd|' /C calc'!A0":    "'+cmd|' /C calc'!A0",
		"-2":                    "'-2",
		"@SUM(A1)":              "'@SUM(A1)",
		"  =1":                  "  '=1",
		"\t=1":                  " '=1",
		"a\r\n=1":               "a  '=1",
		"a;=1":                  "a;'=1",
		"a\"=1":                 "a\"'=1",
		"\u200b\ufeff=1":        "\u200b '=1",
		"＝1":                    "'＝1",
		"":                      "",
		"\x00=HYPERLINK(\"x\")": " '=HYPERLINK(\"x\")",
	} {
		assert.Equal(t, want, export.Text(in), "%q", in)
	}
}

// Every text of a trade comes from the network.
func TestTextsOfATradeAreCells(t *testing.T) {
	bad := whole()
	bad.Symbol, bad.Side, bad.Cause = "=A1", "@x", "+y\n=z"
	var b bytes.Buffer
	require.NoError(t, export.CSV(&b).Write("=acc", bad))
	row := rowsOf(t, b.String())[1]
	assert.Equal(t, []string{"'=acc", "'=A1", "'@x", "'+y '=z"}, row[5:9])
	for i, cell := range row {
		if i != 1 && i != 12 { // which are numbers
			assert.NotContains(t, "=+-@", cell[:1], cell)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsAnError(t *testing.T) {
	require.ErrorIs(t, export.CSV(full{}).Write("acc_1", whole()), errFull)
	require.ErrorIs(t, export.CSVRows(full{}).Write("acc_1", whole()), errFull)
	require.ErrorIs(t, export.JSONLines(full{}).Write("acc_1", whole()), errFull)
}

// FuzzText looks for a text that is still a formula in a cell, or that breaks a row.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"BTC", "=1", " \t=1", "a;=b", "'=1", "\xff=1", "＠"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cell := export.Text(s)
		require.False(t, strings.ContainsAny(cell, "\t\r\n\x00"), "%q", cell)
		for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",;|\"", r) }) {
			part = strings.TrimSpace(part)
			require.False(t, part != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(part)[0]), "%q of %q", part, cell)
		}
		var b bytes.Buffer
		require.NoError(t, export.CSV(&b).Write(trading.AccountID(s), trading.Trade{}))
		require.Len(t, rowsOf(t, b.String()), 2)
	})
}

package odds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadTrades(t *testing.T) {
	for name, text := range map[string]string{
		"excursions": "Opened,closed, net,mae,mfe,notional,symbol\n2026-03-02T08:00:00Z,2026-03-02T10:00:00+01:00,10,-5,20,1000,BTC\n",
		"prices":     "symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,long,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,497.5,510\n",
		"a short":    "symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,short,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,502.5,490\n",
	} {
		list, err := ReadTrades(strings.NewReader(text))
		require.NoError(t, err, name)
		want := trade(0, 1, "10", "-5", "20")
		require.Len(t, list, 1)
		require.True(t, list[0].Net.Equal(want.Net) && list[0].Worst.Equal(want.Worst) && list[0].Best.Equal(want.Best) && list[0].Notional.Equal(want.Notional), "%s: %+v", name, list[0])
		require.Equal(t, want.Opened, list[0].Opened)
		require.Equal(t, want.Closed, list[0].Closed)
	}
}

func TestFilesThatAreNoTrades(t *testing.T) {
	const heading = "opened,closed,net,mae,mfe,notional\n"
	for want, text := range map[string]string{
		"no heading": "",
		"these columns are missing: opened, closed, net (or gross and fees), mae and mfe (or side, size, cost, worstPrice and bestPrice), notional (or cost)": "time,price\n",
		`column "net" is there twice`:              "net,NET\n",
		"wrong number of fields":                   heading + "a,b\n",
		`line 2, column opened: "yesterday"`:       heading + "yesterday,,1,0,0,1\n",
		`column net: "1,000" is not a number`:      heading + ",,\"1,000\",0,0,1\n",
		"column mae: \"1e999999\" is not a number": heading + ",,1,1e999999,0,1\n",
		"is too long": heading + ",,1,0,0," + strings.Repeat("1", 50) + "\n",
		`column side: "up" is neither long nor short`: "opened,closed,net,side,size,cost,worstPrice,bestPrice\n,,1,up,1,1,1,1\n",
	} {
		_, err := ReadTrades(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
	list, err := ReadTrades(strings.NewReader(heading + ",2026-03-02T09:00:00Z,1,0,0,1\n"))
	require.NoError(t, err)
	require.True(t, list[0].Opened.IsZero(), "an empty time is not known")
}

// Whatever is read makes a history that holds together, or an error.
func FuzzReadTrades(f *testing.F) {
	f.Add("opened,closed,net,mae,mfe,notional\n2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,10,-5,20,1000\n")
	f.Add("symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,short,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,502.5,490\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		trades, err := ReadTrades(strings.NewReader(text))
		if err != nil {
			return
		}
		balance := dollars("10000")
		sum, _ := balance.Get()
		for _, one := range trades {
			sum = sum.Add(one.Net)
			if one.Closed.Sub(morning).Abs() > 100*aDay {
				return // as many days as lie between
			}
		}
		o := tradesOf(sum.String())
		h, err := FromTrades(trades, o)
		if err != nil {
			return
		}
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		if end := h.Days[len(h.Days)-1].End.Balance; !end.Equal(sum) {
			t.Fatalf("the days end with %s, and the trades with %s", end, sum)
		}
	})
}

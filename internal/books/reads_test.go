package books

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// The trade that an own close left says what time it was for the service: if it is the only
// new one of its market, with the answered result.
func TestTheTradeOfAnOwnClose(t *testing.T) {
	trade := func(digest uint64, symbol string, pnl int64) accounting.Row {
		return accounting.Row{Digest: digest, Symbol: symbol, GrossPnL: decimal.NewNullDecimal(decimal.NewFromInt(pnl)), ClosedAt: servicetime.Shown(origin)}
	}
	for name, row := range map[string]struct {
		fresh     []accounting.Row
		closes    int
		want      bool
		elsewhere bool // the second close
	}{
		"its own":                   {[]accounting.Row{trade(8, "BTC", 5)}, 1, true, false},
		"beside one of another":     {[]accounting.Row{trade(9, "ETH", 5), trade(8, "BTC", 5)}, 1, true, false},
		"another result":            {[]accounting.Row{trade(8, "BTC", 6)}, 1, false, false},
		"another market":            {[]accounting.Row{trade(8, "ETH", 5)}, 1, false, false},
		"two of its market":         {[]accounting.Row{trade(9, "BTC", 5), trade(8, "BTC", 5)}, 1, false, false},
		"one of no market, too":     {[]accounting.Row{trade(9, "", 5), trade(8, "BTC", 5)}, 1, false, false},
		"none":                      {nil, 1, false, false},
		"two closes, one elsewhere": {[]accounting.Row{trade(8, "BTC", 5)}, 2, true, true},
		"two closes":                {[]accounting.Row{trade(8, "BTC", 5)}, 2, false, false},
		"no close: somebody else's": {[]accounting.Row{trade(8, "BTC", 5)}, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			heard := 0
			b.Closed = func(shown servicetime.Time, sent, answered time.Time) {
				heard++
				assert.Equal(t, servicetime.Shown(origin), shown)
				assert.Equal(t, time.Second, answered.Sub(sent))
			}
			b.pass(time.Minute)
			list := []accounting.Row{{Digest: 7, Symbol: "BTC"}}
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return list })
			for i := range row.closes {
				w := b.order("BTC")
				if i > 0 && row.elsewhere {
					w = b.order("ETH")
				}
				b.Enter(w)
				sent := b.now
				b.pass(time.Second)
				own := accounting.Own{Act: accounting.Act{Kind: accounting.Close, Ran: true}, Began: sent, Heard: b.now}
				_ = b.Leave(w, &Did{Own: own, Profit: decimal.NewNullDecimal(decimal.NewFromInt(5))})
			}
			b.pass(time.Minute)
			for range 2 { // the second list shows nothing new
				b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return append(row.fresh, list...) })
			}
			want := 0
			if row.want {
				want = 1
			}
			assert.Equal(t, want, heard)
		})
	}
}

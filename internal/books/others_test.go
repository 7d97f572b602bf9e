package books

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// What nobody of the program can have left shows that somebody else trades the account;
// what an own write, a run or the service may have left shows nothing.
func TestEdge52_SignsOfOthers(t *testing.T) {
	closed := func(symbol string, cause accounting.Cause) accounting.Row {
		return accounting.Row{Digest: 8, Symbol: symbol, Cause: cause}
	}
	limit := accounting.Waiting{ID: "ord_9", Symbol: "BTC"}
	doge := []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}} // rests throughout
	for name, row := range map[string]struct {
		own       func(b *book) // before the reads
		fresh     []accounting.Row
		resting   []accounting.Waiting
		running   []accounting.Waiting
		status    string
		unwatched bool // the journal was not read
		want      string
	}{
		"nothing":              {},
		"a trade":              {fresh: []accounting.Row{closed("BTC", accounting.Market)}, want: "a trade in BTC was closed, and the program has not closed it"},
		"a stop":               {fresh: []accounting.Row{closed("BTC", accounting.StopLoss)}},
		"of no market":         {fresh: []accounting.Row{closed("", accounting.Market)}},
		"with a new status":    {fresh: []accounting.Row{closed("BTC", accounting.Market)}, status: "PASSED"},
		"after an own write":   {own: func(b *book) { b.run(opened(1)) }, fresh: []accounting.Row{closed("BTC", accounting.Market)}},
		"after one elsewhere":  {own: func(b *book) { b.sends(b.order("ETH"), opened(1)); b.pass(ledger.Lag) }, fresh: []accounting.Row{closed("BTC", accounting.Market)}, want: "a trade in BTC was closed, and the program has not closed it"},
		"beside one in doubt":  {own: func(b *book) { b.Enter(b.order("BTC")) }, fresh: []accounting.Row{closed("BTC", accounting.Market)}},
		"where an order rests": {fresh: []accounting.Row{closed("DOGE", accounting.Market)}},
		"an order":             {resting: []accounting.Waiting{limit}, want: "order ord_9 rests, and the program has not placed it"},
		"an own order":         {own: func(b *book) { b.sends(b.limit("BTC"), resting("ord_9")); b.pass(ledger.Lag) }, resting: []accounting.Waiting{limit}},
		"a limit in doubt":     {own: func(b *book) { b.Enter(b.limit("BTC")) }, resting: []accounting.Waiting{limit}},
		"an order of a run": {own: func(b *book) {
			did := resting("run_1")
			did.Own.Kind = accounting.Pro
			b.sends(b.pro("BTC"), did)
			b.pass(ledger.Lag)
		}, resting: []accounting.Waiting{limit}},
		"an order that a run left, which has ended": {own: func(b *book) {
			b.anew()
			b.SawOrders(mine, atOnce(b.now), doge, []accounting.Waiting{{ID: "run_1", Symbol: "BTC"}})
			for range 2 {
				b.pass(ledger.Lag)
				b.SawOrders(mine, atOnce(b.now), doge, nil)
				b.SawPositions(mine, atOnce(b.now), nil)
			}
		}, resting: []accounting.Waiting{limit}},
		"an earlier run's limit, which filled": {own: func(b *book) {
			b.anew()
			b.SawOrders(mine, atOnce(b.now), append(doge, limit), nil)
			b.pass(ledger.Lag)
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 7}} })
			for range 3 {
				b.pass(ledger.Lag)
				b.SawOrders(mine, atOnce(b.now), doge, nil)
				b.SawPositions(mine, atOnce(b.now), nil)
			}
		}, fresh: []accounting.Row{closed("BTC", accounting.Market)}},
		"an earlier run's limit, which filled before the first list of orders": {own: func(b *book) {
			b.anew()
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 7}} })
			b.pass(ledger.Lag)
			b.SawOrders(mine, atOnce(b.now), doge, nil)
		}, fresh: []accounting.Row{closed("BTC", accounting.Market)}},
		"a row that changes its place": {own: func(b *book) {
			b.pass(ledger.Lag)
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 7}, closed("BTC", accounting.Market)} })
		}, fresh: []accounting.Row{closed("BTC", accounting.Market)}},
		"an own order that a list lacked": {own: func(b *book) {
			b.sends(b.limit("BTC"), resting("ord_9"))
			for range 3 {
				b.pass(ledger.Lag)
				b.SawOrders(mine, atOnce(b.now), doge, nil)
				b.SawPositions(mine, atOnce(b.now), nil)
			}
		}, resting: []accounting.Waiting{limit}},
		"before the journal is read": {unwatched: true, fresh: []accounting.Row{closed("BTC", accounting.Market)}, resting: []accounting.Waiting{limit}},
		"a run":                      {running: []accounting.Waiting{{ID: "run_9"}}, want: "run run_9 runs, and the program has not started it"},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			b := newBook(t)
			b.Books = New(origin, Earlier{None: true}, func(_ AccountKey, sign string) { told = append(told, sign) })
			if !row.unwatched {
				b.Watch()
			}
			b.read([]Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}})
			if row.own != nil {
				row.own(b)
			}
			if row.status == "" {
				row.status = "ACTIVE"
			}
			for range 3 {
				b.pass(ledger.Lag)
				b.SawStatus(mine, b.now, row.status)
				b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return append(row.fresh, accounting.Row{Digest: 7}) })
				b.SawOrders(mine, atOnce(b.now), append(row.resting, doge...), row.running)
			}
			assert.Equal(t, row.want, b.Others(mine))
			want := []string(nil)
			if row.want != "" {
				want = []string{row.want}
			}
			assert.Equal(t, want, told, "told once")
			b.NoteOthers(mine, "")
			assert.Empty(t, b.Others(mine))
		})
	}
}

// anew begins as a later run of the program does.
func (b *book) anew() {
	b.Books = New(b.now, Earlier{}, b.report)
	b.Watch()
	b.pass(ledger.Lag)
	b.SawStatus(mine, b.now, "ACTIVE")
}

package resolve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// farOff is how far the times of trades may be off, by one that is known.
const farOff = 2 * servicetime.Tolerance

// A closed trade is a write's own only if it was closed while the write could run, from
// before its decision to after now, by as much as the service's clock may be off. What waits
// with the service can trade at any time. On a declared account no time is
// looked at.
func TestTheTimeInWhichAWriteCanRun(t *testing.T) {
	one := decimal.NewFromInt(1)
	const passed = time.Minute
	for name, row := range map[string]struct {
		operation, body string
		at              time.Duration // since its decision
		want            ledger.Outcome
	}{
		"an entry, before it":      {order, `{"side":"long","size":1}`, -farOff - time.Millisecond, ledger.NotApplied},
		"an entry, at first":       {order, `{"side":"long","size":1}`, -farOff, ledger.Applied},
		"an entry, at last":        {order, `{"side":"long","size":1}`, passed + farOff, ledger.Applied},
		"an entry, after it":       {order, `{"side":"long","size":1}`, passed + farOff + time.Millisecond, ledger.NotApplied},
		"a reduction, at last":     {order, `{"side":"long","size":1,"reduceOnly":true}`, passed + farOff, ledger.Applied},
		"a reduction, after it":    {order, `{"side":"long","size":1,"reduceOnly":true}`, passed + farOff + time.Millisecond, ledger.NotApplied},
		"a close, at last":         {exit, `{"closePercent":100}`, passed + farOff, ledger.Applied},
		"a close, after it":        {exit, `{"closePercent":100}`, passed + farOff + time.Millisecond, ledger.NotApplied},
		"an order that rests, too": {limit, `{"side":"long","size":1}`, passed + time.Hour, ledger.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{}, foreground, notDeclared)
				date(d)
				now := time.Now()
				d.Clock.service.Closed(d.Clock.Now().Service, now, now)
				readTwice(d, books.Held{Symbol: "BTC", Position: accounting.Position{Size: one.Neg(), EntryPrice: one}})
				w := lost(t, d, "w_1", row.operation, func(w *Write) { w.Intent.Body = []byte(row.body) })
				require.NotNil(t, w.Baseline())
				w.Ledger.Note(ledger.Fact{Kind: ledger.FenceEnded, At: d.Clock.Now(), Answer: partWay})
				closed := accounting.Row{
					Digest: 1, Symbol: "BTC", Side: accounting.Short, Cause: accounting.Market, ClosedAt: d.Clock.At(w.Intent.Decided).Service.Add(row.at),
					Size: decimal.NewNullDecimal(one), EntryPrice: decimal.NewNullDecimal(one), ExitPrice: decimal.NewNullDecimal(one),
				}
				time.Sleep(passed)
				now = time.Now()
				look := &Look{At: now, Ended: now, Status: "ACTIVE", Orders: []string{"ord_0"}, Rows: []accounting.Row{closed}}
				shown := &seenLook{look: look, began: []time.Time{now, now, now}, equal: 3}
				v := d.decide(w, shown, false)
				assert.Equal(t, row.want, v.Likely, "%s", v.Reason)
				w.Ledger.FirstUseKnown = false
				v = d.decide(w, shown, false)
				assert.Equal(t, accounting.NoBaseline, v.Reason, "the baseline may be younger than the key's first use")
			})
		})
	}
}

package resolve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// farOff is how far the times of trades may be off, by one that is known.
const farOff = 2 * servicetime.Tolerance

// Without a baseline a closed trade is a write's own only if it was closed after its decision, by as
// much as the service's clock may be off.
func TestTheTimeFromWhichAWriteCanRun(t *testing.T) {
	one := decimal.NewFromInt(1)
	for name, row := range map[string]struct {
		operation, body string
		at              time.Duration // since its decision
		want            accounting.Reason
	}{
		"an entry, before it":      {order, `{"side":"long","size":1}`, -farOff - time.Millisecond, accounting.NoTrace},
		"an entry, at first":       {order, `{"side":"long","size":1}`, -farOff, accounting.NoBaseline},
		"a reduction, before it":   {order, `{"side":"long","size":1,"reduceOnly":true}`, -farOff - time.Millisecond, accounting.NoTrace},
		"a close, before it":       {exit, `{"closePercent":100}`, -farOff - time.Millisecond, accounting.NoTrace},
		"a close, at first":        {exit, `{"closePercent":100}`, -farOff, accounting.NoBaseline},
		"an order that rests, too": {limit, `{"side":"long","size":1}`, time.Hour, accounting.NoBaseline},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{}, foreground, notDeclared)
				date(d)
				now := time.Now()
				d.Clocks.service.Closed(d.Clocks.Now().Service, now, now)
				w := lost(t, d, "w_1", row.operation, func(w *OpenWrite) { w.Intent.Body = []byte(row.body) })
				_, known := w.Before()
				require.False(t, known)
				w.Ledger.Note(ledger.Fact{Kind: ledger.FenceEnded, At: d.Clocks.Now(), Answer: partWay})
				closed := accounting.Row{
					Digest: 1, Symbol: "BTC", Side: accounting.Short, Cause: accounting.Market, Size: decimal.NewNullDecimal(one),
					ClosedAt: d.Clocks.At(w.Intent.Decided).Service.Add(row.at),
				}
				time.Sleep(time.Minute)
				now = time.Now()
				look := &AccountLook{At: now, Ended: now, Status: "ACTIVE", Rows: []accounting.Row{closed}}
				shown := &seenLook{look: look, began: []time.Time{now, now, now}, equal: 3}
				assert.Equal(t, row.want, d.decide(w, shown, false).Reason)
			})
		})
	}
}

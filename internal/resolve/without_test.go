package resolve

import (
	"testing"
	"testing/synctest"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// What is not relied on of a service decides nothing of a write.

// With keys of its own for each API key, a service says nothing under another one, and nothing under
// any of a write whose API key is not known.
func TestKeysOfAnotherAPIKey(t *testing.T) {
	for _, row := range []struct {
		apart     bool
		had, asks string
		want      bool
	}{
		{true, "one", "one", false},
		{true, "one", "another", true},
		{true, "", "", true},
		{false, "one", "another", false},
	} {
		w := &OpenWrite{APIKey: row.had}
		w.Ledger.Without.Rotation = row.apart
		assert.Equal(t, row.want, new(Driver).rotated(w, prepared{service: &service{apiKey: row.asks}}), "%v", row)
	}
}

// Where the account is not believed to show that a write ran, it shows all the same that it did not.
func TestAnAccountThatIsNotBelieved(t *testing.T) {
	for _, row := range []struct {
		without ledger.Without
		ran     bool
		want    ledger.Outcome
	}{
		{ledger.Without{}, true, ledger.Applied},
		{ledger.Without{Applied: true}, true, ledger.Unknown},
		{ledger.Without{Applied: true}, false, ledger.NotApplied},
		{ledger.Without{Accounting: true}, false, ledger.Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
			s.look = func() (AccountLook, error) {
				l := AccountLook{Status: "ACTIVE", Orders: []string{"ord_0"}, Positions: map[string]accounting.Holding{}}
				if row.ran {
					l.Positions["BTC"] = accounting.Holding{Size: decimal.NewFromInt(1), EntryPrice: decimal.NewFromInt(100)}
				}
				return l, nil
			}
			d := client(t, s)
			readTwice(d)
			w := lost(t, d, "w_1", order, func(w *OpenWrite) { w.Ledger.Without = row.without })
			r, _ := d.Wait(t.Context(), w)
			assert.Equal(t, row.want, r.Outcome, "%+v", row)
		})
	}
}

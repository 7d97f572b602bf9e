package accounting

import (
	"testing"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// TestABaselineIsNotCarriedOverTheEndOfAnAccount: the account fails, and the service closes what
// is open. An answer from before is no baseline with the status of after, by which that row
// would have to be the lost close's. Nor does a status that was read before the list say that it
// is not of the service.
func TestABaselineIsNotCarriedOverTheEndOfAnAccount(t *testing.T) {
	for _, status := range []string{"FAILED", "PASSED", "ACTIVE"} {
		began := time.UnixMilli(0)
		k := Trades{}
		k.Take(nil, began, 20)
		trail := Trail{Base: &Point{Status: "ACTIVE"}}
		trail.Add(Booked{ID: "buy", Began: began, Heard: began, Act: Act{Kind: Entry, Side: Long, Size: num("1"), Sent: 1, Ended: 2, Ran: true, After: opt("1")}})
		trail.Add(Booked{ID: "lost", Began: began, Act: Act{Kind: Close, Percent: num("100"), Sent: 3, Ended: 4}})
		row := market(Long, "1")
		row.Digest, row.Symbol = 1, "X"
		k.Take([]Row{row}, began.Add(time.Minute), 20)
		trail.Follow("X", &k, func(time.Time) []Resting { return nil }, status)
		r, asked, ok := trail.Replay("X", &k, nil, status, "lost")
		want := ledger.Unknown
		if status == "ACTIVE" {
			want = ledger.Applied
		}
		if o, why := r.Of(asked, -1).Verdict(); !ok || o != want {
			t.Errorf("%s: %d, %s", status, o, why)
		}
	}
}

// TestAnAccountThatEndsBehindItsStatus: the account fails as its status has been read. The trade by
// which the service closed what a sell had opened is not of before that sell, whose answer is the
// newest baseline.
func TestAnAccountThatEndsBehindItsStatus(t *testing.T) {
	began := time.UnixMilli(0)
	k := Trades{}
	k.Take(nil, began, 20)
	trail := Trail{}
	trail.Add(Booked{ID: "sell", Began: began, Heard: began, Act: Act{Kind: Entry, Side: Short, Size: num("2"), Sent: 1, Ended: 2, Ran: true, After: opt("-2")}})
	trail.Add(Booked{ID: "lost", Began: began, Act: Act{Kind: Entry, Side: Short, Size: num("1"), Sent: 3, Ended: 4}})
	row := market(Short, "3")
	row.Digest, row.Symbol = 1, "X"
	k.Take([]Row{row}, began.Add(time.Minute), 20)
	trail.Follow("X", &k, func(time.Time) []Resting { return nil }, "ACTIVE")
	if r, asked, ok := trail.Replay("X", &k, nil, "FAILED", "lost"); ok {
		r.To = opt("0")
		if o, why := r.Of(asked, -1).Verdict(); o == ledger.NotApplied {
			t.Errorf("it ran: %s", why)
		}
	}
}

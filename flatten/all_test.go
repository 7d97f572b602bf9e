package flatten_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// accounts are those of a holder with a history.
func accounts() []tradingsim.Option {
	return []tradingsim.Option{
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_2", Status: "FUNDED"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_3", Status: "PASSED"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_4", Status: "FAILED", Archived: true}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_5", Status: "EXPIRED", Tournament: true}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_6", Archived: true}),
	}
}

func (r rig) flattenAll(within time.Duration, o flatten.Options) (map[trading.AccountID]*flatten.Report, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	reports, err := flatten.All(ctx, r.Live, o)
	byID := map[trading.AccountID]*flatten.Report{}
	for _, report := range reports {
		require.NotContains(r.t, byID, report.Account)
		byID[report.Account] = report
	}
	return byID, err
}

func TestEveryAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, accounts())
		for _, id := range []string{"acc_1", "acc_2", "acc_3", "acc_6"} {
			r.sim.Trade(id, "long", "0.1", "BTC")
		}
		r.rest(trading.Long, "0.1", "BTC", "63000")
		reports, err := r.flattenAll(time.Minute, flatten.Options{Halt: r.Client})
		require.NoError(t, err)
		require.Len(t, reports, 6)
		for id, report := range reports {
			r.consistent(report, nil, flatten.Options{})
			r.holdsNothing(string(id), "BTC")
		}
		assert.Empty(t, reports["acc_4"].Steps)
		_, halted := r.Halted()
		assert.True(t, halted)
	})
}

// One account that cannot be closed is in the error, and keeps no other open.
func TestOneAccountOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, accounts())
		for _, id := range []string{"acc_1", "acc_4"} {
			r.sim.Trade(id, "long", "0.1", "BTC")
		}
		reports, err := r.flattenAll(time.Hour, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrNotFlat)
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrAccountLocked)
		require.Len(t, reports, 6)
		for id, report := range reports {
			assert.Equal(t, id != "acc_4", report.Flat, id)
		}
		assert.ErrorContains(t, err, "account acc_4")
		r.holdsNothing("acc_1", "BTC")
	})
}

// Accounts that wait keep no place: more of them than work at once have no price
// for as long as it lasts, and the others are closed all the same.
func TestAccountsThatWaitKeepNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var options []tradingsim.Option
		for i := range 24 {
			options = append(options, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprintf("acc_%d", i)}))
		}
		r := newRig(t, append(options, tradingsim.WithUserLimits(10_000, 20), tradingsim.WithKeyLimit(100_000)))
		for i := range 24 {
			r.sim.Trade(fmt.Sprintf("acc_%d", i), "long", "0.1", []string{"ETH", "BTC"}[min(i/4, 1)])
		}
		r.sim.SetFillError("BTC", "NO_PRICE")
		reports, err := r.flattenAll(2*time.Minute, flatten.Options{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, trading.ErrNoPrice)
		for i := range 4 {
			id := trading.AccountID(fmt.Sprintf("acc_%d", i))
			assert.True(t, reports[id].Flat, id)
			assert.Less(t, reports[id].Ended.Sub(reports[id].Began), 15*time.Second)
		}
	})
}

// A list that cannot be read is no empty list.
func TestAListThatCannotBeRead(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"5xx":          tradingsim.Fail(500, "internal_error"),
		"gateway page": tradingsim.GatewayError(200),
		"empty object": tradingsim.Raw(200, nil, `{}`),
		"429":          tradingsim.RateLimit(20 * time.Second),
		"denied":       tradingsim.Fail(403, "api_access_denied"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r rig) {
				r.open(trading.Long, "0.1", "BTC")
				fail := true
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if fail && operation == string(trading.OpAccounts) {
						return fault
					}
					return nil
				})
				var told []flatten.Step
				reports, err := r.flattenAll(time.Minute, flatten.Options{Progress: func(s flatten.Step) { told = append(told, s) }})
				require.ErrorIs(t, err, flatten.ErrNotFlat)
				assert.ErrorContains(t, err, "could not be listed")
				assert.Empty(t, reports)
				assert.NotEmpty(t, told)

				r.sim.FaultEach(nil)
				time.Sleep(time.Minute)
				_, err = r.flattenAll(time.Minute, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("acc_1", "BTC")
			})
		})
	}
}

// An account that appears meanwhile is flattened too.
func TestAnAccountThatIsIssuedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, accounts()[:2])
		r.sim.Trade("acc_2", "long", "0.1", "BTC")
		one := `{"accounts":[{"id":"acc_1","status":"ACTIVE","isTrial":false,"isTournament":false,"challengeSize":1,"startingBalance":1,` +
			`"currentBalance":1,"evalType":"1-step","phase":1,"archived":false,"createdAt":"2026-01-01T00:00:00Z"}]}`
		r.sim.Fault(string(trading.OpAccounts), tradingsim.Raw(200, nil, one))
		reports, err := r.flattenAll(time.Minute, flatten.Options{})
		require.NoError(t, err)
		assert.Len(t, reports, 2)
		r.holdsNothing("acc_2", "BTC")
	})
}

// The program is told by one account at a time.
func TestToldOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, accounts())
		for _, id := range []string{"acc_1", "acc_2", "acc_3"} {
			r.sim.Trade(id, "long", "0.1", "BTC")
			r.sim.Trade(id, "long", "1", "ETH")
		}
		var inside sync.Mutex
		told := map[trading.AccountID]int{}
		once := func(id trading.AccountID) {
			if !inside.TryLock() {
				t.Error("told twice at once")
				return
			}
			defer inside.Unlock()
			told[id]++
			time.Sleep(time.Millisecond)
		}
		_, err := r.flattenAll(time.Minute, flatten.Options{
			Progress: func(s flatten.Step) { once(s.Account) },
			Looked:   func(l flatten.Look) { once(l.Account) },
		})
		require.NoError(t, err)
		assert.Len(t, told, 6)
		assert.Equal(t, 5, told["acc_1"], "three looks and two closes")
	})
}

package risk_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

// entry is a write of an order on an account.
func entry(account trading.AccountID, symbol, size string) trading.Write {
	o := buy(size)
	o.Symbol = symbol
	return trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Account: account, Symbol: symbol, Entry: true, Order: &o}
}

func refusedWith(code trading.Code, status int) error {
	return &trading.WriteError{Outcome: trading.NotApplied, Err: &trading.Error{Code: code, Status: status}}
}

func TestBreakerCountsByWhatTheRefusalIsAbout(t *testing.T) {
	for code, held := range map[trading.Code][]string{
		trading.CodeMinNotional:     {"acc_1 BTC 1"},
		trading.CodeGuardBand:       {"acc_1 BTC 1"},
		trading.CodeAssetDisabled:   {"acc_1 BTC 1", "acc_1 BTC 2"},
		trading.CodeAccountLocked:   {"acc_1 BTC 1", "acc_1 BTC 2", "acc_1 ETH 1"},
		trading.CodeDailyLossLimit:  {"acc_1 BTC 1", "acc_1 BTC 2", "acc_1 ETH 1"},
		trading.CodeNoPrice:         {}, // comes back by itself
		trading.CodeStalePrice:      {},
		trading.CodeRateLimited:     {},
		trading.CodeMarketPaused:    {},
		trading.CodeInternalError:   {}, // it may have been placed
		trading.Code("SOMETHING_4"): {"acc_1 BTC 1"},
	} {
		status := 400
		switch code {
		case trading.CodeNoPrice:
			status = 503
		case trading.CodeRateLimited:
			status = 429
		case trading.CodeInternalError:
			status = 500
		case trading.CodeMarketPaused, trading.CodeAccountLocked, trading.CodeAssetDisabled, trading.CodeDailyLossLimit:
			status = 403
		}
		b := risk.NewBreaker(2, time.Minute)
		guard := b.Guard()
		for range 2 {
			require.NoError(t, guard(t.Context(), entry("acc_1", "BTC", "1")))
			b.Note(entry("acc_1", "BTC", "1"), refusedWith(code, status))
		}
		found := []string{}
		for _, account := range []trading.AccountID{"acc_1", "acc_2"} {
			for _, symbol := range []string{"BTC", "ETH"} {
				for _, size := range []string{"1", "2"} {
					if symbol == "ETH" && size == "2" {
						continue
					}
					if err := guard(t.Context(), entry(account, symbol, size)); err != nil {
						require.ErrorIs(t, err, risk.ErrRepeated)
						require.ErrorIs(t, err, code)
						found = append(found, fmt.Sprint(account, " ", symbol, " ", size))
					}
				}
			}
		}
		assert.Equal(t, held, found, code)
	}
}

func TestBreakerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := risk.NewBreaker(2, time.Minute)
		guard := b.Guard()
		w := entry("acc_1", "BTC", "1")
		note := func(err error) { b.Note(w, err) }
		held := func() bool { return guard(t.Context(), w) != nil }

		note(refusedWith(trading.CodeMinNotional, 400))
		time.Sleep(59 * time.Second)
		note(refusedWith(trading.CodeMinNotional, 400))
		require.True(t, held())
		time.Sleep(time.Second) // the first is a minute old
		require.False(t, held())
		note(refusedWith(trading.CodeMinNotional, 400))
		require.True(t, held(), "two within a minute again")

		time.Sleep(time.Minute)
		note(refusedWith(trading.CodeMinNotional, 400))
		note(refusedWith(trading.CodeGuardBand, 409))
		require.False(t, held(), "two codes are not one twice")
		note(nil)
		note(refusedWith(trading.CodeMinNotional, 400))
		require.False(t, held(), "what was accepted between them counts")

		// What the client or a guard held back the service has not refused.
		for range 5 {
			note(&trading.WriteError{Outcome: trading.NotApplied, Err: &trading.Error{Code: trading.CodeBadSize, Local: true}})
			note(&trading.WriteError{Outcome: trading.NotApplied, Err: &trading.GuardError{Kind: trading.ErrHalted}})
			note(errors.New("no answer"))
		}
		require.False(t, held())

		// Exits are neither counted nor held.
		exit := w
		exit.Entry = false
		for range 5 {
			b.Note(exit, refusedWith(trading.CodeNoPosition, 404))
		}
		require.False(t, held())
	})
}

func TestBreakerOfOneAndOfNoWindow(t *testing.T) {
	w := entry("acc_1", "BTC", "1")
	one := risk.NewBreaker(0, time.Minute)
	require.NoError(t, one.Guard()(t.Context(), w))
	one.Note(w, refusedWith(trading.CodeMinNotional, 400))
	require.Error(t, one.Guard()(t.Context(), w))
	none := risk.NewBreaker(1, 0)
	none.Note(w, refusedWith(trading.CodeMinNotional, 400))
	require.NoError(t, none.Guard()(t.Context(), w))
}

// Many goroutines of one client: the breaker lets through as many refusals as it
// counts to, and those that were under way.
func TestBreakerUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := risk.NewBreaker(3, time.Hour)
		r := newRig(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")},
			trading.WithHooks(breaker.Hooks()), trading.WithGuard(breaker.Guard()))
		const callers, each = 8, 20
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					_, err := r.live.PlaceOrder(t.Context(), buy("0.0001"))
					assert.ErrorIs(t, err, trading.CodeMinNotional)
				}
			})
		}
		wg.Wait()
		sent := r.sim.Report().Requests["POST /orders"]
		require.GreaterOrEqual(t, sent, 3)
		require.LessOrEqual(t, sent, 3+callers-1)
	})
}

// Two breakers in one client do not see each other's calls.
func TestTwoBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, slow := risk.NewBreaker(1, time.Minute), risk.NewBreaker(2, time.Hour)
		r := newRig(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")},
			trading.WithHooks(quick.Hooks()), trading.WithHooks(slow.Hooks()),
			trading.WithGuard(quick.Guard(), slow.Guard()))
		place := func() error {
			_, err := r.live.PlaceOrder(t.Context(), buy("0.0001"))
			return err
		}
		require.NotErrorIs(t, place(), risk.ErrRepeated)
		require.ErrorIs(t, place(), risk.ErrRepeated)
		time.Sleep(time.Minute)
		require.NotErrorIs(t, place(), risk.ErrRepeated)
		time.Sleep(time.Minute)
		require.ErrorIs(t, place(), risk.ErrRepeated, "the slow one has counted both")
	})
}

package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A second client of the program closes the short that a lost buy of the same size would
// have closed. With one journal for both it is no sign that the buy ran.
func TestEdge52_AnotherClientsCloseIsNotTheLostWrite(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		writes := newDisk().open()
		closeClient(r.t, r.Client)
		r = join(r.t, r.sim, sole, trading.WithJournal(writes))
		other := join(r.t, r.sim, trading.WithJournal(writes))
		time.Sleep(6 * time.Second)
		r.open(sell("0.05"))
		r.readAll()
		time.Sleep(6 * time.Second)
		r.readAll()
		lost := r.doubtful(tradingsim.DropRequest(), buy("0.05"))
		_, err := other.account().ClosePosition(r.t.Context(), "BTC", trading.All)
		require.NoError(r.t, err)
		resolution, _ := r.resolve(lost)
		assert.NotEqual(r.t, trading.Applied, resolution.Outcome, "%v", resolution.Err)
	})
}

// A guard whose owner trades by a client of its own learns that the two share no journal,
// where one of them takes the account for its own.
func TestEdge52_AGuardLearnsThatItsClientSharesNoJournal(t *testing.T) {
	disk := newDisk()
	writes := disk.open()
	journaled := trading.WithJournal(writes)
	for _, row := range []struct {
		name         string
		guarded, own []trading.Option
		other        string // base URL of the guard's client
		want         bool
	}{
		{name: "one journal", guarded: []trading.Option{sole, journaled}, own: []trading.Option{journaled}},
		{name: "the guard's client has none", guarded: []trading.Option{sole, journaled}, want: true},
		{name: "another handle", guarded: []trading.Option{sole, journaled}, own: []trading.Option{trading.WithJournal(disk.open())}, want: true},
		{name: "neither has one", guarded: []trading.Option{sole}, want: true},
		{name: "nothing is declared", guarded: []trading.Option{journaled}},
		{name: "another account is", guarded: []trading.Option{journaled, trading.WithExclusiveAccounts("acc_2")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				own := join(r.t, r.sim, row.own...)
				guard := trading.WithGuard(func(_ context.Context, w trading.Write) error { return own.CheckSharing(w) })
				guarded := join(r.t, r.sim, append(row.guarded, guard)...)
				_, err := guarded.account().PlaceOrder(r.t.Context(), buy("0.01"))
				if !row.want {
					require.NoError(r.t, err)
					return
				}
				require.ErrorIs(r.t, err, trading.ErrGuard)
				require.ErrorContains(r.t, err, "give both clients the same journal")
				_, err = guarded.Sandbox.PlaceOrder(r.t.Context(), buy("0.01"))
				require.NoError(r.t, err, "the paper account is nobody's to declare")
			})
		})
	}
}

// Another program resets the paper account after a lost order ran: nothing shows of the
// order any more, and what does not fit is the balance.
func TestEdge40_AResetByAnotherProgramEndsAccounting(t *testing.T) {
	for _, row := range []struct {
		name   string
		before func(r rig)
	}{
		{"a position was open", func(r rig) { r.place(buy("0.05")) }},
		{"a trade was closed", func(r rig) {
			r.place(buy("0.05"))
			_, err := r.Sandbox.ClosePosition(r.t.Context(), "BTC", trading.All)
			require.NoError(r.t, err)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig) {
				ctx := r.t.Context()
				row.before(r)
				for range 2 {
					time.Sleep(6 * time.Second)
					r.state()
					r.positions()
					r.trades()
				}
				r.sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
				_, lost := r.Sandbox.PlaceOrder(ctx, sell("0.02"), trading.WithResolveTimeout(0))
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
				require.Equal(r.t, 200, r.raw(trading.OpSandboxReset, "{}").Status)
				ctx, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				resolution, err := r.Sandbox.Resolve(ctx, lost)
				require.Error(r.t, err)
				assert.Equal(r.t, trading.Unknown, resolution.Outcome, "%v", resolution.Err)
				assert.ErrorContains(r.t, err, "the account was reset")
			})
		})
	}
}

// A close or an order that nobody of this program can have made ends the declaration, for
// the next run too, until it is declared anew; the program is told.
func TestEdge52_OthersEndTheDeclaration(t *testing.T) {
	for _, row := range []struct {
		name       string
		operation  trading.Operation
		body, sign string
	}{
		{"a close at the terminal", trading.OpClose, `{"accountId":"acc_1","symbol":"BTC","closePercent":100}`, "a trade in BTC was closed"},
		{"a limit", trading.OpLimit, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":10000}`, "rests"},
	} {
		t.Run(row.name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				var signs []string
				told := trading.WithHooks(trading.Hooks{NotExclusive: func(id trading.AccountID, sign string) { signs = append(signs, string(id)+": "+sign) }})
				disk := newDisk()
				r = r.restart(disk, sole, told)
				time.Sleep(6 * time.Second)
				r.open(sell("0.05"))
				r.open(buy("0.01")) // leaves a row
				for range 3 {
					r.readAll()
				}
				require.Empty(r.t, signs)
				answer := r.rawLive(row.operation, row.body)
				require.Equal(r.t, 200, answer.Status, "%s %s", answer.Code, answer.Message)
				for range 3 {
					r.readAll()
				}
				synctest.Wait() // the hook is called beside the read
				require.Len(r.t, signs, 1)
				assert.Contains(r.t, signs[0], "acc_1: ")
				assert.Contains(r.t, signs[0], row.sign)

				verdict := func(want trading.Outcome) {
					r.t.Helper()
					r.readAll()
					resolution, _ := r.resolve(r.doubtful(tradingsim.CrashAfter(), buy("0.02")))
					assert.Equal(r.t, want, resolution.Outcome, "%v", resolution.Err)
					if want == trading.Unknown {
						require.NoError(r.t, r.Acknowledge(r.t.Context(), resolution.Intent.ID, trading.Applied, "read by hand"))
					}
				}
				verdict(trading.Unknown)
				r = r.restart(disk, sole, told)
				r.readAll()
				verdict(trading.Unknown)
				require.NoError(r.t, r.DeclareExclusive(r.t.Context(), acc))
				verdict(trading.Applied)
				synctest.Wait()
				assert.Len(r.t, signs, 1, "told once")
			})
		})
	}
}

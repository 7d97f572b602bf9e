package doubt

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A second client of the program closes the short that a lost buy of the same size would
// have closed. With one journal for both it is no sign that the buy ran.
func TestEdge52_AnotherClientsCloseIsNotTheLostWrite(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		writes := rig.NewDisk().Open()
		rig.CloseClient(r.T, r.Client)
		r = rig.Join(r.T, r.Sim, rig.Sole, trading.WithJournal(writes))
		other := rig.Join(r.T, r.Sim, trading.WithJournal(writes))
		time.Sleep(6 * time.Second)
		r.Open(rig.Sell("0.05"))
		r.ReadAll()
		time.Sleep(6 * time.Second)
		r.ReadAll()
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		_, err := other.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		require.NoError(r.T, err)
		resolution, _ := r.Resolved(lost)
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome, "%v", resolution.Err)
	})
}

// A guard whose owner trades by a client of its own learns that the two share no journal,
// where one of them takes the account for its own.
func TestEdge52_AGuardLearnsThatItsClientSharesNoJournal(t *testing.T) {
	disk := rig.NewDisk()
	writes := disk.Open()
	journaled := trading.WithJournal(writes)
	for _, row := range []struct {
		name         string
		guarded, own []trading.Option
		other        string // base URL of the guard's client
		want         bool
	}{
		{name: "one journal", guarded: []trading.Option{rig.Sole, journaled}, own: []trading.Option{journaled}},
		{name: "the guard's client has none", guarded: []trading.Option{rig.Sole, journaled}, want: true},
		{name: "another handle", guarded: []trading.Option{rig.Sole, journaled}, own: []trading.Option{trading.WithJournal(disk.Open())}, want: true},
		{name: "neither has one", guarded: []trading.Option{rig.Sole}, want: true},
		{name: "nothing is declared", guarded: []trading.Option{journaled}},
		{name: "another account is", guarded: []trading.Option{journaled, trading.WithExclusiveAccounts("acc_2")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				own := rig.Join(r.T, r.Sim, row.own...)
				guard := trading.WithGuard(func(_ context.Context, w trading.Write) error { return own.CheckSharing(w) })
				guarded := rig.Join(r.T, r.Sim, append(row.guarded, guard)...)
				_, err := guarded.Account().PlaceOrder(r.T.Context(), rig.Buy("0.01"))
				if !row.want {
					require.NoError(r.T, err)
					return
				}
				require.ErrorIs(r.T, err, trading.ErrGuard)
				require.ErrorContains(r.T, err, "give both clients the same journal")
				_, err = guarded.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.01"))
				require.NoError(r.T, err, "the paper account is nobody's to declare")
			})
		})
	}
}

// Another program resets the paper account after a lost order ran: nothing shows of the
// order any more, and what does not fit is the balance.
func TestEdge40_AResetByAnotherProgramEndsAccounting(t *testing.T) {
	for _, row := range []struct {
		name   string
		before func(r rig.Rig)
	}{
		{"a position was open", func(r rig.Rig) { r.Place(rig.Buy("0.05")) }},
		{"a trade was closed", func(r rig.Rig) {
			r.Place(rig.Buy("0.05"))
			_, err := r.Sandbox.ClosePosition(r.T.Context(), "BTC", trading.All)
			require.NoError(r.T, err)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			rig.LiveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig.Rig) {
				ctx := r.T.Context()
				row.before(r)
				for range 2 {
					r.ReadPaper()
				}
				r.Sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
				_, lost := r.Sandbox.PlaceOrder(ctx, rig.Sell("0.02"), trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
				require.Equal(r.T, 200, r.Raw(trading.OpSandboxReset, "{}").Status)
				ctx, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				resolution, err := r.Sandbox.Resolve(ctx, lost)
				require.Error(r.T, err)
				assert.Equal(r.T, trading.Unknown, resolution.Outcome, "%v", resolution.Err)
				assert.ErrorContains(r.T, err, "the account was reset")
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
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				var signs []string
				told := trading.WithHooks(trading.Hooks{NotExclusive: func(id trading.AccountID, sign string) { signs = append(signs, string(id)+": "+sign) }})
				disk := rig.NewDisk()
				r = r.Restart(disk, rig.Sole, told)
				time.Sleep(6 * time.Second)
				r.Open(rig.Sell("0.05"))
				r.Open(rig.Buy("0.01")) // leaves a row
				for range 3 {
					r.ReadAll()
				}
				require.Empty(r.T, signs)
				answer := r.RawLive(row.operation, row.body)
				require.Equal(r.T, 200, answer.Status, "%s %s", answer.Code, answer.Message)
				for range 3 {
					r.ReadAll()
				}
				synctest.Wait() // the hook is called beside the read
				require.Len(r.T, signs, 1)
				assert.Contains(r.T, signs[0], "acc_1: ")
				assert.Contains(r.T, signs[0], row.sign)

				verdict := func(want trading.Outcome) {
					r.T.Helper()
					r.ReadAll()
					resolution, _ := r.Resolved(r.Doubtful(tradingsim.CrashAfter(), rig.Buy("0.02")))
					assert.Equal(r.T, want, resolution.Outcome, "%v", resolution.Err)
					if want == trading.Unknown {
						require.NoError(r.T, r.Acknowledge(r.T.Context(), resolution.Intent.ID, trading.Applied, "read by hand"))
					}
				}
				verdict(trading.Unknown)
				r = r.Restart(disk, rig.Sole, told)
				r.ReadAll()
				verdict(trading.Unknown)
				require.NoError(r.T, r.DeclareExclusive(r.T.Context(), rig.Acc))
				verdict(trading.Applied)
				synctest.Wait()
				assert.Len(r.T, signs, 1, "told once")
			})
		})
	}
}

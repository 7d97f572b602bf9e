package trading_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tradesBy returns, for each live operation that trades, the method that sends it: what the
// client really sends.
func tradesBy(t *testing.T) map[trading.Operation]func(context.Context, *trading.Client) error {
	t.Helper()
	by := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for name, method := range methods {
		liveTest(t, nil, nil, func(r rig) {
			_ = method(r.t.Context(), r.Client)
			for _, request := range r.sim.Requests() {
				if by[trading.Operation(request.Operation)] == nil {
					by[trading.Operation(request.Operation)] = methods[name]
				}
			}
		})
	}
	trades := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for _, o := range spec.Operations() {
		if op := trading.Operation(o.Method + " " + o.Path); o.Trades && o.Env == "live" {
			require.NotNil(t, by[op], op)
			trades[op] = by[op]
		}
	}
	require.Len(t, trades, 10)
	return trades
}

// Of a write whose every answer is hidden, whatever it is, the client asks for half an hour,
// and then no more until somebody wants to know.
func TestEdge43_RequestsAboutAWriteInDoubt(t *testing.T) {
	for op, method := range tradesBy(t) {
		t.Run(string(op), func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r = r.restart(newDisk())
				r.readAll()
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if operation == string(op) {
						return tradingsim.GatewayErrorAfter(502)
					}
					return nil
				})
				err := method(r.t.Context(), r.Client)
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				time.Sleep(40 * time.Minute)
				asked := len(r.sim.Requests())
				assert.LessOrEqual(r.t, asked, 120)
				time.Sleep(24 * time.Hour)
				assert.Len(r.t, r.sim.Requests(), asked)
				open, err := r.Pending(r.t.Context())
				require.NoError(r.t, err)
				for _, w := range open {
					assert.True(r.t, w.Waiting, "%s", w.Reason)
					assert.NotContains(r.t, w.Reason, "incomplete")
				}
			})
		})
	}
}

// An edit of a run can add exposure: while one is in doubt, its market is closed to entries,
// and every market of the account where nothing has shown which one that is.
func TestEdge38_AnEditInDoubtClosesItsMarket(t *testing.T) {
	for name, row := range map[string]struct {
		read   bool
		closed []string
		open   []string
	}{
		"a read showed the run": {true, []string{"BTC"}, []string{"ETH"}},
		"nothing did":           {false, []string{"BTC", "ETH"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				run, err := r.account().PlaceTWAP(r.t.Context(), buy("0.2"), trading.TWAP{Duration: 3 * time.Hour})
				require.NoError(r.t, err)
				r = join(r.t, r.sim)
				if row.read {
					r.readAll()
				}
				edit := trading.RunEdit{TotalSize: dec("0.4")}
				r.sim.Fault(string(trading.OpEditRun), tradingsim.CrashAfter())
				_, err = r.account().EditRun(r.t.Context(), run.ID, edit, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
				in := func(symbol string) trading.Order {
					return buy("0.05", func(o *trading.Order) { o.Symbol = symbol })
				}
				for _, symbol := range row.closed {
					_, err := r.account().PlaceOrder(r.t.Context(), in(symbol))
					require.ErrorIs(r.t, err, trading.ErrPendingWrite, symbol)
				}
				_, err = r.account().EditRun(r.t.Context(), run.ID, edit)
				require.ErrorIs(r.t, err, trading.ErrPendingWrite, "an edit is an entry too")
				for _, symbol := range row.open {
					r.open(in(symbol))
				}
			})
		})
	}
}

// Beside an entry in doubt an edit waits as an entry does, whatever its market is.
func TestEdge38_AnEditBesideAnEntryInDoubt(t *testing.T) {
	for _, read := range []bool{true, false} {
		liveTest(t, nil, nil, func(r rig) {
			run, err := r.account().PlaceTWAP(r.t.Context(), buy("0.2"), trading.TWAP{Duration: 3 * time.Hour})
			require.NoError(r.t, err)
			r = join(r.t, r.sim)
			if read {
				r.readAll()
			}
			_ = r.doubtful(tradingsim.CrashAfter(), buy("0.05"))
			_, err = r.account().EditRun(r.t.Context(), run.ID, trading.RunEdit{TotalSize: dec("0.4")})
			require.ErrorIs(r.t, err, trading.ErrPendingWrite)
		})
	}
}

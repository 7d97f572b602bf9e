package exchange_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tradesBy returns, for each live operation that trades, the method that sends it: what the
// client really sends.
func tradesBy(t *testing.T) map[trading.Operation]func(context.Context, *trading.Client) error {
	t.Helper()
	by := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for _, c := range methodCalls(t) {
		by[trading.Operation(templateOf(c.sent))] = c.call
	}
	trades := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for _, o := range spec.Endpoints() {
		if op := o.Name; o.Asks.Trades() && o.Env == "live" {
			require.NotNil(t, by[op], op)
			trades[op] = by[op]
		}
	}
	require.NotEmpty(t, trades)
	return trades
}

// Of a write whose every answer is hidden, whatever it is, the client asks for half an hour,
// and then no more until somebody wants to know.
func TestEdge43_RequestsAboutAWriteInDoubt(t *testing.T) {
	for op, method := range tradesBy(t) {
		t.Run(string(op), func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r = r.Restart(rig.NewDisk())
				r.ReadAll()
				r.Sim.FaultEach(tradingsim.Always(string(op), tradingsim.GatewayErrorAfter(502)))
				err := method(r.T.Context(), r.Client)
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				time.Sleep(40 * time.Minute)
				asked := len(r.Sim.Requests())
				assert.LessOrEqual(r.T, asked, 120)
				time.Sleep(24 * time.Hour)
				assert.Len(r.T, r.Sim.Requests(), asked)
				open, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				for _, w := range open {
					assert.True(r.T, w.Waiting, "%s", w.Reason)
					assert.NotContains(r.T, w.Reason, "incomplete")
				}
			})
		})
	}
}

// The lost answer of each live write that can trade is found: by its call, and by Resolve where the
// call has given up, as the result that the call would have returned.
func TestALostAnswerOfEachWriteIsFound(t *testing.T) {
	trades := tradesBy(t)
	for _, o := range operations() {
		if trades[trading.Operation(o.name())] == nil {
			continue
		}
		lost := func(t *testing.T, opts ...trading.CallOption) (*trading.Client, any, error) {
			c := caseOf(o, http.StatusOK, "", "")
			w := simulated(t, &c)
			if o.ready != nil {
				o.ready(w)
			}
			time.Sleep(time.Minute)
			var guarded trading.Write
			r := rig.Join(t, w.sim, trading.WithGuard(func(_ context.Context, w trading.Write) error { guarded = w; return nil }))
			r.ReadAll()
			w.sim.Fault(o.name(), tradingsim.DropResponse())
			before := r.Ran(trading.Operation(o.name()))
			got, err := o.call(t.Context(), w, r.Client, opts...)
			assert.Equal(t, before+1, r.Ran(trading.Operation(o.name())))
			requireAsked(t, o, &guarded, []byte(r.BodiesOf(trading.Operation(o.name()))[0]))
			return r.Client, got, err
		}
		t.Run(o.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, want, err := lost(t)
				require.NoError(t, err)
				client, _, err := lost(t, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				found, err := client.Resolve(t.Context(), err)
				require.NoError(t, err)
				assert.Equal(t, trading.Applied, found.Outcome)
				assert.Equal(t, trading.EvidenceReplay, found.Evidence)
				assert.NoError(t, found.Into(reflect.New(reflect.TypeOf(want).Elem()).Interface()), "resolution.go: Into reads the result of %s", o.name())
			})
		})
	}
}

// requireAsked wants a guard to see what the body asks for.
func requireAsked(t *testing.T, o *operation, guarded *trading.Write, body []byte) {
	t.Helper()
	var asked struct {
		AccountID, Symbol string
		Size              decimal.NullDecimal
	}
	require.NoError(t, json.Unmarshal(body, &asked))
	assert.Equal(t, asked.AccountID, string(guarded.Account), "%s: its method begins a call of the account", o.name())
	assert.True(t, asked.Symbol == "" || asked.Symbol == guarded.Symbol, "%s: its method sets the symbol of the call", o.name())
	if asked.Size.Valid {
		require.NotNil(t, guarded.Order, "%s: its method has the call place an order", o.name())
		assert.True(t, asked.Size.Decimal.Equal(guarded.Order.Size), o.name())
	}
}

// What a live write does to the account it asks for: x-asks of the description says what guards,
// health, the journal and the driver take it for.
func TestAWriteAsksForWhatItDoes(t *testing.T) {
	trades := tradesBy(t)
	for _, o := range operations() {
		if !o.liveWrite() {
			continue
		}
		t.Run(o.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := caseOf(o, http.StatusOK, "", "")
				w := simulated(t, &c)
				if o.ready != nil {
					o.ready(w)
				}
				r := rig.Join(t, w.sim)
				before := heldOf(r)
				_, err := o.call(t.Context(), w, r.Client)
				require.NoError(t, err)
				for id, size := range heldOf(r) {
					changed := !size.Equal(before[id])
					assert.False(t, changed && trades[trading.Operation(o.name())] == nil, "openapi.json: %s changes %s, which its x-asks does not say", o.name(), id)
				}
			})
		})
	}
}

// heldOf are the positions of the account by size, and what rests or runs.
func heldOf(r rig.Rig) map[string]decimal.Decimal {
	r.T.Helper()
	time.Sleep(10 * time.Second)
	held := map[string]decimal.Decimal{}
	for _, symbol := range []string{"BTC", "ETH"} {
		held[symbol] = r.Sim.Position("acc_1", symbol)
	}
	open, err := r.Account().OpenOrders(r.T.Context())
	require.NoError(r.T, err)
	for _, o := range open.Limits {
		held[string(o.ID)] = decimal.New(1, 0)
	}
	for _, run := range open.Runs {
		held[string(run.ID)] = decimal.New(1, 0)
	}
	return held
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
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				run, err := r.Account().PlacePro(r.T.Context(), rig.Buy("0.2"), trading.TWAP{Duration: 3 * time.Hour})
				require.NoError(r.T, err)
				r = rig.Join(r.T, r.Sim)
				if row.read {
					r.ReadAll()
				}
				edit := rig.Dec("0.4")
				r.Sim.Fault(string(trading.OpEditRun), tradingsim.CrashAfter())
				_, err = r.Account().EditRun(r.T.Context(), run.ID, edit, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
				in := func(symbol string) trading.Order {
					return rig.Buy("0.05", func(o *trading.Order) { o.Symbol = symbol })
				}
				for _, symbol := range row.closed {
					_, err := r.Account().PlaceOrder(r.T.Context(), in(symbol))
					require.ErrorIs(r.T, err, trading.ErrPendingWrite, symbol)
				}
				_, err = r.Account().EditRun(r.T.Context(), run.ID, edit)
				require.ErrorIs(r.T, err, trading.ErrPendingWrite, "an edit is an entry too")
				for _, symbol := range row.open {
					r.Open(in(symbol))
				}
			})
		})
	}
}

package quote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a simulated service with BTC at 100, and a Quoter on acc_1.
type rig struct {
	*Quoter
	t   *testing.T
	sim *tradingsim.Sim
}

func options() Options {
	return Options{Symbol: "BTC", Leverage: decimal.NewFromInt(2), MaxBuy: decimal.NewFromInt(10), MaxSell: decimal.NewFromInt(10)}
}

type setup struct {
	sim       []tradingsim.Option
	o         Options
	transport func(http.RoundTripper) http.RoundTripper
	listens   bool // the client, to writes that it does not wait for
	young     bool // it has made no Step
}

func run(t *testing.T, s setup, test func(rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(append(s.sim, tradingsim.WithMark("BTC", "100"))...)
		transport := sim.Transport()
		if s.listens {
			transport = overConnections(t, sim)
		}
		if s.transport != nil {
			transport = s.transport(transport)
		}
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(transport),
			trading.WithJournal(journal.NewMemory()), trading.WithExclusiveAccounts("acc_1"),
			trading.WithResolveTimeout(0), trading.WithSendTTL(0))
		require.NoError(t, err)
		defer func() { _ = client.Close() }()
		if s.o.Symbol == "" {
			s.o = options()
		}
		q, err := New(client, "acc_1", s.o)
		require.NoError(t, err)
		if !s.young {
			_, err := q.Step(t.Context(), nil)
			require.NoError(t, err)
			time.Sleep(lag)
		}
		test(rig{q, t, sim})
	})
}

// overConnections is net/http's transport, over which a client listens to writes that it does not wait for.
func overConnections(t *testing.T, service http.Handler) http.RoundTripper {
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: service, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return &http.Transport{DisableKeepAlives: true, DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		l.conns <- far
		return near, nil
	}}
}

// listener accepts the ends of pipes.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	close(l.closed)
	return nil
}

func (l *listener) Addr() net.Addr { return new(net.UnixAddr) }

// step is a Step that must go well.
func (r rig) step(quotes ...Quote) *Result {
	r.t.Helper()
	result, err := r.Step(r.t.Context(), quotes)
	require.NoError(r.t, err)
	return result
}

// ran counts what was executed.
func (r rig) ran(op trading.Operation) (n int) {
	for _, e := range r.sim.Ledger() {
		if e.Actor == "api" && e.Operation == string(op) {
			n++
		}
	}
	return n
}

// rests is what really rests, by side, and how many there are.
func (r rig) rests() (buys, sells decimal.Decimal, n int) {
	for _, a := range r.sim.State().Accounts {
		if a.ID != "acc_1" {
			continue
		}
		for _, o := range a.Orders {
			n++
			if o.Side == "long" {
				buys = buys.Add(o.Size)
			} else {
				sells = sells.Add(o.Size)
			}
		}
	}
	return buys, sells, n
}

var both = []Quote{at(trading.Long, 90, 1), at(trading.Short, 110, 1)}

func TestStep(t *testing.T) {
	run(t, setup{}, func(r rig) {
		first := r.step(both...)
		require.Len(r.t, first.Placed, 2)
		again := r.step(both...)
		assert.Empty(r.t, again.Placed)
		assert.Len(r.t, again.Kept, 2)
		moved := r.step(at(trading.Long, 91, 1), both[1])
		require.Len(r.t, moved.Cancelled, 1)
		assert.Equal(r.t, first.Placed[0].ID, moved.Cancelled[0].ID)
		require.Len(r.t, moved.Placed, 1)
		assert.Equal(r.t, []Resting{first.Placed[1]}, moved.Kept)
		gone := r.step()
		assert.Len(r.t, gone.Cancelled, 2)
		assert.Equal(r.t, 3, r.ran(trading.OpLimit))
		assert.Equal(r.t, 3, r.ran(trading.OpCancelOrder))
		_, _, n := r.rests()
		assert.Zero(r.t, n)
	})
}

// Reads lag: what was placed rests although it does not show, and what was cancelled is gone
// although it does.
func TestReadsThatLag(t *testing.T) {
	run(t, setup{sim: []tradingsim.Option{tradingsim.WithLag(5 * time.Second)}}, func(r rig) {
		for range 20 {
			r.step(both...)
			time.Sleep(time.Second)
		}
		assert.Equal(r.t, 2, r.ran(trading.OpLimit))
		for range 20 {
			r.step()
			time.Sleep(time.Second)
		}
		assert.Equal(r.t, 2, r.ran(trading.OpCancelOrder))
	})
}

// A Quoter that begins does not know what an earlier run placed right before.
func TestANewQuoterWaitsForReads(t *testing.T) {
	run(t, setup{young: true}, func(r rig) {
		time.Sleep(lag) // which the program has used to find out what that left
		result := r.step(both...)
		assert.Empty(r.t, result.Placed)
		assert.Len(r.t, result.Held, 2)
		assert.Contains(r.t, result.Reason, "reads may not show yet")
		time.Sleep(lag)
		assert.Len(r.t, r.step(both...).Placed, 2)
	})
}

// A placement whose outcome is not known is not placed again, whether or not it rests.
func TestAnUnknownPlacementIsNotRepeated(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"executed, and the reply is lost":  tradingsim.DropResponse(),
		"never arrived":                    tradingsim.DropRequest(),
		"executed, and the service failed": tradingsim.FailAfter(500, "internal_error"),
		"a page of a gateway":              tradingsim.GatewayError(502),
	} {
		t.Run(name, func(t *testing.T) {
			run(t, setup{}, func(r rig) {
				r.sim.Fault("POST /orders/limit", fault)
				result, err := r.Step(r.t.Context(), both)
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				assert.Len(r.t, result.Held, 2)
				for range 3600 {
					if result, err := r.Step(r.t.Context(), both); err == nil && len(result.Pending) > 0 {
						require.Empty(r.t, result.Placed)
						require.Contains(r.t, result.Reason, "not known")
					}
					buys, sells, _ := r.rests()
					require.False(r.t, buys.GreaterThan(decimal.NewFromInt(1)) || sells.GreaterThan(decimal.NewFromInt(1)), "%s and %s", buys, sells)
					time.Sleep(time.Second)
				}
				_, _, n := r.rests()
				assert.Equal(r.t, 2, n, "in the end both rest, once")
			})
		})
	}
}

// A cancel whose outcome is not known holds its replacement back.
func TestAnUnknownCancelHoldsTheReplacement(t *testing.T) {
	run(t, setup{}, func(r rig) {
		r.step(both...)
		time.Sleep(lag)
		r.sim.Fault("POST /orders/cancel", tradingsim.DropRequest())
		moved := []Quote{at(trading.Long, 91, 1), both[1]}
		result, err := r.Step(r.t.Context(), moved)
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		assert.Len(r.t, result.Waiting, 1)
		assert.Len(r.t, result.Held, 1)
		for range 120 {
			_, _ = r.Step(r.t.Context(), moved)
			buys, _, _ := r.rests()
			require.False(r.t, buys.GreaterThan(decimal.NewFromInt(1)), "%s", buys)
			time.Sleep(time.Second)
		}
		assert.Equal(r.t, 3, r.ran(trading.OpLimit))
	})
}

// An order that is gone when it is to be cancelled may have been filled: the quotes were
// decided without that.
func TestAnOrderThatWasFilledEndsTheStep(t *testing.T) {
	run(t, setup{sim: []tradingsim.Option{tradingsim.WithLag(4 * time.Second)}}, func(r rig) {
		r.step(both...)
		time.Sleep(lag)
		r.sim.SetMark("BTC", "90") // the buy is filled
		result := r.step(at(trading.Long, 80, 1), both[1])
		assert.Len(r.t, result.Gone, 1)
		assert.Empty(r.t, result.Placed)
		assert.Len(r.t, result.Held, 1)
		assert.Contains(r.t, result.Reason, "may have been filled")
		assert.Len(r.t, r.step(at(trading.Long, 80, 1), both[1]).Placed, 1, "decided anew")
	})
}

func TestPerMinute(t *testing.T) {
	o := options()
	o.PerMinute = 3
	run(t, setup{o: o}, func(r rig) {
		var quotes []Quote
		for i := range int64(5) {
			quotes = append(quotes, at(trading.Long, 80+i, 1))
		}
		result := r.step(quotes...)
		assert.Len(r.t, result.Placed, 3)
		assert.Len(r.t, result.Held, 2)
		assert.Contains(r.t, result.Reason, "PerMinute")
		time.Sleep(time.Minute)
		assert.Len(r.t, r.step(quotes...).Placed, 2)
		result = r.step()
		assert.Len(r.t, result.Cancelled, 3)
		assert.Len(r.t, result.Waiting, 2)
		time.Sleep(time.Minute)
		assert.Len(r.t, r.step().Cancelled, 2)
	})
}

// What waits for its cancel takes the room of what would replace it.
func TestWhatIsNotCancelledYetTakesRoom(t *testing.T) {
	o := options()
	o.PerMinute, o.MaxBuy = 2, decimal.NewFromInt(3)
	run(t, setup{o: o}, func(r rig) {
		r.step(at(trading.Long, 80, 1), at(trading.Long, 81, 1))
		time.Sleep(time.Minute)
		r.step(at(trading.Long, 80, 1), at(trading.Long, 81, 1), at(trading.Long, 82, 1))
		result := r.step(at(trading.Long, 70, 1), at(trading.Long, 71, 1), at(trading.Long, 72, 1))
		assert.Len(r.t, result.Cancelled, 2)
		assert.Len(r.t, result.Placed, 1, "of two that have room, PerMinute takes one")
		full := r.step(at(trading.Long, 60, 3))
		assert.Len(r.t, full.Waiting, 2)
		assert.Len(r.t, full.Held, 1)
		assert.Contains(r.t, full.Reason, "leaves no room")
		buys, _, _ := r.rests()
		assert.False(r.t, buys.GreaterThan(decimal.NewFromInt(3)))
	})
}

func TestQuotesThatCannotBe(t *testing.T) {
	run(t, setup{young: true}, func(r rig) {
		for text, quotes := range map[string][]Quote{
			"a quote has a side":               {at("up", 90, 1)},
			"greater than 0":                   {at(trading.Long, 90, 0)},
			"at 0:":                            {at(trading.Long, 0, 1)},
			"buys of 11: MaxBuy is 10":         {at(trading.Long, 90, 5), at(trading.Long, 91, 6)},
			"sells of 11: MaxSell is 10":       {at(trading.Short, 110, 11)},
			"a buy at 111 is not below a sell": {at(trading.Long, 111, 1), at(trading.Short, 112, 1), at(trading.Short, 110, 1)},
			"MaxOrders is 20":                  make([]Quote, 21),
		} {
			_, err := r.Step(r.t.Context(), quotes)
			require.ErrorContains(r.t, err, text)
		}
		assert.Empty(r.t, r.sim.Requests())
	})
}

func TestOptionsThatCannotBe(t *testing.T) {
	for text, change := range map[string]func(*Options){
		"Symbol is empty": func(o *Options) { o.Symbol = "" },
		"Leverage is 0":   func(o *Options) { o.Leverage = decimal.Zero },
		"MaxBuy is -1":    func(o *Options) { o.MaxBuy = decimal.NewFromInt(-1) },
		"MaxOrders is -1": func(o *Options) { o.MaxOrders = -1 },
		"PerMinute is 151: it must be at most 150": func(o *Options) { o.PerMinute = 151 },
		"Least is -1":       func(o *Options) { o.Least.Price = decimal.NewFromInt(-1) },
		"the client is nil": func(*Options) {},
	} {
		o := options()
		change(&o)
		_, err := New(nil, "acc_1", o)
		require.ErrorContains(t, err, text)
	}
}

// bare takes everything but the id from the records of resting limits.
type bare struct{ http.RoundTripper }

var members = regexp.MustCompile(`"(symbol|side|size|limitPrice)":("[^"]*"|[0-9.]+),?`)

func (b bare) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := b.RoundTripper.RoundTrip(q)
	if err != nil || q.Method != http.MethodGet || !strings.HasSuffix(q.URL.Path, "/orders") {
		return r, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = members.ReplaceAll(body, nil)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
	return r, nil
}

// The contract shows the id of a resting limit alone: a Quoter knows what it placed itself,
// and touches nothing beside an order that it does not know.
func TestRecordsThatShowTheIDAlone(t *testing.T) {
	run(t, setup{transport: func(next http.RoundTripper) http.RoundTripper { return bare{next} }}, func(r rig) {
		require.Len(r.t, r.step(both...).Placed, 2)
		time.Sleep(time.Minute)
		assert.Len(r.t, r.step(both...).Kept, 2)
		_, err := r.sim.Terminal("POST /orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2,"limitPrice":85}`)
		require.NoError(r.t, err)
		_, err = r.Step(r.t.Context(), nil)
		require.ErrorIs(r.t, err, ErrUnreadable)
		assert.Zero(r.t, r.ran(trading.OpCancelOrder))
	})
}

// Whatever is desired, whatever fails and however reads lag, what rests is never above the
// limits, and once nothing fails it is what is desired.
func TestNeverAboveTheLimits(t *testing.T) {
	faults := []func() tradingsim.Fault{
		tradingsim.DropResponse, tradingsim.DropRequest,
		func() tradingsim.Fault { return tradingsim.GatewayError(502) },
		func() tradingsim.Fault { return tradingsim.Fail(500, "internal_error") },
		func() tradingsim.Fault { return tradingsim.FailAfter(500, "internal_error") },
		func() tradingsim.Fault { return tradingsim.RateLimit(5 * time.Second) },
	}
	for seed := range uint64(8) {
		o := options()
		o.MaxBuy, o.MaxSell, o.MaxOrders = decimal.NewFromInt(6), decimal.NewFromInt(6), 6
		o.Least = Change{Price: decimal.NewFromInt(int64(seed % 3)), Size: decimal.NewFromInt(1)}
		run(t, setup{o: o, sim: []tradingsim.Option{tradingsim.WithLag(time.Duration(seed%4) * 2 * time.Second)}}, func(r rig) {
			dice := rand.New(rand.NewPCG(seed, 7))
			draw := func() (quotes []Quote) {
				for range dice.IntN(4) {
					quotes = append(quotes, at(trading.Long, 80+dice.Int64N(10), 1+dice.Int64N(2)))
				}
				for range dice.IntN(3) {
					quotes = append(quotes, at(trading.Short, 111+dice.Int64N(10), 1+dice.Int64N(2)))
				}
				return quotes
			}
			within := func() {
				buys, sells, n := r.rests()
				require.False(r.t, buys.GreaterThan(o.MaxBuy) || sells.GreaterThan(o.MaxSell) || n > o.MaxOrders, "%s, %s, %d of seed %d", buys, sells, n, seed)
			}
			for range 60 {
				if dice.IntN(3) == 0 {
					r.sim.Fault([]string{"POST /orders/limit", "POST /orders/cancel"}[dice.IntN(2)], faults[dice.IntN(len(faults))]())
				}
				_, _ = r.Step(r.t.Context(), draw())
				within()
				time.Sleep(time.Duration(dice.IntN(40)) * time.Second)
			}
			r.sim.ClearFaults()
			want := draw()
			for range 200 {
				result, _ := r.Step(r.t.Context(), want)
				within()
				time.Sleep(30 * time.Second)
				for _, id := range result.Pending { // a person has looked
					_ = r.client.Acknowledge(r.t.Context(), id, trading.NotApplied, "looked")
				}
			}
			result := r.step(want...)
			assert.Len(r.t, result.Kept, len(want), "seed %d: %s", seed, result.Reason)
		})
	}
}

// A Quoter that steps seldom does not see a write pending when it is found out: what that has placed a moment ago
// is not in the reads yet, and is not placed again.
func TestAWriteThatIsFoundOutBetweenTwoSteps(t *testing.T) {
	for _, pause := range []time.Duration{12, 15, 20, 30} {
		for late := time.Duration(5); late < 60; late++ {
			t.Run(fmt.Sprint(late*time.Second, " late, looked at each ", pause*time.Second), func(t *testing.T) {
				run(t, setup{listens: true, sim: []tradingsim.Option{tradingsim.WithLag(5 * time.Second)}}, func(r rig) {
					r.sim.Fault("POST /orders/limit", tradingsim.Delay(late*time.Second))
					for range 10 {
						_, _ = r.Step(r.t.Context(), both)
						buys, sells, _ := r.rests()
						require.False(r.t, buys.GreaterThan(decimal.NewFromInt(1)) || sells.GreaterThan(decimal.NewFromInt(1)), "%s and %s", buys, sells)
						time.Sleep(pause * time.Second)
					}
				})
			})
		}
	}
}

package resolve

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// A write to which nothing was answered is found out about by fence, probe and looks.
func TestSteps(t *testing.T) {
	for _, row := range []struct {
		name      string
		operation string // an order if empty
		answers   map[string][]ledger.Answer
		keys      func(Request) ledger.Answer
		of        func(*OpenWrite)
		shared    bool // others trade the account
		outcome   ledger.Outcome
		by        Evidence
		late      bool
		maybeLate bool
		asked     string
		after     time.Duration
		says      string // the error, where there is no answer
	}{
		{
			name:    "its stored answer",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, asked: "fence, fence, /orders", after: 5 * time.Second,
		},
		{
			name:    "it ran when it was asked about",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {success}},
			outcome: ledger.Applied, by: ByAnswer, late: true, asked: "fence, fence, /orders", after: 5 * time.Second,
		},
		{
			name:    "its stored refusal",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(tooSmall)}},
			shared:  true, of: func(w *OpenWrite) { w.Ledger.Exclusive = false },
			outcome: ledger.NotApplied, by: ByReplay, asked: "fence, fence, /orders", after: 5 * time.Second,
			says: "MIN_NOTIONAL",
		},
		{
			name:    "its stored refusal, with which the account agrees",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(tooSmall)}},
			outcome: ledger.NotApplied, by: ByReplay, asked: "fence, fence, /orders, look", after: 5 * time.Second,
			says: "MIN_NOTIONAL",
		},
		{
			name:    "fences that nothing answers, and one that something in front does",
			answers: map[string][]ledger.Answer{cancelOrder: {silence, {Class: ledger.Foreign, Status: 502}, reused}, order: {replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, asked: "fence, fence, fence, fence, /orders", after: 6 * time.Second,
		},
		{
			name:    "a probe that nothing answers may have run",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {silence, replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, maybeLate: true, asked: "fence, fence, /orders, fence, fence, /orders", after: 10 * time.Second,
		},
		{
			name:    "no trace under a key that is spent",
			answers: map[string][]ledger.Answer{cancelOrder: {noOrder}},
			outcome: ledger.NotApplied, by: ByAccounting, asked: "fence, look, look", after: 10 * time.Second,
			says: "not executed (accounting: the account shows no trace of the write)",
		},
		{
			name:    "no trace of what failed part-way",
			answers: map[string][]ledger.Answer{cancelOrder: {partWay}},
			outcome: ledger.NotApplied, by: ByAccounting, asked: "fence, look, look", after: 10 * time.Second,
			says: "not executed",
		},
		{
			name: "keys that are kept by route", keys: byRoute(),
			answers: map[string][]ledger.Answer{cancelOrder: {noOrder}, order: {reused, reused, replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, asked: "fence, /orders, /orders, /orders", after: 5 * time.Second,
		},
		{
			name: "keys that are kept by route, of a run", keys: byRoute(),
			operation: "POST /runs/edit", of: func(w *OpenWrite) { w.Intent.Body = []byte(`{"runId":"run_1"}`) },
			answers: map[string][]ledger.Answer{cancelOrder: {noOrder}, "POST /runs/edit": {reused, reused, replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, asked: "fence, /runs/edit, /runs/edit, /runs/edit", after: 5 * time.Second,
		},
		{
			name:    "how keys are kept is not known at first",
			keys:    inTurn(silence, noOrder, replayed(refused(403, "account_locked")), noOrder, noRun, silence, noOrder, reused),
			answers: map[string][]ledger.Answer{cancelOrder: {noOrder}},
			outcome: ledger.NotApplied, by: ByAccounting, after: 17 * time.Second,
			asked: "fence, fence, fence, fence, look, look", says: "not executed",
		},
		{
			name: "it is not asked for its stored answer", of: func(w *OpenWrite) { w.Ledger.NoProbe = true },
			answers: map[string][]ledger.Answer{cancelOrder: {reused}},
			outcome: ledger.NotApplied, by: ByAccounting, after: ledger.Gone + 5*time.Second, says: "not executed",
			asked: "fence, fence, look, look, fence, look, fence, look, look",
		},
		{
			name: "another program's bytes are under its key", of: func(w *OpenWrite) { w.Ledger.Source = ledger.Derived },
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {reused}},
			outcome: ledger.NotApplied, by: ByAccounting, after: ledger.Gone + 10*time.Second, says: "not executed",
			asked: "fence, fence, /orders, fence, look, look, fence, look, fence, look, look",
		},
		{
			name: "a paper order", operation: paper,
			outcome: ledger.NotApplied, by: ByAccounting, asked: "look, look", after: 35 * time.Second, says: "not executed",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: row.answers, keys: row.keys, body: `{}`}
				d := client(t, s, func(c *Config) { c.IsExclusive = func(pending.AccountID) bool { return !row.shared } })
				if row.operation == "" {
					row.operation = order
				}
				if row.of == nil {
					row.of = func(*OpenWrite) {}
				}
				began := time.Now()
				w := lost(t, d, "w_1", row.operation, row.of)
				r, known := d.Wait(t.Context(), w)
				assert.True(t, known)
				assert.Equal(t, row.outcome, r.Outcome)
				assert.Equal(t, row.by, r.Evidence)
				assert.Equal(t, row.late, r.Late)
				assert.Equal(t, row.maybeLate, r.MaybeLate)
				assert.Equal(t, row.asked, s.asks())
				assert.Equal(t, row.after, time.Since(began))
				if row.says != "" {
					require.ErrorContains(t, r.Err, row.says)
				} else {
					require.NoError(t, r.Err)
					assert.Equal(t, "{}", string(r.Answer))
				}
				open, err := d.Pending(t.Context())
				require.NoError(t, err)
				assert.Empty(t, open)
				assert.Equal(t, []Found{r}, s.resolved)
				assert.Empty(t, shut(d))
			})
		})
	}
}

// The fence is an order that cannot exist, or the write itself for a market that cannot;
// the probe is the write, alone on a connection.
func TestWhatFencesAndProbesSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{body: `{}`, keys: byRoute(), answers: map[string][]ledger.Answer{
			cancelOrder: {noOrder}, order: {reused, reused, replayed(success)},
		}}
		d := client(t, s)
		w := lost(t, d, "w_1", order)
		_, known := d.Wait(t.Context(), w)
		require.True(t, known)
		require.Len(t, s.sent, 10)
		fence, cancel, run := s.sent[0], s.sent[1], s.sent[2]
		assert.Equal(t, w.Try().Key, fence.Key)
		assert.Contains(t, string(fence.Body), `"orderId":"`+impossibleID(w.Try().Key)+`"`)
		assert.NotEqual(t, fence.Key, run.Key, "a fresh key")
		assert.Equal(t, run.Key, cancel.Key, "two requests under one key")
		assert.Equal(t, []Request{cancel, run}, s.sent[3:5], "each of them twice")
		for i, other := range s.sent[5:7] {
			assert.Equal(t, s.sent[1+i].Key, other.Key)
			assert.Equal(t, s.sent[1+i].Operation, other.Operation)
			assert.NotEqual(t, s.sent[1+i].Body, other.Body, "other bytes under the same key")
		}
		own, probe := s.sent[7], s.sent[9]
		assert.JSONEq(t, `{"symbol":"`+impossibleID(w.Try().Key)+`","side":"long","size":1}`, string(own.Body))
		assert.Equal(t, own, s.sent[8])
		assert.Equal(t, Request{Operation: order, Account: "acc_1", Key: w.Try().Key, Body: w.Intent.Body, Alone: true, Entry: true}, probe)
		assert.False(t, own.Alone)
	})
}

// What the books know of the account before an order decides whether it ran.
func TestWhatTheAccountShows(t *testing.T) {
	bought := accounting.Holding{Size: decimal.NewFromInt(1), EntryPrice: decimal.NewFromInt(100)}
	for _, row := range []struct {
		name      string
		shared    bool
		shows     accounting.Holding
		operation string
		orders    []string
		stored    bool // a refusal, under its key
		outcome   ledger.Outcome
		says      string
	}{
		{name: "it ran", shows: bought, outcome: ledger.Applied, says: "executed (accounting: " + string(accounting.ReplayFits) + "), and its answer is lost"},
		{name: "others trade the account", shared: true, shows: bought, says: string(accounting.NotExclusive)},
		{name: "it did not run", outcome: ledger.NotApplied, says: string(accounting.NoTrace)},
		{name: "it did not run, whoever trades", shared: true, outcome: ledger.NotApplied, says: string(accounting.NoTrace)},
		{name: "an order rests", operation: limit, orders: []string{"ord_0", "ord_1"}, outcome: ledger.Applied, says: string(accounting.OneNewID)},
		{name: "an order rests, and a refusal is stored", stored: true, operation: limit, orders: []string{"ord_0", "ord_1"}, outcome: ledger.Applied, says: "executed (accounting: " + string(accounting.OneNewID) + "), and its answer is lost"},
		{name: "none rests that did not before", operation: limit, orders: []string{"ord_0"}, outcome: ledger.NotApplied, says: string(accounting.NoTrace)},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
				if row.stored {
					s.answers = map[string][]ledger.Answer{cancelOrder: {reused}, limit: {replayed(tooSmall)}}
				}
				s.look = func() (AccountLook, error) {
					return AccountLook{Status: "ACTIVE", Orders: row.orders, Positions: map[string]accounting.Holding{"BTC": row.shows}}, nil
				}
				d := client(t, s, func(c *Config) { c.IsExclusive = func(pending.AccountID) bool { return !row.shared } })
				readTwice(d)
				operation := order
				if row.operation != "" {
					operation = row.operation
				}
				w := lost(t, d, "w_1", operation, func(w *OpenWrite) { w.Ledger.Exclusive = !row.shared })
				_, based := w.Before()
				assert.True(t, based)
				r, known := d.Wait(t.Context(), w)
				assert.Equal(t, row.outcome != ledger.Unknown, known)
				assert.Equal(t, row.outcome, r.Outcome)
				require.ErrorContains(t, r.Err, row.says)
				assert.NotEmpty(t, r.Looks)
			})
		})
	}
}

// readTwice has the books know an account with an order that rests.
func readTwice(d *Driver, held ...books.Held) {
	account := books.AccountKey{Environment: "live", ID: "acc_1"}
	d.Books.SawStatus(account, time.Now(), "ACTIVE")
	for range 2 {
		time.Sleep(ledger.Lag)
		d.Books.SawPositions(account, atOnce(time.Now()), held)
		d.Books.SawTrades(account, atOnce(time.Now()), func(int) []accounting.Row { return nil })
		d.Books.SawOrders(account, atOnce(time.Now()), []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}}, nil)
		d.Books.SawFinished(account, atOnce(time.Now()), accounting.Newest{})
	}
}

// A body that is no object cannot be fenced on its own route. That is said, and asked again.
func TestABodyThatCannotBeFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{keys: byRoute(), answers: map[string][]ledger.Answer{cancelOrder: {noOrder}}}
		d := client(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, known := d.Wait(ctx, lost(t, d, "w_1", order, func(w *OpenWrite) { w.Intent.Body = []byte("[]") }))
		assert.False(t, known)
		require.ErrorContains(t, r.Err, "trading: fence")
		require.ErrorIs(t, r.Err, context.DeadlineExceeded)
		require.ErrorIs(t, r.Err, ErrUndetermined)
	})
}

// Reads that fail are repeated; reads that differ decide nothing.
func TestLooksThatDecideNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		s.look = func() (l AccountLook, err error) {
			switch looks++; {
			case looks <= 2:
				err = errors.New("a read failed")
			case looks == 3:
				l.Orders = []string{"ord_1"}
			}
			return l, err
		}
		d := client(t, s)
		r, known := d.Wait(t.Context(), lost(t, d, "w_1", order))
		assert.True(t, known)
		assert.Equal(t, ledger.NotApplied, r.Outcome)
		assert.Equal(t, "fence, look, look, look, look, look", s.asks())
		assert.Len(t, r.Looks, 3)
		// The reads that failed are a second apart and then two; those that did not, a lag.
		assert.Equal(t, []time.Duration{0, 5 * time.Second, 6 * time.Second, 8 * time.Second, 13 * time.Second, 18 * time.Second}, s.at)
	})
}

// The reads of a look begin a lag behind the end of those before, however long they take.
func TestLooksThatTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		s.look = func() (AccountLook, error) {
			time.Sleep(2 * time.Second)
			return AccountLook{}, nil
		}
		d := client(t, s)
		_, known := d.Wait(t.Context(), lost(t, d, "w_1", order))
		assert.True(t, known)
		assert.Equal(t, []time.Duration{0, ledger.Lag, 2*ledger.Lag + 2*time.Second}, s.at)
	})
}

// A look serves every write of its account that is due when it begins, and no other: also where its reads take
// time, but no longer than a lag after they began.
func TestLooksAreShared(t *testing.T) {
	for _, row := range []struct {
		apart, takes time.Duration
		want         []time.Duration
	}{
		{0, 0, []time.Duration{0, 0, 5 * time.Second, 10 * time.Second}},
		{0, 100 * time.Millisecond, []time.Duration{0, 0, 5 * time.Second, 10100 * time.Millisecond}},
		{0, ledger.Lag, []time.Duration{0, 0, 5 * time.Second, 15 * time.Second}},
		{0, ledger.Lag + 1, []time.Duration{0, 0, 5 * time.Second, 10*time.Second + 1, 15*time.Second + 2, 20*time.Second + 3}},
		{2 * time.Second, 0, []time.Duration{0, 2 * time.Second, 5 * time.Second, 7 * time.Second, 10 * time.Second, 12 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
			s.look = func() (AccountLook, error) {
				time.Sleep(row.takes)
				return AccountLook{}, nil
			}
			d := client(t, s)
			first := lost(t, d, "w_1", order)
			time.Sleep(row.apart)
			second := lost(t, d, "w_2", order, func(w *OpenWrite) { w.Intent.Symbol = "ETH" })
			for _, w := range []*OpenWrite{first, second} {
				r, known := d.Wait(t.Context(), w)
				assert.True(t, known)
				assert.Equal(t, ledger.NotApplied, r.Outcome)
			}
			assert.Equal(t, row.want, s.at, "%v apart, reads that take %v", row.apart, row.takes)
		})
	}
}

// A look that is shared does not say that the service answers: what it was asked since has no answer.
func TestASharedLookIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := ledger.Answer{Class: ledger.Silence, RetryAfter: 2 * time.Second}
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay, partWay, later}}}
		s.look = func() (AccountLook, error) {
			time.Sleep(100 * time.Millisecond)
			return AccountLook{}, nil
		}
		d := client(t, s)
		lost(t, d, "w_1", order)
		lost(t, d, "w_2", order, func(w *OpenWrite) { w.Intent.Symbol = "ETH" })
		began := time.Now()
		time.Sleep(ledger.Lag + 50*time.Millisecond) // as the look is read
		lost(t, d, "w_3", order, func(w *OpenWrite) { w.Intent.Symbol, w.Intent.Decided = "SOL", began.Add(-time.Second) })
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "fence, fence, look, fence", s.asks())
		assert.Equal(t, uint64(5), d.Requests(), "the look was shared")
		assert.Equal(t, 1, d.fails)
	})
}

// atOnce is a read that took no time.
func atOnce(at time.Time) books.Read { return books.Read{Begun: at, Ended: at} }

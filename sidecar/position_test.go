package sidecar

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// atMost runs a test of a sidecar that allows 0.03 BTC, and any ETH.
func atMost(t *testing.T, f func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(newRig(t, nil, func(c *Config) {
			c.MaxPosition = map[string]decimal.Decimal{"BTC": trading.Dec("0.03")}
		}))
	})
}

// wants is the body of an order of a size.
func wants(side, size, more string) string {
	return fmt.Sprintf(`{"accountId":"acc_1","symbol":"BTC","side":%q,"size":%s,"leverage":2%s}`, side, size, more)
}

func (r *rig) tooLarge(a answer) {
	r.t.Helper()
	assert.Equal(r.t, []any{400, "PER_POSITION_CAP", "not-applied", "1"}, []any{a.status, a.code, a.outcome, a.header.Get(headerOwn)}, a.body)
	assert.Contains(r.t, a.reason, "0.03 at the most")
}

// A position grows up to what is allowed; exits, other markets and the other side are free.
func TestMaxPosition(t *testing.T) {
	atMost(t, func(r *rig) {
		order := func(side, size, more string) answer { return r.do(r.live, "POST /orders", wants(side, size, more)) }
		require.Equal(r.t, 200, order("long", "0.01", "").status)
		require.Equal(r.t, 200, order("long", "0.02", "").status)
		r.tooLarge(order("long", "0.01", ""))
		r.tooLarge(order("short", "0.06", "")) // not as far as the service says, but an exit may be on its way
		assert.Equal(r.t, 200, r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"ETH","side":"long","size":5,"leverage":2}`).status)
		reduced := order("short", "0.01", `,"reduceOnly":true`)
		assert.Equal(r.t, 200, reduced.status, reduced.body)
		assert.Equal(r.t, 200, order("short", "0.01", "").status)
		time.Sleep(6 * time.Second)
		again := order("long", "0.02", "")
		assert.Equal(r.t, 200, again.status, again.body)
		assert.Equal(r.t, 200, r.do(r.live, "POST /positions/close", closeBTC).status)
		assert.Equal(r.t, "0", r.sim.Position("acc_1", "BTC").String())
	})
}

// Entries at once do not pass on the same facts, whatever reads show late.
func TestMaxPositionAtOnce(t *testing.T) {
	atMost(t, func(r *rig) {
		r.sim.FaultEach(tradingsim.Always("POST /orders", tradingsim.Delay(time.Second)))
		over := make(chan answer)
		const bots = 12
		for i := range bots {
			go func() { over <- r.do(r.live, "POST /orders", wants("long", fmt.Sprintf("0.010%d", i), "")) }()
		}
		done := 0
		for range bots {
			if a := <-over; a.status == 200 {
				done++
			} else {
				r.tooLarge(a)
			}
		}
		assert.Equal(r.t, 2, done)
		assert.Equal(r.t, 2, len(r.sim.Ledger()))
	})
}

// What rests and what runs counts with all that it may still do, over a restart too. One that is
// refused, or was cancelled a while ago, does not.
func TestMaxPositionOfWhatWaits(t *testing.T) {
	for name, c := range map[string]struct{ path, more, cancel, id string }{
		"a limit": {"POST /orders/limit", `,"limitPrice":60000`, "POST /orders/cancel", `"orderId":"ord_1"`},
		"a run":   {"POST /orders/twap", `,"durationMs":3600000`, "POST /runs/cancel", `"runId":"run_1"`},
	} {
		t.Run(name, func(t *testing.T) {
			atMost(t, func(r *rig) {
				order := func(size string) answer { return r.do(r.live, "POST /orders", wants("long", size, "")) }
				r.sim.Fault(c.path, tradingsim.Fail(400, "ASSET_NOTIONAL_CAP"))
				require.Equal(r.t, 400, r.do(r.live, c.path, wants("long", "0.03", c.more)).status)
				require.Equal(r.t, 200, r.do(r.live, c.path, wants("long", "0.02", c.more)).status)
				r.tooLarge(order("0.02"))
				time.Sleep(time.Second)
				r.restart()
				r.tooLarge(order("0.02"))
				time.Sleep(time.Minute)
				r.tooLarge(order("0.02"))
				canceled := r.do(r.live, c.cancel, `{"accountId":"acc_1",`+c.id+`}`)
				require.Equal(r.t, 200, canceled.status, canceled.body)
				r.tooLarge(order("0.02")) // it may have filled
				time.Sleep(6 * time.Second)
				if name == "a limit" {
					assert.Equal(r.t, 200, order("0.02").status)
				}
			})
		})
	}
}

// A run that is made larger counts with its new size.
func TestMaxPositionOfALargerRun(t *testing.T) {
	atMost(t, func(r *rig) {
		edit := func(size string) answer {
			return r.do(r.live, "POST /runs/edit", `{"accountId":"acc_1","runId":"run_1","totalSize":`+size+`}`)
		}
		none := edit("0.01")
		assert.Equal(r.t, []any{403, "market_paused"}, []any{none.status, none.code}, none.body)
		require.Equal(r.t, 200, r.do(r.live, "POST /orders/twap", wants("long", "0.02", `,"durationMs":3600000`)).status)
		r.tooLarge(edit("0.04"))
		edited := edit("0.025")
		require.Equal(r.t, 200, edited.status, edited.body)
		r.restart()
		r.tooLarge(r.do(r.live, "POST /orders", wants("long", "0.01", "")))
	})
}

// Without a read, and beside a run that somebody else has placed, nobody knows how large it would be.
func TestMaxPositionThatIsNotJudged(t *testing.T) {
	atMost(t, func(r *rig) {
		elsewhere, err := trading.New(r.sim.URL(), trading.WithLiveKey(r.sim.NewLiveKey()), trading.WithTransport(r.sim.Transport()))
		require.NoError(r.t, err)
		defer elsewhere.Close()
		account := elsewhere.Live.Account("acc_1")
		o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.02"), Leverage: trading.Dec("2"), LimitPrice: trading.At(trading.Dec("60000"))}
		limit, err := account.PlaceLimit(r.t.Context(), o)
		require.NoError(r.t, err)
		r.tooLarge(r.do(r.live, "POST /orders", buyMore))
		_, err = account.CancelOrder(r.t.Context(), limit.Order.ID)
		require.NoError(r.t, err)
		time.Sleep(6 * time.Second)
		r.tooLarge(r.do(r.live, "POST /orders", buyMore)) // not seen to be gone for long enough
		time.Sleep(6 * time.Second)
		unread := func() {
			r.t.Helper()
			a := r.do(r.live, "POST /orders", buy)
			assert.Equal(r.t, []any{403, "market_paused", "not-applied"}, []any{a.status, a.code, a.outcome}, a.body)
		}
		for _, read := range []string{"GET /accounts/{accountId}/orders", "GET /positions"} {
			r.sim.FaultEach(tradingsim.Always(read, tradingsim.DropRequest()))
			unread()
		}
		r.sim.FaultEach(nil)
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buyMore).status)
		o.Side, o.LimitPrice = trading.Short, trading.At(trading.Dec("70000"))
		_, err = account.PlaceLimit(r.t.Context(), o)
		require.NoError(r.t, err)
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status, "beside an order of the other side")
		o.Side, o.LimitPrice = trading.Long, trading.Level{}
		_, err = account.PlacePro(r.t.Context(), o, trading.TWAP{Duration: time.Hour})
		require.NoError(r.t, err)
		unread()
	})
}

// What somebody else has bought counts beside what is still under way.
func TestMaxPositionBesideSomebodyElse(t *testing.T) {
	atMost(t, func(r *rig) {
		r.sim.Fault("POST /orders", tradingsim.Delay(3*time.Second))
		under := make(chan answer)
		go func() { under <- r.do(r.live, "POST /orders", wants("long", "0.02", "")) }()
		time.Sleep(time.Second)
		r.sim.Trade("acc_1", "long", "0.01", "BTC")
		r.tooLarge(r.do(r.live, "POST /orders", wants("long", "0.01", "")))
		assert.Equal(r.t, 200, (<-under).status)
		assert.Equal(r.t, "0.03", r.sim.Position("acc_1", "BTC").String())
	})
}

// What fills while the orders are read is not in the positions of a read that begins five seconds
// after that one began.
func TestMaxPositionOfWhatFillsDuringARead(t *testing.T) {
	atMost(t, func(r *rig) {
		require.Equal(r.t, 200, r.do(r.live, "POST /orders/limit", wants("long", "0.02", `,"limitPrice":60000`)).status)
		time.Sleep(10 * time.Second)
		r.sim.SetLag("GET /positions", 5*time.Second)
		r.sim.Fault("GET /accounts/{accountId}/orders", tradingsim.Delay(4*time.Second))
		go func() {
			time.Sleep(2 * time.Second)
			r.sim.SetMark("BTC", "59000")
		}()
		r.tooLarge(r.do(r.live, "POST /orders", wants("long", "0.02", "")))
		time.Sleep(time.Second)
		r.tooLarge(r.do(r.live, "POST /orders", wants("long", "0.02", "")))
		assert.Equal(r.t, "0.02", r.sim.Position("acc_1", "BTC").String())
	})
}

func TestMaxPositionIsPositive(t *testing.T) {
	for _, most := range []map[string]decimal.Decimal{{"BTC": decimal.Zero}, {"": trading.Dec("1")}} {
		_, err := New(Config{BaseURL: "http://localhost/v1", Dir: t.TempDir(), MaxPosition: most})
		assert.ErrorContains(t, err, "greater than 0")
	}
}

// A write whose outcome nobody finds out counts for 45 minutes, however often the sidecar is started meanwhile.
func TestMaxPositionOfADoubtOverRestarts(t *testing.T) {
	atMost(t, func(r *rig) {
		dead := false
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if dead = dead || operation == "POST /orders"; dead {
				return tradingsim.GatewayError(502)
			}
			return nil
		})
		require.Equal(r.t, "unknown", r.do(r.live, "POST /orders", buy).outcome)
		for _, over := range []bool{false, true} {
			time.Sleep(40 * time.Minute)
			r.restart()
			p := r.server.positions
			p.mu.Lock()
			p.learn("acc_1")
			all := p.set("acc_1").All()
			require.Len(r.t, all, 1)
			assert.Equal(r.t, over, all[0].Ended(p.at(time.Now())))
			p.mu.Unlock()
		}
	})
}

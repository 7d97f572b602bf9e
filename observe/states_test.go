package observe

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// states brings accounts and markets into what the rarer readings show by: levels that are met, days, a pass.
func (a *asker) states() *Evidence {
	a.levels()
	a.days()
	a.get("/trades?accountId=acc_1")
	a.post("/orders", a.key(), order)
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC"}`)
	a.get("/trades?accountId=acc_1")
	a.sim.SetStatus("acc_1", "PASSED")
	a.get("/accounts")
	a.post("/orders/cancel", a.key(), `{"accountId":"acc_1","orderId":"nothing"}`)
	return a.seen
}

// levels has the paper account meet its levels.
func (a *asker) levels() {
	a.post("/sandbox/orders", "", `{"symbol":"OFF","side":"long","size":5}`)
	a.get("/sandbox/markets")
	buy := func(levels string) {
		a.sim.SetMark("BTC", "64000")
		a.post("/sandbox/positions/close", "", `{"symbol":"BTC"}`)
		a.post("/sandbox/orders", "", `{"symbol":"BTC","side":"long","size":0.1}`)
		a.post("/sandbox/positions/tpsl", "", `{"symbol":"BTC",`+levels+`}`)
		time.Sleep(time.Minute)
		a.get("/sandbox/positions")
	}
	buy(`"takeProfitPrice":66000,"stopLossPrice":63000,"closePct":50`)
	a.sim.SetMark("BTC", "62500")
	a.get("/sandbox/positions")

	buy(`"stopLossPrice":63000`)
	a.sim.SetMark("BTC", "63000")
	a.get("/sandbox/prices")
	a.get("/sandbox/positions")
	a.get("/sandbox/prices?symbol=BTC")
	a.get("/sandbox/trades")
	time.Sleep(time.Minute)
	a.get("/sandbox/positions")

	buy(`"stopLossPrice":62000`)
	a.sim.SetMark("BTC", "61900")
	a.get("/sandbox/prices")
	a.post("/sandbox/positions/tpsl", "", `{"symbol":"BTC","stopLossPrice":62000,"takeProfitPrice":70000}`)
	a.get("/sandbox/prices")
	a.sim.SetMark("BTC", "64000")
}

// days lets midnights pass, with another balance each.
func (a *asker) days() {
	for range 3 {
		a.get("/health")
		a.get("/positions?accountId=acc_1")
		a.post("/orders", a.key(), strings.Replace(order, "0.05", "0.5", 1))
		a.get("/positions?accountId=acc_1")
		a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC"}`)
		a.get("/positions?accountId=acc_1")
		midnight := time.Now().UTC().Truncate(day).Add(day)
		time.Sleep(time.Until(midnight.Add(-5 * time.Minute)))
		a.get("/accounts/acc_1")
		time.Sleep(10 * time.Minute)
		a.get("/accounts/acc_1")
	}
}

// judgedStates runs the script under some interpretations.
func judgedStates(t *testing.T, front func(http.RoundTripper) http.RoundTripper, opts ...tradingsim.Option) (p *profile.Profile) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t, append(opts, tradingsim.WithMarket(tradingsim.Market{Symbol: "OFF", Price: "10", Disabled: true}))...)
		if front != nil {
			a.rt = front(a.rt)
		}
		p = Judge(a.states(), about)
	})
	return p
}

// statesFind are the experiments that the script decides.
var statesFind = map[string]profile.Environment{"20": live, "22": paper, "23": paper, "24": paper, "32": paper, "37": live, "A17": live, "A19": live}

// Under each other reading the script finds it, or says that it is unseen.
func TestStatesUnderEachReading(t *testing.T) {
	p := judgedStates(t, nil)
	for number, env := range statesFind {
		r, _ := p.Result(number, env)
		assert.Equal(t, profile.First, r.Verdict, "%s: %s", number, r.Why)
	}
	for _, i := range slices.Sorted(maps.Keys(tradingsim.Interpretations())) {
		p := judgedStates(t, nil, readings(i)...)
		assert.Empty(t, wrong(p, i), "under %d", i)
		number := strconv.Itoa(i)
		if env, ok := statesFind[number]; ok {
			r, _ := p.Result(number, env)
			assert.Equal(t, profile.Other, r.Verdict, "%d: %s", i, r.Why)
		}
	}
}

// Reads that lag, and a clock that differs, make nothing of it wrong.
func TestStatesBesideALag(t *testing.T) {
	for _, opt := range []tradingsim.Option{tradingsim.WithLag(3 * time.Second), tradingsim.WithLag(9 * time.Second), tradingsim.WithSkew(40 * time.Second), tradingsim.WithSkew(-time.Hour)} {
		for _, i := range []int{0, 20, 22, 23, 24, 32, 37} {
			opts, set := []tradingsim.Option{opt}, []int{}
			if i > 0 {
				opts, set = append(opts, readings(i)...), append(set, i)
			}
			p := judgedStates(t, nil, opts...)
			for _, w := range wrong(p, set...) {
				assert.Contains(t, w, "A9 is other", "%d", i) // as it is, by the longer lag
			}
		}
	}
}

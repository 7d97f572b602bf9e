package sidecar

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/obedient"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A bot that does what the sidecar's answers and the pages say has each decision executed once, under each fault, and is
// not kept out for longer than they say, whether it waits for an answer or not.
func TestAnObedientBot(t *testing.T) {
	pages, err := obedient.ReadHTTP()
	require.NoError(t, err)
	for name, fault := range map[string]tradingsim.Fault{
		"no connection":           tradingsim.RefuseConnection(),
		"the request is lost":     tradingsim.DropRequest(),
		"the reply is lost":       tradingsim.DropResponse(),
		"the reply takes 40s":     tradingsim.DelayResponse(40 * time.Second),
		"the work takes 20s":      tradingsim.Delay(20 * time.Second),
		"the work takes 3m":       tradingsim.Delay(3 * time.Minute),
		"it arrives 20s late":     tradingsim.ArriveLate(20 * time.Second),
		"a worker dies over it":   tradingsim.Crash(),
		"a worker dies after it":  tradingsim.CrashAfter(),
		"500":                     tradingsim.Fail(500, "internal_error"),
		"500 after the work":      tradingsim.FailAfter(500, "internal_error"),
		"503":                     tradingsim.Fail(503, "unavailable"),
		"the key is not checked":  tradingsim.Fail(503, "idempotency_unavailable"),
		"429":                     tradingsim.RateLimit(20 * time.Second),
		"no price":                tradingsim.Fail(503, "no_price"),
		"a stale price":           tradingsim.Fail(409, "STALE_PRICE"),
		"a page":                  tradingsim.GatewayError(502),
		"a page after the work":   tradingsim.GatewayErrorAfter(502),
		"a cap":                   tradingsim.Fail(400, "PER_POSITION_CAP"),
		"a refusal that is lost":  tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse()),
		"a code unheard of":       tradingsim.Fail(422, "new_check"),
		"a 500 of a code unheard": tradingsim.FailAfter(500, "database_error"),
	} {
		for _, keyed := range []bool{false, true} {
			for _, deaf := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, keyed %t, deaf %t", name, keyed, deaf), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := newRig(t, []tradingsim.Option{tradingsim.WithLag(3 * time.Second)}, func(c *Config) {
							c.Options = append(c.Options, trading.WithExclusiveAccounts("acc_1"))
						})
						r.obey(pages, fault, keyed, deaf)
					})
				})
			}
		}
	}
}

// obey has the bot decide three times. A deaf one gives up on each first answer.
func (r *rig) obey(pages obedient.HTTPPages, fault tradingsim.Fault, keyed, gives bool) {
	began, bound := time.Now(), time.Now().Add(3*time.Hour)
	asked := 0
	bot := &obedient.HTTPBot{
		HTTPPages: pages, Account: "acc_1", Symbol: "BTC", Keyed: keyed, Name: "decision", Note: r.t.Logf, Alert: func(obedient.Answer) {},
		Sleep: func(d time.Duration) bool {
			time.Sleep(d)
			return time.Now().Before(bound)
		},
	}
	bot.Send = func(method, path, body, key string) obedient.Answer {
		var header []string
		if key != "" {
			header = []string{"Idempotency-Key", key}
		}
		asked++
		if method == "POST" && gives && asked%3 == 1 { // it leaves, and hears nothing
			p := &deaf{}
			timer := time.AfterFunc(1500*time.Millisecond, func() { p.away.Store(true) })
			defer timer.Stop()
			go r.by(p, r.live, method+" "+path, body, header...)
			time.Sleep(1500 * time.Millisecond)
			return obedient.Answer{}
		}
		a := r.do(r.live, method+" "+path, body, header...)
		return obedient.Answer{Status: a.status, Header: a.header, Body: []byte(a.body)}
	}
	for i, want := range []string{"0.05", "0.02", "-0.04"} {
		time.Sleep(time.Minute)
		if i > 0 {
			r.sim.Fault(string(trading.OpOrder), fault, fault)
		}
		end := bot.Pursue(trading.Dec(want))
		time.Sleep(20 * time.Minute)
		r.sim.ClearFaults()
		ran := len(r.sim.Ledger())
		if end == obedient.Dropped {
			require.Equal(r.t, i, ran, "in the ledger")
			return
		}
		require.Equal(r.t, obedient.Held, end, "after %s", time.Since(began))
		require.Equal(r.t, i+1, ran, "in the ledger")
	}
	assert.Less(r.t, asked, 120, "requests of the bot in two hours")
}

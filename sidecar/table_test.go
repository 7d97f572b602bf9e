package sidecar

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// faulty breaks every call but those of some operations.
func (r *rig) faulty(fault tradingsim.Fault, but ...string) {
	r.sim.FaultEach(func(operation string) tradingsim.Fault {
		for _, o := range but {
			if o == operation {
				return nil
			}
		}
		return fault
	})
}

// What the sidecar answers by itself, row by row of the table in docs/sidecar-reference.md.
func TestWhatItAnswersByItself(t *testing.T) {
	key := []string{"Idempotency-Key", "one"}
	for name, c := range map[string]struct {
		before  func(*rig)
		body    string
		header  []string
		status  int
		code    string
		outcome string
		advice  trading.Advice
		later   bool // it has Retry-After
	}{
		"in doubt, with a key":    {func(r *rig) { r.faulty(tradingsim.DropResponse(), "GET /health") }, buy, key, 409, "idempotency_in_flight", "unknown", trading.AdviseSameKey, true},
		"in doubt, without one":   {func(r *rig) { r.faulty(tradingsim.DropResponse(), "GET /health") }, buy, nil, 409, "idempotency_result_unknown", "unknown", trading.AdviseNewKey, false},
		"not reached":             {func(r *rig) { r.faulty(tradingsim.RefuseConnection(), "GET /health") }, buy, key, 503, "idempotency_unavailable", "not-applied", trading.AdviseSameKey, true},
		"beside a pending write":  {func(r *rig) { r.pend() }, buyMore, key, 503, "idempotency_unavailable", "not-applied", trading.AdviseNewKey, true},
		"stopping":                {func(r *rig) { r.server.stopping.Store(true) }, buy, nil, 503, "idempotency_unavailable", "not-applied", trading.AdviseSameKey, true},
		"not safe to trade":       {func(r *rig) { r.sim.SetHealth("degraded", "stale") }, buy, nil, 403, "market_paused", "not-applied", trading.AdviseNewKey, false},
		"health cannot be read":   {func(r *rig) { r.faulty(tradingsim.DropRequest()) }, buy, nil, 403, "market_paused", "not-applied", trading.AdviseNewKey, false},
		"halted":                  {func(r *rig) { r.server.client.Halt("news") }, buy, nil, 403, "forbidden", "not-applied", trading.AdviseNever, false},
		"the real key is refused": {func(r *rig) { r.sim.RevokeKey(r.sim.LiveKey()) }, buy, nil, 503, "unavailable", "not-applied", trading.AdviseNewKey, true},
		"access is withdrawn":     {func(r *rig) { r.sim.SetAccess(false) }, buy, nil, 503, "unavailable", "not-applied", trading.AdviseNewKey, true},
		"the service's limit":     {func(r *rig) { r.sim.Fault("POST /orders", tradingsim.RateLimit(time.Minute)) }, buy, nil, 429, "rate_limited", "not-applied", trading.AdviseWait, true},
		"another body":            {func(r *rig) { r.do(r.live, "POST /orders", buyMore, key...) }, buy, key, 422, "idempotency_key_reused", "not-applied", trading.AdviseNever, false},
		"a page of a gateway":     {func(r *rig) { r.faulty(tradingsim.GatewayError(502), "GET /health") }, buy, key, 409, "idempotency_in_flight", "unknown", trading.AdviseSameKey, true},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				c.before(r)
				a := r.do(r.live, "POST /orders", c.body, c.header...)
				assert.Equal(r.t, []any{c.status, c.code, c.outcome}, []any{a.status, a.code, a.outcome}, a.body)
				if a.header.Get(headerOwn) != "" {
					assert.Contains(r.t, a.body, `"advice":"`+c.advice.String()+`"`)
				}
				assert.Equal(r.t, c.later, a.header.Get("Retry-After") != "")
				assert.NotEmpty(r.t, a.write)
				assert.NotContains(r.t, a.body, r.sim.LiveKey())
			})
		})
	}
}

// pend leaves a write of the sidecar's own operator, which no bot has asked for, in doubt.
func (r *rig) pend() {
	r.faulty(tradingsim.DropResponse(), "GET /health")
	_, err := r.server.client.Live.Account("acc_1").PlaceOrder(r.t.Context(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithResolveTimeout(0), trading.WithSendTTL(0))
	require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
}

// A read that has no answer of the service's says so, and is not taken for one.
func TestAReadWithoutAnAnswer(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.faulty(tradingsim.GatewayError(502))
		a := r.do(r.live, "GET /accounts", "")
		assert.Equal(r.t, []any{503, "unavailable", "1"}, []any{a.status, a.code, a.header.Get(headerOwn)})
		assert.NotEmpty(r.t, a.header.Get("Retry-After"))
		r.sim.FaultEach(nil)
		r.sim.Fault("GET /accounts", tradingsim.Raw(200, nil, `{"accounts":"none"}`))
		unreadable := r.do(r.live, "GET /accounts", "")
		assert.Equal(r.t, []any{503, "unavailable", "1"}, []any{unreadable.status, unreadable.code, unreadable.header.Get(headerOwn)})
		r.sim.SetHealth("degraded", "stale")
		health := r.do("", "GET /health", "")
		assert.Equal(r.t, 503, health.status)
		assert.Contains(r.t, health.body, "degraded")
		assert.Empty(r.t, health.header.Get(headerOwn))
	})
}

// An alert says that the real key is refused, and does not say the key.
func TestARefusedRealKeyIsAlerted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var alerts []string
		r := newRig(t, nil, func(c *Config) { c.Alert = func(text string) { alerts = append(alerts, text) } })
		key := r.sim.LiveKey()
		r.sim.RevokeKey(key)
		assert.Equal(t, 503, r.do(r.live, "GET /accounts", "").status)
		assert.Equal(t, 503, r.do(r.live, "GET /accounts", "").status)
		require.Len(t, alerts, 1, "once, however often it is refused")
		assert.Contains(t, alerts[0], "real API key of live")
		assert.NotContains(t, alerts[0], key)
	})
}

// broken is a journal whose disk is full.
type broken struct {
	journal.Store
	full bool
}

func (b *broken) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if b.full {
		return errors.New("no space left")
	}
	return b.Store.Append(ctx, durable, records...)
}

// While the journal cannot be written entries are refused, and exits are carried out.
func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &broken{Store: journal.NewMemory()}
		r := newRig(t, nil, func(c *Config) { c.Journal = disk })
		require.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
		disk.full = true
		a := r.do(r.live, "POST /orders", buy)
		assert.Equal(t, []any{503, "idempotency_unavailable", "not-applied"}, []any{a.status, a.code, a.outcome}, a.body)
		assert.Equal(t, 200, r.do(r.live, "POST /positions/close", closeBTC).status)
		assert.Len(t, r.sim.Ledger(), 2)
	})
}

// Nobody is let in by keys that cannot be read, and a person hears of it.
func TestKeysThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := new(alerts)
		r := newRig(t, nil, func(c *Config) { c.Alert = said.say })
		require.NoError(t, os.WriteFile(filepath.Join(r.config.Dir, "keys"), []byte("\x00"), 0o600))
		a := r.do(r.live, "POST /orders", buy)
		assert.Equal(t, []any{503, "unavailable", "not-applied"}, []any{a.status, a.code, a.outcome}, a.body)
		assert.NotEmpty(t, a.header.Get("Retry-After"))
		assert.NotEmpty(t, said.with("the local keys cannot be read"))
		assert.Empty(t, r.sim.Ledger())
	})
}

// What nobody can find out of an earlier run is said to a person.
func TestWhatIsLeftOfAnEarlierRunIsAlerted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := new(alerts)
		r := newRig(t, nil, func(c *Config) { c.Alert = said.say })
		r.sim.Fault("POST /sandbox/orders", tradingsim.Hang(20*time.Second))
		over := make(chan answer, 1)
		go func() { over <- r.do(r.paper, "POST /sandbox/orders", buyPaper) }()
		time.Sleep(time.Second)
		r.restart()
		r.server.background()
		<-over
		time.Sleep(time.Hour)
		left := said.with("writes of earlier runs are not resolved")
		require.Len(t, left, 1, "%q", said.with(""))
		assert.Contains(t, left[0], "POST /sandbox/orders BTC")
	})
}

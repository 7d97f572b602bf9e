package trading

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/transport"
)

// The requests by which the driver asks about a write. Each is sent once.

// probePatience bounds a probe, which neither a context nor Close cuts.
const probePatience = 5 * time.Second

// sendFence sends a fence: the cancel of an order that cannot exist, or, where the
// service keeps its keys by route, the write itself for a market that cannot.
func (d *driver) sendFence(w *write, ownRoute bool) heard {
	if !ownRoute {
		return d.sendOnce(d.core.closing, &endpointCancelOrder, w.intent.Account, w.intent.Key, impossibleCancel(&w.intent))
	}
	body, err := impossibleBody(&w.intent)
	if err != nil {
		return heard{class: ledger.Foreign, err: err}
	}
	return d.sendOnce(d.core.closing, endpointOf(w.intent.Operation), w.intent.Account, w.intent.Key, body)
}

// calibrate finds out whether the service has one namespace of keys: under a fresh
// key it cancels a run and then an order that cannot exist. The second is another
// request under the same key, which one namespace refuses with 422.
func (d *driver) calibrate(account AccountID) {
	key := NewKey()
	run := api.CancelRunRequest{AccountID: string(account), RunID: impossibleID(key)}
	first := d.sendOnce(d.core.closing, &endpointCancelRun, account, key, run.AppendWire(newBody()))
	if first.refusal == nil || first.refusal.Code != CodeRunNotFound {
		return
	}
	order := api.CancelOrderRequest{AccountID: string(account), OrderID: impossibleID(key)}
	second := d.sendOnce(d.core.closing, &endpointCancelOrder, account, key, order.AppendWire(newBody()))
	switch {
	case second.refusal == nil:
	case second.refusal.Code == CodeIdempotencyKeyReused:
		d.namespace = namespaceOne
	case second.refusal.Code == CodeOrderNotFound:
		d.namespace = namespaceByRoute
	}
}

// sendProbe sends the write's own bytes under its own key, over a connection of its
// own.
func (d *driver) sendProbe(w *write) heard {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(d.core.closing), probePatience, transport.ErrTimeout)
	defer cancel()
	return d.exchange(ctx, d.core.transport.SendAlone, endpointOf(w.intent.Operation), w.intent.Account, w.intent.Key, w.intent.Body)
}

func (d *driver) sendOnce(ctx context.Context, e *endpoint, account AccountID, key Key, body []byte) heard {
	ctx, cancel := context.WithTimeoutCause(ctx, defaultAttemptTimeout, transport.ErrTimeout)
	defer cancel()
	return d.exchange(ctx, d.core.transport.Send, e, account, key, body)
}

// exchange sends one request of the driver's, in its share of the rate limits.
func (d *driver) exchange(ctx context.Context, send func(context.Context, *transport.Request) transport.Answer,
	e *endpoint, account AccountID, key Key, body []byte,
) heard {
	if e == nil {
		return heard{class: ledger.Foreign, err: fmt.Errorf("an operation that this version does not know")}
	}
	c := caller{d.core, d.core.recoveryOptions()}.begin(ctx, e, nil)
	c.account, c.body, c.askKey = account, body, key
	defer c.returnSlot(false)
	for _, stage := range [...]func(*call) error{(*call).takeKey, (*call).waitForLimit} {
		if err := stage(c); err != nil {
			return heard{class: ledger.Unsent, err: err}
		}
	}
	c.hookStart()
	c.sends++
	c.lastCtx = c.hookSend(ctx)
	c.last = d.core.exchangeOver(c.lastCtx, send, &c.request, c.apiKey, key, c.question())
	c.returnSlot(c.last.attempt.Written)
	if said := c.last.said(); said.Advice == ledger.WaitFirst && !c.last.attempt.replayed() {
		c.closeLimit(said.RetryAfter)
	}
	c.noteKey()
	c.outcome = OutcomeOf(c.last.err)
	c.hookSent()
	c.hookDone(c.hookCall(), Done{Err: c.last.err, Outcome: c.outcome, Attempts: 1})
	return c.last
}

func impossibleCancel(in *Intent) []byte {
	r := api.CancelOrderRequest{AccountID: string(in.Account), OrderID: impossibleID(in.Key)}
	return r.AppendWire(newBody())
}

// impossibleBody is the write for a market, or a run, that cannot exist.
func impossibleBody(in *Intent) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.Body, &members); err != nil {
		return nil, fmt.Errorf("trading: fence: %w", err)
	}
	name := "symbol"
	if _, has := members[name]; !has {
		name = "runId"
	}
	id, err := json.Marshal(impossibleID(in.Key))
	if err != nil {
		return nil, fmt.Errorf("trading: fence: %w", err)
	}
	members[name] = id
	return json.Marshal(members) // in the order of names: the same bytes each time
}

// impossibleID is an id that no service has given out, the same for every fence of a
// key, so that one answers for another.
func impossibleID(key Key) string {
	digest := sha256.Sum256([]byte(key))
	return "fence-" + base64.RawURLEncoding.EncodeToString(digest[:18])
}

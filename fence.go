package trading

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
)

// A fence spends an intent's key on a request that does nothing: the cancel of an
// order that cannot exist. Once the service has answered it, the intent's own
// bytes can never run under that key, however late a copy of them arrives. All
// fences of a key are the same request, so that one answers for another.

// fenceFinding is what a fence found.
type fenceFinding uint8

const (
	// fenceProvesNothing: the key may still run the intent.
	fenceProvesNothing fenceFinding = iota
	// fenceHolds: nothing can run under the key any more. The intent may have run
	// before, and ended in a 5xx that was not stored.
	fenceHolds
	// fenceReceived: the service knows the key by another request, so it received
	// the intent. What became of it the fence does not say.
	fenceReceived
)

const (
	// fencePatience bounds how long a fence is tried: a claim on a key is released
	// after 15 minutes.
	fencePatience = 16 * time.Minute
	fenceMinWait  = time.Second
	fenceMaxWait  = 30 * time.Second
)

// fence sends fences until one proves something, the patience is at its end, or
// the context. The error says why nothing was proven.
func (r *resolver) fence(ctx context.Context, in Intent) (fenceFinding, error) {
	in.Fenced = true
	if err := r.core.beginIntent(ctx, r.core.unsettled.known(in.ID), &in); err != nil {
		return fenceProvesNothing, &GuardError{Kind: ErrJournal, Reason: "the fence is noted before it is sent", Err: err}
	}
	var last error
	wait := fenceMinWait
	for began := time.Now(); time.Since(began) < fencePatience; {
		answer, err := r.sendFence(ctx, in)
		if finding := judgeFence(answer, err); finding != fenceProvesNothing {
			return finding, nil
		}
		last = err
		if paused := r.pause(ctx, wait); paused != nil {
			return fenceProvesNothing, errors.Join(last, paused)
		}
		wait = min(2*wait, fenceMaxWait)
	}
	return fenceProvesNothing, last
}

// sendFence sends one fence.
func (r *resolver) sendFence(ctx context.Context, in Intent) (Meta, error) {
	var meta Meta
	account := &Account{id: in.Account, caller: caller{r.core, r.opts}}
	call := account.begin(ctx, &endpointCancelOrder, []CallOption{WithIdempotencyKey(in.Key), WithLifetime(0), ResponseInto(&meta)})
	request := api.CancelOrderRequest{AccountID: string(in.Account), OrderID: impossibleOrder(in.Key)}
	call.body = request.AppendWire(newBody())
	_, err := call.acknowledge()
	return meta, err
}

// judgeFence reads a fence's answer.
func judgeFence(meta Meta, err error) fenceFinding {
	if err == nil {
		return fenceHolds // the key is spent on the fence, whatever it cancelled
	}
	refusal := (*Error)(nil)
	if !errors.As(err, &refusal) || refusal.Local {
		return fenceProvesNothing
	}
	switch refusal.Code {
	case CodeAccountNotFound:
		return fenceProvesNothing // perhaps another holder's namespace of keys
	case CodeOrderNotFound:
		if refusal.Status == http.StatusNotFound {
			return fenceHolds
		}
	case CodeIdempotencyKeyReused:
		return fenceReceived
	case CodeIdempotencyResultUnknown:
		return fenceHolds // the service will not run that key again
	}
	// Any other refusal may have been given in front of the key, which then is
	// still free. Repeated, it is stored under the key.
	if meta.Replayed && refusal.Status < 500 {
		return fenceHolds
	}
	return fenceProvesNothing
}

// impossibleOrder is an order id that no service has given out, the same for
// every fence of a key.
func impossibleOrder(key Key) string {
	digest := sha256.Sum256([]byte(key))
	return "fence-" + base64.RawURLEncoding.EncodeToString(digest[:18])
}

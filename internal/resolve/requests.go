package resolve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// The requests by which the driver asks about a write. Each is sent once.

// Request is one of them.
type Request struct {
	Operation spec.Operation
	Account   pending.AccountID
	Key       pending.Key
	Body      []byte
	Alone     bool // on a connection of its own
	Entry     bool // it can place an entry, which a halt keeps from leaving
}

// The operations that the driver sends by itself, and the refusals that it knows.
const (
	cancelOrder = "POST /orders/cancel"
	cancelRun   = "POST /runs/cancel"
	readAccount = "GET /accounts/{accountId}"
	readPaper   = "GET /sandbox/account"

	codeOrderNotFound = "order_not_found"
	codeRunNotFound   = "run_not_found"
	codeKeyReused     = "idempotency_key_reused"
)

// fenceOf is the fence of a write: the cancel of an order that cannot exist, or, where
// the service keeps its keys by route, the write itself for a market that cannot.
func fenceOf(in *pending.Intent, key pending.Key, ownRoute bool) (Request, error) {
	if !ownRoute {
		cancel := api.CancelOrderRequest{AccountID: string(in.Account), OrderID: impossibleID(key)}
		return Request{Operation: cancelOrder, Account: in.Account, Key: key, Body: cancel.AppendWire(nil)}, nil
	}
	body, err := impossibleBody(in, key)
	return Request{Operation: in.Operation, Account: in.Account, Key: key, Body: body}, err
}

// probeOf is the write's own bytes under its own key.
func (d *Driver) probeOf(w *OpenWrite) Request {
	in := &w.Intent
	return Request{Operation: in.Operation, Account: in.Account, Key: w.Try().Key, Body: in.Body, Alone: true, Entry: in.Entry && !d.isExiting(w)}
}

// calibrationOf are requests under one fresh key: the cancels of an order and of a run that
// cannot exist, the same again, and those of others.
func calibrationOf(account pending.AccountID) []Request {
	key := pending.Key(uuid.NewString())
	pair := func(id string) []Request {
		order := api.CancelOrderRequest{AccountID: string(account), OrderID: id}
		run := api.CancelRunRequest{AccountID: string(account), RunID: id}
		return []Request{
			{Operation: cancelOrder, Account: account, Key: key, Body: order.AppendWire(nil)},
			{Operation: cancelRun, Account: account, Key: key, Body: run.AppendWire(nil)},
		}
	}
	first := pair(impossibleID(key))
	return slices.Concat(first, first, pair(impossibleID(key+"'")))
}

// requestPatience bounds each of them. It alone cuts a probe: neither a context nor Close
// does.
const requestPatience = 5 * time.Second

// shortly is the gate of a probe, which is allowed for as long as the ledger says.
type shortly struct {
	from time.Time
	left time.Duration
}

var errTooLate = errors.New("the question was held up for too long to be asked")

// MayLeave implements the gate of a request.
func (s shortly) MayLeave() error {
	if Elapsed(s.from) > s.left {
		return errTooLate
	}
	return nil
}

// impossibleBody is the write for a market, or a run, that cannot exist.
func impossibleBody(in *pending.Intent, key pending.Key) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.Body, &members); err != nil {
		return nil, fmt.Errorf("trading: fence: %w", err)
	}
	name := "symbol"
	if _, has := members[name]; !has {
		name = "runId"
	}
	id, err := json.Marshal(impossibleID(key))
	if err != nil {
		return nil, fmt.Errorf("trading: fence: %w", err)
	}
	members[name] = id
	return json.Marshal(members) // in the order of names: the same bytes each time
}

// impossibleID is an id that no service has given out, the same for every fence of a
// key, so that one answers for another.
func impossibleID(key pending.Key) string {
	digest := sha256.Sum256([]byte(key))
	return "fence-" + base64.RawURLEncoding.EncodeToString(digest[:18])
}

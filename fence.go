package trading

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
)

// The requests by which the driver asks about a write. Each is sent once.

// driverRequest is one of them.
type driverRequest struct {
	endpoint *endpoint // nil for an operation that this version does not know
	account  AccountID
	key      Key
	body     []byte
	alone    bool // on a connection of its own
}

// fenceOf is the fence of a write: the cancel of an order that cannot exist, or, where
// the service keeps its keys by route, the write itself for a market that cannot.
func fenceOf(in *Intent, ownRoute bool) (driverRequest, error) {
	r := driverRequest{endpoint: endpointOf(OpCancelOrder), account: in.Account, key: in.Key}
	if !ownRoute {
		r.body = impossibleCancel(in)
		return r, nil
	}
	body, err := impossibleBody(in)
	r.endpoint, r.body = endpointOf(in.Operation), body
	return r, err
}

// calibrationOf are two requests under one key: the cancels of a run and of an order that
// cannot exist.
func calibrationOf(account AccountID, key Key) (run, order driverRequest) {
	cancelRun := api.CancelRunRequest{AccountID: string(account), RunID: impossibleID(key)}
	cancelOrder := api.CancelOrderRequest{AccountID: string(account), OrderID: impossibleID(key)}
	return driverRequest{endpoint: endpointOf(OpCancelRun), account: account, key: key, body: cancelRun.AppendWire(newBody())},
		driverRequest{endpoint: endpointOf(OpCancelOrder), account: account, key: key, body: cancelOrder.AppendWire(newBody())}
}

// probePatience bounds a probe, which neither a context nor Close cuts.
const probePatience = 5 * time.Second

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

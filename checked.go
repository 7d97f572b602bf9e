package trading

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// checked is an answer to a read that also has to be the one that was asked for: a
// cache or a gateway can return the answer to another request.
type checked struct {
	wire.Value
	check func() error
}

// DecodeWire implements [wire.Value].
func (v checked) DecodeWire(d *wire.Decoder) error {
	if err := v.Value.DecodeWire(d); err != nil {
		return err
	}
	return v.check()
}

// sameName requires that a member names what was asked for.
func sameName(member, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %q, and %q was asked for", member, got, want)
}

// sameOptName is [sameName] for a member that may be missing.
func sameOptName(member string, got wire.Opt[string], want string) error {
	text, ok := got.Get()
	if !ok {
		return nil
	}
	return sameName(member, text, want)
}

// checkDescription requires the members that every OpenAPI description has.
func checkDescription(members map[string]json.RawMessage) error {
	if _, ok := Extra(members).Text("openapi"); !ok {
		return errors.New("openapi must be a string")
	}
	if paths := members["paths"]; len(paths) == 0 || paths[0] != '{' {
		return errors.New("paths must be an object")
	}
	return nil
}

// healthAnswer reads a health assessment, and requires that its body and its status
// agree: the service answers 200 only when it is safe to trade.
func (c *call) healthAnswer(answer *api.Health) checked {
	return checked{answer, func() error {
		healthy := answer.OK && HealthStatus(answer.Status) == Healthy
		if healthy && c.last.status == http.StatusServiceUnavailable {
			return errors.New("status healthy comes with HTTP status 503, which means not safe to trade")
		}
		return nil
	}}
}

package trading_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// gatewayAnswers look like the service's refusals, and come after the order ran.
var gatewayAnswers = map[string]tradingsim.Fault{
	"408":                                tradingsim.GatewayJSONAfter(408, "request_timeout"),
	"499":                                tradingsim.GatewayJSONAfter(499, "client_closed_request"),
	"200":                                tradingsim.GatewayJSONAfter(200, "request_timeout"),
	"200 with a documented code":         tradingsim.GatewayJSONAfter(200, "bad_size"),
	"418 with a new code":                tradingsim.GatewayJSONAfter(418, "TEAPOT"),
	"404 with the code of a 400":         tradingsim.GatewayJSONAfter(404, "bad_size"),
	"400 with the code of a read":        tradingsim.GatewayJSONAfter(400, "not_found"),
	"400 with the code of a 403":         tradingsim.GatewayJSONAfter(400, "account_locked"),
	"502 with the code of a 400":         tradingsim.GatewayJSONAfter(502, "bad_size"),
	"503 with a new code":                tradingsim.GatewayJSONAfter(503, "upstream_timeout"),
	"400 with a new code and Via":        saysAfter(400, "Via", `{"error":"TEAPOT","message":"no"}`),
	"403 with a new code and CF-Ray":     saysAfter(403, "Cf-Ray", `{"error":"TEAPOT","message":"no"}`),
	"success beside a documented code":   saysAfter(400, "", `{"success":true,"error":"bad_size","message":"no"}`),
	"ok beside a documented code":        saysAfter(400, "", `{"ok":true,"error":"bad_size","message":"no"}`),
	"200, and success beside a new code": saysAfter(200, "", `{"success":true,"error":"TEAPOT","message":"no"}`),
}

// saysAfter answers with JSON after the execution, with a header that a gateway adds.
func saysAfter(status int, header, body string) tradingsim.Fault {
	h := http.Header{"Content-Type": {"application/json"}}
	if header != "" {
		h.Set(header, "1.1 proxy")
	}
	return tradingsim.RawAfter(status, h, body)
}

// A gateway that forwards an order and then answers for itself is never taken for the
// service's refusal: the order ran.
func TestTrap_T24_AGatewaysOwnJSONIsNoRefusal(t *testing.T) {
	for name, fault := range gatewayAnswers {
		t.Run("sandbox "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.sim.Fault("POST /sandbox/orders", fault)
				err := r.refused(buy("0.05"))
				assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				assert.Equal(t, "edge", kindOf(err))
				assert.Len(t, r.fills(), 1)
				assert.Equal(t, 1, r.sent(trading.OpSandboxOrder))
			})
		})
		t.Run("live "+name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.sim.Fault("POST /orders", fault)
				result, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
				require.Nil(r.t, result)
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				resolution, err := r.resolve(err)
				require.NoError(r.t, err)
				assert.Equal(r.t, trading.Applied, resolution.Outcome)
				assert.Equal(r.t, 1, r.ran(trading.OpOrder))
			})
		})
	}
}

// Beside that the service's own refusals are told as what they are.
func TestTrap_T24_TheServicesRefusalsStay(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		code   trading.Code
	}{
		"of this operation":             {400, trading.CodeBadSize},
		"of every operation with a key": {403, trading.CodeWrongEnvironment},
		"a new code":                    {400, "TEAPOT"},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r.sim.Fault("POST /orders", tradingsim.Fail(row.status, string(row.code)))
				r.sim.Fault("POST /sandbox/orders", tradingsim.Fail(row.status, string(row.code)))
				_, live := r.account().PlaceOrder(r.t.Context(), buy("0.05"))
				for _, err := range []error{live, r.refused(buy("0.05"))} {
					require.ErrorIs(r.t, err, row.code)
					assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
				}
				assert.Empty(r.t, r.fills())
			})
		})
	}
}

package client

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/spec"
)

// notOperations take a context and stand for no operation of their own: one for all, or they find
// out what became of a write by several, or ask the client itself.
var notOperations = []string{"Client.RateLimitUsage", "Client.Recover", "Client.Acknowledge", "Client.DeclareExclusive", "Client.Pending", "Account.Pending", "Sandbox.Pending", "Client.Resolve", "Client.ResolveID",
	"Client.ForgetClientOrderID", "Client.ForgetKey", "Client.Do", "Account.Resolve", "Sandbox.Resolve"}

// methods calls each method that stands for an operation.
var methods = map[string]func(context.Context, *trading.Client) error{
	"Client.Health":  func(ctx context.Context, c *trading.Client) error { _, err := c.Health(ctx); return err },
	"Client.OpenAPI": func(ctx context.Context, c *trading.Client) error { _, err := c.OpenAPI(ctx); return err },
	"Client.Me": func(ctx context.Context, c *trading.Client) error {
		_, err := c.Me(ctx, trading.EnvSandbox)
		return err
	},
	"MarketData.Markets": func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Markets(ctx); return err },
	"MarketData.Price":   func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Price(ctx, "BTC"); return err },
	"MarketData.Prices":  func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Prices(ctx); return err },
	"Sandbox.State":      func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.State(ctx); return err },
	"Sandbox.Positions":  func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Positions(ctx); return err },
	"Sandbox.Trades":     func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Trades(ctx); return err },
	"Sandbox.PlaceOrder": func(ctx context.Context, c *trading.Client) error {
		_, err := c.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
		return err
	},
	"Sandbox.ClosePosition": func(ctx context.Context, c *trading.Client) error {
		_, err := c.Sandbox.ClosePosition(ctx, "BTC", trading.All)
		return err
	},
	"Sandbox.SetTPSL": func(ctx context.Context, c *trading.Client) error {
		_, err := c.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.Clear})
		return err
	},
	"Sandbox.Reset":        func(ctx context.Context, c *trading.Client) error { _, err := c.Sandbox.Reset(ctx); return err },
	"Live.Accounts":        func(ctx context.Context, c *trading.Client) error { _, err := c.Live.Accounts(ctx); return err },
	"Account.State":        onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.State(ctx); return err }),
	"Account.Positions":    onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.Positions(ctx); return err }),
	"Account.Trades":       onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.Trades(ctx); return err }),
	"Account.OpenOrders":   onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.OpenOrders(ctx); return err }),
	"Account.FinishedRuns": onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.FinishedRuns(ctx); return err }),
	"Account.Funding":      onAccount(func(ctx context.Context, a *trading.Account) error { _, err := a.Funding(ctx); return err }),
	"Account.PlaceOrder": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceOrder(ctx, rig.Buy("1"))
		return err
	}),
	"Account.PlaceLimit": onAccount(func(ctx context.Context, a *trading.Account) error {
		o := rig.Buy("1")
		o.LimitPrice = trading.At(trading.Dec("60000"))
		_, err := a.PlaceLimit(ctx, o)
		return err
	}),
	"Account.CancelOrder": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.CancelOrder(ctx, "o_1")
		return err
	}),
	"Account.ClosePosition": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.ClosePosition(ctx, "BTC", trading.All)
		return err
	}),
	"Account.SetTPSL": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.Clear, TakeProfit: trading.Clear})
		return err
	}),
	"Account.PlaceConditional": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceConditional(ctx, rig.Buy("1"), trading.Conditional{Trigger: trading.Dec("65000")})
		return err
	}),
	"Account.PlaceLadder": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceLadder(ctx, rig.Buy("1"), trading.Ladder{From: trading.Dec("60000"), To: trading.Dec("61000"), Rungs: 4})
		return err
	}),
	"Account.PlaceTWAP": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceTWAP(ctx, rig.Buy("1"), trading.TWAP{Duration: time.Hour})
		return err
	}),
	"Account.PlaceChase": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceChase(ctx, rig.Buy("1"), trading.Chase{})
		return err
	}),
	"Account.PlaceChaseTWAP": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceChaseTWAP(ctx, rig.Buy("1"), trading.ChaseTWAP{Duration: time.Hour})
		return err
	}),
	"Account.PlaceSwarm": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.PlaceSwarm(ctx, rig.Buy("1"), trading.Swarm{Orders: 4})
		return err
	}),
	"Account.EditRun": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.EditRun(ctx, "r_1", trading.RunEdit{TotalSize: trading.Dec("2")})
		return err
	}),
	"Account.CancelRun": onAccount(func(ctx context.Context, a *trading.Account) error {
		_, err := a.CancelRun(ctx, "r_1")
		return err
	}),
}

// onAccount calls a method of a live account.
func onAccount(call func(context.Context, *trading.Account) error) func(context.Context, *trading.Client) error {
	return func(ctx context.Context, c *trading.Client) error { return call(ctx, c.Live.Account("acc_1")) }
}

// twoMethods is the one operation with two: a query decides which it is.
const twoMethods = "GET /sandbox/prices"

// recorder notes which requests go out, and refuses them all.
type recorder struct{ sent []string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent = append(r.sent, req.Method+" "+strings.TrimPrefix(req.URL.Path, "/v1"))
	return &http.Response{StatusCode: 400, Header: http.Header{}, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(`{"error":"bad_request","message":"recorded"}`))}, nil
}

// Each operation of the contract has exactly one method, and each method that
// sends is one operation. T104: so the sandbox has none that only a live account
// has. T105: the operations are those of the pinned description.
func TestEveryOperationHasOneMethod(t *testing.T) {
	byMethod := map[string][]string{} // operation to methods
	for name, call := range methods {
		var recorder recorder
		client, err := trading.New("https://api.example.test/v1",
			trading.WithSandboxKey("pk_test_x"), trading.WithLiveKey("pk_live_x"),
			trading.WithTransport(&recorder), trading.WithHealthGate(trading.HealthGate{Off: true}))
		require.NoError(t, err)
		require.ErrorIs(t, call(t.Context(), client), trading.CodeBadRequest, name)
		require.Len(t, recorder.sent, 1, name)
		operation := templateOf(recorder.sent[0])
		byMethod[operation] = append(byMethod[operation], name)
	}

	known := map[string]bool{}
	for _, op := range spec.Operations() {
		known[op.Method+" "+op.Path] = true
	}
	for operation := range known {
		names, want := byMethod[operation], 1
		if operation == twoMethods {
			want = 2
		}
		assert.Len(t, names, want, "%s: %v", operation, names)
	}
	for operation, names := range byMethod {
		assert.True(t, known[operation], "%v sends %s, which the contract does not have", names, operation)
	}

	for _, name := range sendingMethods(reflect.TypeFor[*trading.Client](), map[reflect.Type]bool{}) {
		if !slices.Contains(notOperations, name) {
			assert.Contains(t, methods, name, "it takes a context: give it a row")
		}
	}
}

// templateOf finds the contract's path for a path with values in it.
func templateOf(sent string) string {
	for _, op := range spec.Operations() {
		template := op.Method + " " + op.Path
		want, got := strings.Split(template, "/"), strings.Split(sent, "/")
		if slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") }) {
			return template
		}
	}
	return sent
}

// sendingMethods names the methods that take a context: of a handle, and of the
// handles that its fields and methods lead to.
func sendingMethods(handle reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if handle.Kind() == reflect.Struct {
		handle = reflect.PointerTo(handle)
	}
	if handle.Kind() != reflect.Pointer || handle.Elem().PkgPath() != rootPath || seen[handle] {
		return nil
	}
	seen[handle] = true
	inherited := map[string]bool{} // from what is embedded
	if of := handle.Elem(); of.Kind() == reflect.Struct {
		for i := range of.NumField() {
			field := of.Field(i)
			if field.IsExported() {
				names = append(names, sendingMethods(field.Type, seen)...)
			}
			for m := range field.Type.NumMethod() {
				inherited[field.Type.Method(m).Name] = inherited[field.Type.Method(m).Name] || field.Anonymous
			}
		}
	}
	for i := range handle.NumMethod() {
		method := handle.Method(i)
		takesContext := method.Type.NumIn() > 1 && method.Type.In(1) == reflect.TypeFor[context.Context]()
		switch {
		case inherited[method.Name]:
		case takesContext:
			names = append(names, handle.Elem().Name()+"."+method.Name)
		default:
			for out := range method.Type.NumOut() {
				names = append(names, sendingMethods(method.Type.Out(out), seen)...)
			}
		}
	}
	return names
}

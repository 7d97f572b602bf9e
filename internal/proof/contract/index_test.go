package contract

import (
	"slices"
	"testing"
)

// index is the endpoint index of the reference: method, path, kind of key. The
// per-user limits of live writes are from its table of rate limits. It leaves
// out GET /openapi.json, which serves the file and is not in it.
var index = []struct {
	id, method, path, key string
	write                 bool
	limitClass            string
	perMinute             int
}{
	{"getHealth", "GET", "/health", "none", false, "", 0},
	{"getMe", "GET", "/me", "any", false, "", 0},
	{"getSandboxAccount", "GET", "/sandbox/account", "test", false, "", 0},
	{"listSandboxPositions", "GET", "/sandbox/positions", "test", false, "", 0},
	{"listSandboxTrades", "GET", "/sandbox/trades", "test", false, "", 0},
	{"listMarkets", "GET", "/sandbox/markets", "test", false, "", 0},
	{"getPrices", "GET", "/sandbox/prices", "test", false, "", 0},
	{"placeSandboxOrder", "POST", "/sandbox/orders", "test", true, "", 0},
	{"closeSandboxPosition", "POST", "/sandbox/positions/close", "test", true, "", 0},
	{"setSandboxTPSL", "POST", "/sandbox/positions/tpsl", "test", true, "", 0},
	{"resetSandbox", "POST", "/sandbox/reset", "test", true, "", 0},
	{"listAccounts", "GET", "/accounts", "live", false, "", 0},
	{"getAccount", "GET", "/accounts/{accountId}", "live", false, "", 0},
	{"listPositions", "GET", "/positions", "live", false, "", 0},
	{"listTrades", "GET", "/trades", "live", false, "", 0},
	{"listAccountOrders", "GET", "/accounts/{accountId}/orders", "live", false, "", 0},
	{"listAccountRuns", "GET", "/accounts/{accountId}/runs", "live", false, "", 0},
	{"listFunding", "GET", "/accounts/{accountId}/funding", "live", false, "", 0},
	{"placeOrder", "POST", "/orders", "live", true, "market-orders", 150},
	{"placeLimitOrder", "POST", "/orders/limit", "live", true, "resting-limits", 150},
	{"cancelOrder", "POST", "/orders/cancel", "live", true, "cancels", 150},
	{"closePosition", "POST", "/positions/close", "live", true, "closes", 150},
	{"setTPSL", "POST", "/positions/tpsl", "live", true, "tpsl-changes", 150},
	{"placeConditional", "POST", "/orders/conditional", "live", true, "conditional", 20},
	{"placeLadder", "POST", "/orders/ladder", "live", true, "ladder", 20},
	{"placeTwap", "POST", "/orders/twap", "live", true, "twap", 20},
	{"placeChase", "POST", "/orders/chase", "live", true, "chase", 20},
	{"placeChaseTwap", "POST", "/orders/chase-twap", "live", true, "chase-twap", 20},
	{"placeSwarm", "POST", "/orders/swarm", "live", true, "swarm", 20},
	{"editRun", "POST", "/runs/edit", "live", true, "run-changes", 150},
	{"cancelRun", "POST", "/runs/cancel", "live", true, "run-changes", 150},
}

func TestIndex(t *testing.T) {
	if got := contract(t).Paths.Len(); got != 31 {
		t.Errorf("the contract has %d paths, want 31", got)
	}
	all := operations(t)
	if len(all) != len(index) {
		t.Errorf("the contract has %d operations, want %d", len(all), len(index))
	}
	for _, want := range index {
		op, ok := all[want.id]
		if !ok {
			t.Errorf("%s is missing", want.id)
			continue
		}
		if op.method != want.method || op.path != want.path {
			t.Errorf("%s is %s %s, want %s %s", want.id, op.method, op.path, want.method, want.path)
		}
		if op.key != want.key || op.write != want.write {
			t.Errorf("%s takes key %q, write %t; want %q, %t", want.id, op.key, op.write, want.key, want.write)
		}
		if op.limitClass != want.limitClass || op.limit != want.perMinute {
			t.Errorf("%s counts against %q of %d, want %q of %d", want.id, op.limitClass, op.limit, want.limitClass, want.perMinute)
		}
	}
}

func TestSecurity(t *testing.T) {
	doc := contract(t)
	key, bearer := doc.Components.SecuritySchemes["ApiKey"].Value, doc.Components.SecuritySchemes["Bearer"].Value
	if key.Type != "apiKey" || key.In != "header" || key.Name != "X-API-Key" {
		t.Errorf("ApiKey is %s in %s %s", key.Type, key.In, key.Name)
	}
	if bearer.Type != "http" || bearer.Scheme != "bearer" {
		t.Errorf("Bearer is %s %s", bearer.Type, bearer.Scheme)
	}
	if len(doc.Components.SecuritySchemes) != 2 {
		t.Errorf("%d security schemes, want 2", len(doc.Components.SecuritySchemes))
	}
	if len(doc.Security) != 2 || doc.Security[0]["ApiKey"] == nil || doc.Security[1]["Bearer"] == nil {
		t.Errorf("security is %v, want ApiKey or else Bearer", doc.Security)
	}
	for id, op := range operations(t) {
		switch {
		case op.key == "none" && (op.Security == nil || len(*op.Security) != 0):
			t.Errorf("%s must ask for no key", id)
		case op.key != "none" && op.Security != nil:
			t.Errorf("%s overrides the security of the contract", id)
		}
	}
}

func TestParameters(t *testing.T) {
	want := map[string][]string{
		"getPrices":         {"query symbol optional"},
		"listPositions":     {"query accountId required"},
		"listTrades":        {"query accountId required"},
		"getAccount":        {"path accountId required"},
		"listAccountOrders": {"path accountId required"},
		"listAccountRuns":   {"path accountId required"},
		"listFunding":       {"path accountId required"},
	}
	for id, op := range operations(t) {
		// Every live write takes the key of its intent, and nothing else does:
		// reads are never deduplicated, and the sandbox ignores the header.
		if op.liveWrite() {
			want[id] = []string{"header Idempotency-Key optional"}
		}
		var got []string
		for _, p := range op.Parameters {
			need := "optional"
			if p.Value.Required {
				need = "required"
			}
			got = append(got, p.Value.In+" "+p.Value.Name+" "+need)
		}
		if !slices.Equal(got, want[id]) {
			t.Errorf("%s takes %q, want %q", id, got, want[id])
		}
	}
}

func TestIdempotencyKeyIsVisibleASCII(t *testing.T) {
	schema := contract(t).Components.Parameters["IdempotencyKey"].Value.Schema.Value
	long := make([]byte, 256)
	for i := range long {
		long[i] = '~'
	}
	for _, key := range []string{"a", "!", "~", string(long[:255])} {
		if err := schema.VisitJSON(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", " ", "a b", "a\n", "\x7f", "é", string(long)} {
		if schema.VisitJSON(key) == nil {
			t.Errorf("%q is accepted", key)
		}
	}
}

// Only what the sandbox takes without a body has none.
func TestRequestBodies(t *testing.T) {
	want := map[string]string{
		"placeSandboxOrder":    "SandboxOrderRequest",
		"closeSandboxPosition": "SandboxCloseRequest",
		"setSandboxTPSL":       "SandboxTPSLRequest",
		"placeOrder":           "OrderRequest",
		"placeLimitOrder":      "LimitOrderRequest",
		"cancelOrder":          "CancelOrderRequest",
		"closePosition":        "ClosePositionRequest",
		"setTPSL":              "TPSLRequest",
		"placeConditional":     "ConditionalOrderRequest",
		"placeLadder":          "LadderOrderRequest",
		"placeTwap":            "TwapOrderRequest",
		"placeChase":           "ChaseOrderRequest",
		"placeChaseTwap":       "ChaseTwapOrderRequest",
		"placeSwarm":           "SwarmOrderRequest",
		"editRun":              "EditRunRequest",
		"cancelRun":            "CancelRunRequest",
	}
	for id, op := range operations(t) {
		if op.RequestBody == nil {
			if want[id] != "" {
				t.Errorf("%s takes no body, want %s", id, want[id])
			}
			continue
		}
		body := op.RequestBody.Value
		if !body.Required {
			t.Errorf("the body of %s is optional", id)
		}
		if got := schemaName(body.Content); got != want[id] {
			t.Errorf("%s takes %q, want %q", id, got, want[id])
		}
	}
}

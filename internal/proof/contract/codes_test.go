package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// environments are those whose operations can answer a code.
type environments uint8

const (
	sandbox environments = 1 << iota
	live
	both = sandbox | live
)

// codes are the tables of the reference's section on errors, in its order.
// A code with several statuses, or with others in the other environment, has
// several lines. Where the reference gives only the class 4xx, the line has
// the status that the contract assumes, and open is set.
var codes = []struct {
	code   string
	status int
	in     environments
	open   bool
}{
	// In front of every route.
	{"missing_api_key", 401, both, false},
	{"invalid_api_key", 401, both, false},
	{"revoked_api_key", 401, both, false},
	{"wrong_environment", 403, both, false},
	{"api_access_denied", 403, both, false},
	{"rate_limited", 429, both, false},
	// Sandbox, and live where its table has the same code.
	{"invalid_json", 400, both, false},
	{"bad_symbol", 400, sandbox, false},
	{"bad_side", 400, both, false},
	{"bad_size", 400, both, false},
	{"bad_limit_price", 400, both, false},
	{"bad_pct", 400, sandbox, false},
	{"BAD_MAX_SLIPPAGE", 400, both, false},
	{"account_locked", 403, both, false},
	{"asset_disabled", 403, both, false},
	{"MIN_NOTIONAL", 400, both, false},
	{"PER_POSITION_CAP", 400, both, false},
	{"TOTAL_MARGIN_CAP", 400, both, false},
	{"ASSET_NOTIONAL_CAP", 400, both, false},
	{"NO_EQUITY", 400, both, false},
	{"cap_exceeded", 400, sandbox, false},
	{"order_rejected", 400, sandbox, false},
	{"invalid_tpsl", 400, both, false},
	{"order_not_marketable", 409, sandbox, false},
	{"GUARD_BAND", 409, both, false},
	{"MAX_SLIPPAGE", 409, both, false},
	{"INSUFFICIENT_LIQUIDITY", 409, both, false},
	{"STALE_PRICE", 409, both, false},
	{"NO_PRICE", 409, both, false},
	{"fill_rejected", 409, sandbox, false},
	{"concurrent_request", 409, sandbox, false},
	{"no_price", 503, both, false},
	{"no_price", 404, sandbox, false},
	{"no_price", 400, live, false},
	{"no_position", 404, both, false},
	{"no_position", 400, live, false},
	// Live alone.
	{"missing_fields", 400, live, false},
	{"account_not_found", 404, live, false},
	{"ACCOUNT_LOCKED", 403, live, false},
	{"DAILY_DRAWDOWN_BREACH", 403, live, false},
	{"GLOBAL_DRAWDOWN_BREACH", 403, live, false},
	{"market_paused", 403, live, false},
	{"NOT_MARKETABLE", 400, live, false},
	{"PRICE_UNAVAILABLE", 503, live, false},
	{"equity_unavailable", 503, live, false},
	{"run_not_found", 404, live, false},
	{"order_not_found", 404, live, false},
	{"size_below_executed", 400, live, false},
	{"BAD_DURATION", 400, live, true},
	{"BAD_ORDER_COUNT", 400, live, true},
	{"BAD_PRICE", 400, live, true},
	{"BAD_TRIGGER", 400, live, true},
	{"TOO_MANY_RUNS", 409, live, true},
	{"CHASE_EXISTS", 409, live, true},
	// Idempotency.
	{"invalid_idempotency_key", 400, live, false},
	{"idempotency_key_reused", 422, live, false},
	{"idempotency_in_flight", 409, live, false},
	{"idempotency_result_unknown", 409, live, false},
	{"idempotency_unavailable", 503, live, false},
	// Where nothing more specific applies.
	{"bad_request", 400, both, false},
	{"unauthorized", 401, both, false},
	{"forbidden", 403, both, false},
	{"not_found", 404, both, false},
	{"conflict", 409, both, false},
	{"unprocessable", 422, both, false},
	{"internal_error", 500, both, false},
	{"unavailable", 502, both, false},
	{"unavailable", 503, both, false},
}

// allCodes are the codes of the table, each once.
func allCodes() []string {
	var names []string
	for _, c := range codes {
		if !slices.Contains(names, c.code) {
			names = append(names, c.code)
		}
	}
	return names
}

func TestCodes(t *testing.T) {
	var want, got []string
	for _, c := range codes {
		if c.in&sandbox != 0 {
			want = append(want, fmt.Sprintf("sandbox %d %s %t", c.status, c.code, c.open))
		}
		if c.in&live != 0 {
			want = append(want, fmt.Sprintf("live %d %s %t", c.status, c.code, c.open))
		}
	}
	for id, op := range operations(t) {
		seen := map[string]bool{}
		for _, c := range op.codes {
			if c.StatusRange != "" && c.StatusRange != "4XX" {
				t.Errorf("%s: statusRange of %s is %q", id, c.Code, c.StatusRange)
			}
			line := fmt.Sprintf("%d %s %t", c.Status, c.Code, c.StatusRange != "")
			if seen[line] {
				t.Errorf("%s lists %s twice", id, line)
			}
			seen[line] = true
			switch {
			case op.sandbox():
				got = append(got, "sandbox "+line)
			case op.live():
				got = append(got, "live "+line)
			}
		}
	}
	slices.Sort(got)
	same(t, "codes", slices.Compact(got), want)
	same(t, "examples", exampleNames(t), append(allCodes(), "MIN_NOTIONAL_clip"))
}

func exampleNames(t *testing.T) []string { return sorted(contract(t).Components.Examples) }

// The error schema names all codes, and stays open to more.
func TestCodesAreKnownToTheErrorSchema(t *testing.T) {
	member := contract(t).Components.Schemas["Error"].Value.Properties["error"].Value
	text, err := json.Marshal(member.Extensions["x-known-values"])
	require.NoError(t, err)
	var known []string
	require.NoError(t, json.Unmarshal(text, &known))
	same(t, "known codes", known, allCodes())
	if len(member.Enum) != 0 {
		t.Error("the code is a closed set, but further codes exist")
	}
}

// Where a code can occur, as far as the reference says: in these operations
// and in no other.
func TestWhereCodesOccur(t *testing.T) {
	sandboxWrites := []string{"placeSandboxOrder", "closeSandboxPosition", "setSandboxTPSL", "resetSandbox"}
	pro := []string{"placeConditional", "placeLadder", "placeTwap", "placeChase", "placeChaseTwap", "placeSwarm"}
	entries := append([]string{"placeOrder", "placeLimitOrder"}, pro...)
	exposing := append([]string{"editRun"}, entries...)
	for code, want := range map[string][]string{
		"order_not_marketable":   {"placeSandboxOrder"},
		"order_rejected":         {"placeSandboxOrder"},
		"cap_exceeded":           {"placeSandboxOrder"},
		"concurrent_request":     sandboxWrites,
		"bad_symbol":             {"getPrices", "placeSandboxOrder", "closeSandboxPosition", "setSandboxTPSL"},
		"bad_pct":                {"closeSandboxPosition", "setSandboxTPSL"},
		"NOT_MARKETABLE":         {"placeOrder"},
		"market_paused":          exposing,
		"ACCOUNT_LOCKED":         exposing,
		"DAILY_DRAWDOWN_BREACH":  exposing,
		"GLOBAL_DRAWDOWN_BREACH": exposing,
		"PRICE_UNAVAILABLE":      exposing,
		"equity_unavailable":     exposing,
		"GUARD_BAND":             append([]string{"placeSandboxOrder"}, entries...),
		"BAD_MAX_SLIPPAGE":       append([]string{"placeSandboxOrder"}, entries...),
		"MAX_SLIPPAGE":           append([]string{"placeSandboxOrder", "placeOrder"}, pro...),
		"INSUFFICIENT_LIQUIDITY": append([]string{"placeSandboxOrder", "placeOrder"}, pro...),
		"order_not_found":        {"cancelOrder"},
		"run_not_found":          {"editRun", "cancelRun"},
		"size_below_executed":    {"editRun"},
		"BAD_DURATION":           {"placeTwap", "placeChaseTwap"},
		"BAD_ORDER_COUNT":        {"placeLadder", "placeSwarm"},
		"BAD_TRIGGER":            {"placeConditional"},
		"BAD_PRICE":              {"placeConditional", "placeLadder", "placeChase", "placeChaseTwap"},
		"TOO_MANY_RUNS":          pro,
		"CHASE_EXISTS":           {"placeChase", "placeChaseTwap"},
	} {
		var got []string
		for id, op := range operations(t) {
			if len(op.statuses(code)) > 0 {
				got = append(got, id)
			}
		}
		same(t, code, got, want)
	}
}

// What stands in front of a route, and what follows from the kind of route.
func TestCodesOfEveryRoute(t *testing.T) {
	doc := contract(t)
	for id, op := range operations(t) {
		names := map[string]bool{}
		if op.RequestBody != nil {
			for member := range whole(doc.Components.Schemas[schemaName(op.RequestBody.Value.Content)].Value).Properties {
				names[member] = true
			}
		}
		for _, p := range op.Parameters {
			names[p.Value.Name] = true
		}
		keyed, accountID, body := op.key != "none", names["accountId"], op.RequestBody != nil
		for _, row := range []struct {
			code   string
			status int
			want   bool
		}{
			{"missing_api_key", 401, keyed},
			{"invalid_api_key", 401, keyed},
			{"revoked_api_key", 401, keyed},
			{"wrong_environment", 403, keyed && op.key != "any"},
			{"api_access_denied", 403, keyed},
			{"rate_limited", 429, keyed},
			{"bad_request", 400, true},
			{"unauthorized", 401, keyed},
			{"forbidden", 403, keyed},
			{"not_found", 404, keyed},
			{"conflict", 409, keyed},
			{"unprocessable", 422, keyed},
			{"internal_error", 500, true},
			{"unavailable", 502, true},
			{"unavailable", 503, keyed}, // without a key it is a health assessment
			{"invalid_idempotency_key", 400, op.liveWrite()},
			{"idempotency_key_reused", 422, op.liveWrite()},
			{"idempotency_in_flight", 409, op.liveWrite()},
			{"idempotency_result_unknown", 409, op.liveWrite()},
			{"idempotency_unavailable", 503, op.liveWrite()},
			{"account_not_found", 404, accountID},
			{"invalid_json", 400, body},
			{"missing_fields", 400, op.liveWrite() || id == "listPositions" || id == "listTrades"},
			{"account_locked", 403, op.write && id != "resetSandbox"},
			{"bad_side", 400, names["side"]},
			{"bad_size", 400, names["size"] || names["totalSize"]},
			{"bad_limit_price", 400, names["limitPrice"]},
		} {
			assert.Equal(t, row.want, op.has(row.code, row.status), "%s documents %s with %d", id, row.code, row.status)
		}
		if op.live() && !op.write && len(names) > 0 && !accountID {
			t.Errorf("%s reads an account that it does not name", id)
		}
	}
}

// Under which status a code occurs where the reference gives two.
func TestCodesWithTwoStatuses(t *testing.T) {
	all := operations(t)
	for _, row := range []struct {
		id, code string
		want     []int
	}{
		{"getPrices", "no_price", []int{404}},
		{"placeSandboxOrder", "no_price", []int{404, 503}},
		{"closeSandboxPosition", "no_price", []int{404, 503}},
		{"placeOrder", "no_price", []int{400, 503}},
		{"closePosition", "no_price", []int{400, 503}},
		{"closeSandboxPosition", "no_position", []int{404}},
		{"setSandboxTPSL", "no_position", []int{404}},
		{"placeOrder", "no_position", []int{400, 404}},
		{"closePosition", "no_position", []int{400, 404}},
		{"setTPSL", "no_position", []int{400, 404}},
	} {
		if got := all[row.id].statuses(row.code); !slices.Equal(got, row.want) {
			t.Errorf("%s answers %s with %v, want %v", row.id, row.code, got, row.want)
		}
	}
}

// A Pro code is documented under the class of its status as well.
func TestProCodesAreOpen(t *testing.T) {
	for id, op := range operations(t) {
		var want []string
		for _, c := range op.codes {
			if c.StatusRange != "" {
				want = append(want, c.Code)
			}
		}
		response := op.Responses.Value("4XX")
		if (response != nil) != (len(want) > 0) {
			t.Errorf("%s: 4XX documented: %t", id, response != nil)
		}
		if response != nil {
			same(t, id+" 4XX", sorted(response.Value.Content["application/json"].Examples), want)
		}
	}
}

package verdict

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
)

var update = flag.Bool("update", false, "write the table into docs/outcomes.md")

// judge is the verdict on an answer to a live operation.
func judge(o *spec.Endpoint, status int, replayed bool, body string) Ruling {
	shape, err := wire.Envelope([]byte(body))
	return Of(Seen{Endpoint: o, Env: "live", Status: status, Replayed: replayed, JSON: err == nil, Shape: shape})
}

func refusal(code string) string { return fmt.Sprintf(`{"error":%q,"message":"no"}`, code) }

func TestOf(t *testing.T) {
	for _, row := range []struct {
		name, op        string
		status          int
		body            string
		fresh, replayed Proof
	}{
		{"a success", "POST /orders", 200, `{"success":true}`, Ran, Ran},
		{"the sandbox's success", "POST /orders", 200, `{"ok":true}`, Nothing, Nothing},
		{"yes and no at once", "POST /orders", 200, `{"success":true,"error":"bad_size","message":"no"}`, Nothing, Nothing},
		{"a redirect", "POST /orders", 308, "", Unclear, Unclear},
		{"a refusal", "POST /orders", 400, refusal("bad_size"), DidNotRun, DidNotRun},
		{"a rate limit", "POST /orders", 429, refusal("rate_limited"), DidNotRun, DidNotRun},
		{"a page", "POST /orders", 429, "<html>", Nothing, Nothing},
		{"nothing placed", "POST /orders", 503, refusal("equity_unavailable"), DidNotRun, Unclear},
		{"still running", "POST /orders", 409, refusal("idempotency_in_flight"), MayRun, MayRun},
		{"part-way", "POST /orders", 409, refusal("idempotency_result_unknown"), MayRun, MayRun},
		{"D 1: a failure", "POST /orders", 500, refusal("internal_error"), Unclear, Unclear},
		{"D 1: a new code", "POST /orders", 500, refusal("database_error"), Unclear, Unclear},
		{"D 1: a known code with 504", "POST /orders", 504, refusal("internal_error"), Unclear, Unclear},
		{"D 1: nothing placed with another 5xx", "POST /orders", 500, refusal("equity_unavailable"), Unclear, Unclear},
		{"D 20: a new code", "POST /orders", 400, refusal("TEAPOT"), Unclear, DidNotRun},
		{"D 20: a code of another operation", "POST /positions/close", 403, refusal("asset_disabled"), Unclear, DidNotRun},
		{"D 20: a code of another status", "POST /orders", 404, refusal("bad_size"), Unclear, DidNotRun},
		{"D 39: the key", "POST /orders", 401, refusal("revoked_api_key"), IfConfirmed, DidNotRun},
		{"D 39: the account", "POST /orders", 404, refusal("account_not_found"), IfConfirmed, DidNotRun},
		{"D 42: a Pro order's", "POST /orders/twap", 422, refusal("BAD_DURATION"), DidNotRun, DidNotRun},
		{"D 42: a Pro order's with a status that nothing has", "POST /orders/twap", 418, refusal("BAD_DURATION"), Unclear, DidNotRun},
		{"D 42: a new code to a Pro order", "POST /orders/twap", 451, refusal("TEAPOT"), Unclear, DidNotRun},
		{"D 49: success false", "POST /orders", 400, `{"success":false,"error":"bad_size","message":"no"}`, Nothing, Nothing},
		{"D 49: ok null", "POST /orders", 400, `{"ok":null,"error":"bad_size","message":"no"}`, Nothing, Nothing},
		{"D 49: no code", "POST /orders", 400, refusal(""), Nothing, Nothing},
		{"D 49: a space", "POST /orders", 400, refusal("bad size"), Nothing, Nothing},
		{"D 49: a digit", "POST /orders", 400, refusal("bad_size2"), Nothing, Nothing},
		{"D 49: NUL", "POST /orders", 400, `{"error":"bad_size\u0000","message":"no"}`, Nothing, Nothing},
		{"D 49: no UTF-8", "POST /orders", 400, "{\"error\":\"bad_size\xff\",\"message\":\"no\"}", Nothing, Nothing},
		{"no message", "POST /orders", 400, `{"error":"bad_size"}`, Nothing, Nothing},
		{"a list", "POST /orders", 400, `[` + refusal("bad_size") + `]`, Nothing, Nothing},
		{"two codes", "POST /orders", 400, `{"error":"bad_size","error":"bad_side","message":"no"}`, Nothing, Nothing},
		{"a refusal with 200", "POST /orders", 200, refusal("bad_size"), Nothing, Nothing},
		{"a read", "GET /trades", 200, `[]`, Ran, Ran},
		{"a read that says no", "GET /trades", 200, refusal("not_found"), Unclear, DidNotRun},
		{"safe to trade", "GET /health", 200, `{"ok":true}`, Ran, Ran},
		{"not safe to trade", "GET /health", 503, `{"ok":false}`, Ran, Ran},
		{"not safe to trade, with a status of its own", "GET /health", 500, `{"ok":false}`, Nothing, Nothing},
		{"no health", "GET /health", 503, refusal("no_price"), Unclear, Unclear},
		{"a list for the health", "GET /health", 200, `[]`, Nothing, Nothing},
		{"the description", "GET /openapi.json", 200, `{}`, Ran, Ran},
		{"a list for the description", "GET /openapi.json", 200, `[]`, Nothing, Nothing},
	} {
		o := spec.Find(spec.Operation(row.op))
		assert.Equal(t, row.fresh, judge(o, row.status, false, row.body).Proof, row.name)
		assert.Equal(t, row.replayed, judge(o, row.status, true, row.body).Proof, "%s, replayed", row.name)
	}
	assert.Equal(t, Ran, Of(Seen{Endpoint: spec.Find("POST /sandbox/orders"), Env: "sandbox", Status: 200, JSON: true, Shape: wire.Shape{Object: true, OK: true}}).Proof)
}

// The contract's own codes are made as the table takes codes to be made.
func TestCodesOfTheContract(t *testing.T) {
	for _, rule := range spec.Rules() {
		assert.True(t, isCode(rule.Code), rule.Code)
	}
	assert.True(t, isCode("azAZ_"))
}

// Over every operation, status and kind of body: what says of a fresh answer that a write did
// not run has a code that the contract gives this operation with this status, and nothing is
// sent again that looks like a failure of the service.
func TestEveryStatus(t *testing.T) {
	codes := []string{"TEAPOT", "", "bad size"}
	for _, rule := range spec.Rules() {
		codes = append(codes, rule.Code)
	}
	classes := []int{400, 401, 403, 404, 409, 422, 429, 503}
	for _, o := range spec.Endpoints() {
		if !o.Write || o.Env != "live" {
			continue
		}
		for _, code := range codes {
			for status := 100; status < 700; status++ {
				said := judge(o, status, false, refusal(code)).Said
				switch {
				case said.Says == ledger.NotApplied:
					require.True(t, o.Documents(code, status) && slices.Contains(classes, status), "%s: %d %s", o.Path, status, code)
				case said.Class == ledger.Foreign:
					require.True(t, !isCode(code) || status < 300, "%s: %d %s", o.Path, status, code)
				case said.Advice != ledger.End:
					require.Equal(t, "idempotency_in_flight", code)
				}
			}
		}
	}
}

// What the ledger goes by besides.
func TestSaid(t *testing.T) {
	order := spec.Find("POST /orders")
	for _, row := range []struct {
		status int
		code   string
		want   ledger.Answer
	}{
		{409, "STALE_PRICE", ledger.Answer{Class: ledger.Refusal, Says: ledger.NotApplied, Advice: ledger.NewKey, Price: true}},
		{503, "no_price", ledger.Answer{Class: ledger.Refusal, Says: ledger.NotApplied, Advice: ledger.SameKey, Price: true}},
		{429, "rate_limited", ledger.Answer{Class: ledger.Refusal, Says: ledger.NotApplied, Advice: ledger.WaitFirst, InFront: true}},
		{401, "invalid_api_key", ledger.Answer{Class: ledger.Refusal, Says: ledger.NotApplied, Confirm: true, InFront: true}},
		{404, "account_not_found", ledger.Answer{Class: ledger.Refusal, Says: ledger.NotApplied, Confirm: true}},
		{409, "idempotency_in_flight", ledger.Answer{Class: ledger.Refusal, Advice: ledger.SameKey}},
	} {
		row.want.Status, row.want.Code = row.status, row.code
		assert.Equal(t, row.want, judge(order, row.status, false, refusal(row.code)).Said)
	}
	assert.Equal(t, ledger.Answer{Class: ledger.Unclear, Status: 429}, judge(order, 429, false, refusal("slow_down")).Said, "it waits for no rate limit")
}

// The table of docs/outcomes.md is the one that the client goes by.
func TestTheDocumentsTable(t *testing.T) {
	const page, begin, end = "../../docs/outcomes.md", "<!-- table of package verdict -->\n", "<!-- end -->\n"
	var table strings.Builder
	table.WriteString("| status | body | code | what it proves | marked as replayed |\n|---|---|---|---|---|\n")
	for _, row := range Rows() {
		replayed := "the same"
		if row.Replayed != row.Fresh {
			replayed = row.Replayed.String()
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", row.Status, row.Body, row.Code, row.Fresh, replayed)
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	shown, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o600))
		return
	}
	assert.Equal(t, table.String(), shown, "go test ./internal/verdict -update writes it")
}

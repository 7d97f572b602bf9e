package spec

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// describedRefusals reads openapi.json for the codes that each operation answers with an
// example: by operation, and then "400", "401" and so on, or "4XX".
func describedRefusals(t *testing.T) map[string]map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../openapi.json")
	require.NoError(t, err)
	type response struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Examples map[string]struct {
				Ref string `json:"$ref"`
			} `json:"examples"`
		} `json:"content"`
	}
	var description struct {
		Paths map[string]map[string]struct {
			Responses map[string]response `json:"responses"`
		} `json:"paths"`
		Components struct {
			Responses map[string]response `json:"responses"`
			Examples  map[string]struct {
				Value struct {
					Error string `json:"error"`
				} `json:"value"`
			} `json:"examples"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(text, &description))
	all := map[string]map[string][]string{}
	for path, methods := range description.Paths {
		for method, operation := range methods {
			byStatus := map[string][]string{}
			for status, r := range operation.Responses {
				if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
					r = description.Components.Responses[name]
				}
				for _, example := range r.Content["application/json"].Examples {
					name := strings.TrimPrefix(example.Ref, "#/components/examples/")
					if code := description.Components.Examples[name].Value.Error; code != "" {
						byStatus[status] = append(byStatus[status], code)
					}
				}
			}
			all[strings.ToUpper(method)+" "+path] = byStatus
		}
	}
	return all
}

// Each endpoint documents what the responses of the description show, and nothing else.
// The generator reads x-error-codes instead.
func TestDocumentedRefusals(t *testing.T) {
	codes := map[string]bool{"CODE_OF_SOMETHING_IN_FRONT": true}
	for _, rule := range Rules() {
		codes[rule.Code] = true
	}
	for op, byStatus := range describedRefusals(t) {
		o := Find(Operation(op))
		require.NotNil(t, o, op)
		for code := range codes {
			open := slices.Contains(byStatus["4XX"], code)
			for status := 199; status < 600; status++ {
				exact := byStatus[strconv.Itoa(status)]
				want := open && status/100 == 4 && len(exact) > 0 || slices.Contains(exact, code)
				if o.Documents(code, status) != want {
					t.Fatalf("%s: documents %s with %d: %t", op, code, status, !want)
				}
			}
		}
	}
	assert.True(t, Find("GET /openapi.json").Documents("unavailable", 503))
	assert.False(t, Find("GET /openapi.json").Documents("missing_api_key", 401), "it takes no key")
}

// The bots in other languages list the codes of an order after which they send it again.
func TestBotsSendTheOrderAgain(t *testing.T) {
	order, listed := Find("POST /orders"), 0
	for _, rule := range Rules() {
		if rule.Advice != SameKey || !order.Documents(rule.Code, rule.Status) {
			continue
		}
		listed++
		for _, file := range []string{"examples/other-languages/bot.py", "examples/other-languages/bot.ts", "examples/other-languages/bot.sh", "docs/other-languages.md"} {
			text, err := os.ReadFile("../../" + file)
			require.NoError(t, err)
			assert.Contains(t, string(text), rule.Code, "%s does not list it", file)
		}
	}
	assert.Positive(t, listed)
}

func TestLookUps(t *testing.T) {
	assert.True(t, Find("POST /orders").Fixed())
	assert.False(t, Find("GET /accounts/{accountId}").Fixed())
	assert.Equal(t, Health, Find("GET /health").Path)
	assert.Equal(t, Description, Find("GET /openapi.json").Path)
}

// Each refusal of the description has a rule of its own for its status and environment,
// and each rule is for a refusal of the description.
func TestRulesCoverTheDescription(t *testing.T) {
	used := map[CodeRule]bool{}
	for op, byStatus := range describedRefusals(t) {
		for status, codes := range byStatus {
			for _, code := range codes {
				number, open := 0, status == "4XX" || slices.Contains(byStatus["4XX"], code)
				if !open {
					require.NoError(t, json.Unmarshal([]byte(status), &number))
				}
				rule := RuleFor(code, number, Find(Operation(op)).Env)
				assert.Equal(t, number, rule.Status, "%s: %s with %s has no rule of its own", op, code, status)
				assert.NotEmpty(t, rule.Meaning, "%s", code)
				used[rule] = true
			}
		}
	}
	for _, rule := range Rules() {
		assert.True(t, used[rule], "no operation answers %s with %d (%s)", rule.Code, rule.Status, rule.Env)
	}
}

// T48: no key goes to the keyless routes. T92: a live write has a rate limit, and a run a
// lower one.
func TestOperationsAreTheDescriptions(t *testing.T) {
	text, err := os.ReadFile("../../openapi.json")
	require.NoError(t, err)
	var description struct {
		Paths map[string]map[string]struct {
			Key       string `json:"x-key"`
			Write     bool   `json:"x-write"`
			Asks      string `json:"x-asks"`
			Class     string `json:"x-limit-class"`
			PerMinute int    `json:"x-limit-per-minute"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &description))
	words := map[string]Asks{
		"": AsksNothing, "nothing": AsksNothing, "order": AsksOrder, "close": AsksClose, "limit": AsksLimit,
		"run": AsksRun, "run-edit": AsksRunEdit, "levels": AsksLevels,
	}
	seen := 1 // the description itself
	for path, methods := range description.Paths {
		for method, op := range methods {
			o := Find(Operation(strings.ToUpper(method) + " " + path))
			require.NotNil(t, o, path)
			seen++
			sandbox := strings.HasPrefix(path, "/sandbox/")
			assert.Equal(t, op.Key == "none", o.Keyless, "%s: keyless", path)
			assert.Equal(t, map[string]Environment{"test": "sandbox", "live": "live"}[op.Key], o.Env, "%s: whose key", path)
			assert.Equal(t, sandbox, o.Env == "sandbox", path)
			assert.Equal(t, method == "post", o.Write, "%s: write", path)
			assert.Equal(t, op.Write, o.Write, "%s: write", path)
			assert.Equal(t, words[op.Asks], o.Asks, "%s: what it asks for", path)
			assert.Equal(t, op.Class, o.Class, "%s: limit class", path)
			assert.Equal(t, o.Write && !sandbox, op.PerMinute > 0, "%s: a limit", path)
			assert.Equal(t, op.Class != "" && op.PerMinute < 100, o.Asks == AsksRun, "%s: limit of a run", path)
		}
	}
	assert.Len(t, Endpoints(), seen)
}

// T10, T11, T30, T36: neither the status nor the code alone says what to do.
func TestRuleFor(t *testing.T) {
	for _, row := range []struct {
		code    string
		status  int
		env     string
		advice  Advice
		unknown bool
		kind    string
	}{
		{"no_price", 503, "live", SameKey, false, NoPrice},
		{"no_price", 400, "live", NewKey, false, NoPrice},
		{"no_price", 404, "sandbox", NewKey, false, NoPrice},
		{"NO_PRICE", 409, "live", NewKey, false, NoPrice},
		{"GUARD_BAND", 409, "live", Change, false, Slippage},
		{"idempotency_in_flight", 409, "live", SameKey, true, ""},
		{"idempotency_result_unknown", 409, "live", Resolve, true, ""},
		{"concurrent_request", 409, "sandbox", SameKey, false, ""},
		{"market_paused", 403, "live", NewKey, false, ""},
		{"DAILY_DRAWDOWN_BREACH", 403, "live", Never, false, LossLimit},
		{"account_locked", 403, "live", Never, false, AccountLocked},
		{"ACCOUNT_LOCKED", 403, "live", Never, false, AccountLocked},
		{"TOO_MANY_RUNS", 409, "live", Change, false, ""},
		// A code with a status that it is not documented with.
		{"no_position", 409, "sandbox", Change, false, ""},
		{"account_locked", 500, "live", Resolve, true, ""},
		{"equity_unavailable", 500, "live", Resolve, true, ""},
		// A code of the other environment.
		{"concurrent_request", 409, "live", Change, false, ""},
		// A code that nobody knows.
		{"NEW", 400, "live", Change, false, ""},
		{"NEW", 401, "live", Never, false, KeyRefused},
		{"NEW", 403, "live", Never, false, ""},
		{"NEW", 429, "live", Wait, false, ""},
		{"NEW", 500, "live", Resolve, true, ""},
		{"NEW", 200, "live", Change, false, ""},
	} {
		rule := RuleFor(row.code, row.status, Environment(row.env))
		name := fmt.Sprintf("%s %d %s", row.code, row.status, row.env)
		assert.Equal(t, row.advice, rule.Advice, name)
		assert.Equal(t, row.unknown, rule.Outcome == Unknown, name)
		assert.Equal(t, row.kind, rule.Kind, name)
	}
}

// An exit passes where entries are held back, so what can add exposure is never taken for one.
func TestWhatAddsExposure(t *testing.T) {
	for _, c := range []struct {
		asks                           Asks
		trades, adds, addsIfReduceOnly bool
	}{
		{asks: AsksNothing},
		{AsksOrder, true, true, false},
		{AsksClose, true, false, false},
		{AsksLimit, true, true, false},
		{AsksRun, true, true, false},
		{AsksRunEdit, true, true, true},
		{asks: AsksLevels},
		{AsksLevels + 1, true, true, false}, // of a later version
	} {
		assert.Equal(t, c.trades, c.asks.Trades(), "%d", c.asks)
		assert.Equal(t, c.adds, c.asks.Adds(false), "%d", c.asks)
		assert.Equal(t, c.addsIfReduceOnly, c.asks.Adds(true), "%d, reduce-only", c.asks)
	}
}

// Each advice has steps of its own, and a number that is none reads as the one that never
// harms: a journal or a program of a later version may have it.
func TestStepsOfAnAdvice(t *testing.T) {
	seen := map[string]Advice{}
	for a := Never; a <= Resolve; a++ {
		before, twice := seen[a.String()]
		assert.NotEmpty(t, a.String(), "%d", a)
		assert.False(t, twice, "%d reads as %d: %s", a, before, a.String())
		seen[a.String()] = a
	}
	assert.Equal(t, Never.String(), (Resolve + 1).String())
	assert.Equal(t, Never.String(), Advice(255).String())
}

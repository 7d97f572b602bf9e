package trading

import (
	"encoding/json"
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
func describedRefusals(t *testing.T) map[Operation]map[string][]Code {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
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
					Error Code `json:"error"`
				} `json:"value"`
			} `json:"examples"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(text, &description))
	all := map[Operation]map[string][]Code{}
	for path, methods := range description.Paths {
		for method, operation := range methods {
			byStatus := map[string][]Code{}
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
			all[Operation(strings.ToUpper(method)+" "+path)] = byStatus
		}
	}
	return all
}

// endpointsByOperation are all endpoints.
func endpointsByOperation() map[Operation]*endpoint {
	all := map[Operation]*endpoint{}
	for _, e := range append(describedEndpoints[:], &endpointOpenAPI) {
		all[e.op] = e
	}
	return all
}

// Each endpoint documents what the responses of the description show, and nothing else.
// The generator reads x-error-codes instead.
func TestDocumentedRefusals(t *testing.T) {
	endpoints := endpointsByOperation()
	codes := map[Code]bool{"CODE_OF_SOMETHING_IN_FRONT": true}
	for rule := range Rules() {
		codes[rule.Code] = true
	}
	for op, byStatus := range describedRefusals(t) {
		e := endpoints[op]
		require.NotNil(t, e, op)
		for code := range codes {
			open := slices.Contains(byStatus["4XX"], code)
			for status := 199; status < 600; status++ {
				want := open && status/100 == 4 || slices.Contains(byStatus[strconv.Itoa(status)], code)
				require.Equal(t, want, e.documents(code, status), "%s: %s with %d", op, code, status)
			}
		}
	}
	assert.True(t, endpointOpenAPI.documents(CodeUnavailable, 503))
	assert.False(t, endpointOpenAPI.documents(CodeMissingAPIKey, 401), "it takes no key")
}

// Cases that are easy to get wrong.
func TestDocuments(t *testing.T) {
	for _, row := range []struct {
		e      *endpoint
		code   Code
		status int
		want   bool
	}{
		{&endpointOrder, CodeMissingAPIKey, 401, true},
		{&endpointOrder, CodeIdempotencyInFlight, 409, true},
		{&endpointOrder, CodeBadRequest, 400, true},
		{&endpointOrder, CodeNotMarketable, 400, true},
		{&endpointOrder, CodeNotMarketable, 409, false},
		{&endpointOrder, CodeOrderNotMarketable, 409, false}, // the sandbox's
		{&endpointOrder, CodeInternalError, 500, true},
		{&endpointOrder, CodeUnavailable, 504, false},
		{&endpointOrder, CodeRateLimited, 408, false},
		{&endpointOrder, CodeRateLimited, 200, false},
		{&endpointOrder, CodeBadDuration, 400, false}, // a Pro order's
		{&endpointTWAP, CodeBadDuration, 400, true},
		{&endpointTWAP, CodeBadDuration, 422, true},
		{&endpointTWAP, CodeBadDuration, 503, false},
		{&endpointTWAP, "bad_duration", 400, false}, // codes differ by case
		{&endpointSandboxOrder, CodeIdempotencyInFlight, 409, false},
		{&endpointAccounts, CodeIdempotencyInFlight, 409, false},
		{&endpointMe, CodeWrongEnvironment, 403, false}, // it takes either key
		{&endpointHealth, CodeUnauthorized, 401, false},
		{&endpointHealth, CodeUnavailable, 502, true},
	} {
		assert.Equal(t, row.want, row.e.documents(row.code, row.status), "%s: %s with %d", row.e.op, row.code, row.status)
	}
}

// Each refusal of the description has a rule of its own for its status and environment,
// and each rule is for a refusal of the description.
func TestRulesCoverTheDescription(t *testing.T) {
	endpoints := endpointsByOperation()
	used := map[Rule]bool{}
	for op, byStatus := range describedRefusals(t) {
		for status, codes := range byStatus {
			for _, code := range codes {
				number, open := 0, status == "4XX" || slices.Contains(byStatus["4XX"], code)
				if !open {
					require.NoError(t, json.Unmarshal([]byte(status), &number))
				}
				rule := ruleFor(code, number, endpoints[op].env)
				assert.Equal(t, number, rule.Status, "%s: %s with %s has no rule of its own", op, code, status)
				assert.NotEmpty(t, rule.Meaning, "%s", code)
				used[rule] = true
			}
		}
	}
	for rule := range Rules() {
		assert.True(t, used[rule], "no operation answers %s with %d (%s)", rule.Code, rule.Status, rule.Environment)
	}
}

// described is what the description says of an operation beside its answers.
type described struct {
	Key       string `json:"x-key"`
	Write     bool   `json:"x-write"`
	Class     string `json:"x-limit-class"`
	PerMinute int    `json:"x-limit-per-minute"`
}

// What the client knows of an endpoint is what the description says: which key it takes,
// whether it changes something, and which limit it counts against. T48: no key goes to
// the keyless routes. T92: a live write has a limit of its own.
func TestEndpointsAreTheContracts(t *testing.T) {
	text, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var description struct {
		Paths map[string]map[string]described `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(text, &description))
	keys := map[string]Environment{"test": EnvSandbox, "live": EnvLive, "any": "", "none": ""}
	endpoints := endpointsByOperation()
	assert.NotNil(t, endpoints[OpOpenAPI])
	delete(endpoints, OpOpenAPI) // which is not in it
	for path, methods := range description.Paths {
		for method, of := range methods {
			op := Operation(strings.ToUpper(method) + " " + path)
			e := endpoints[op]
			require.NotNil(t, e, op)
			delete(endpoints, op)
			require.Contains(t, keys, of.Key, op)
			assert.Equal(t, of.Key == "none", e.keyless, "%s: keyless", op)
			assert.Equal(t, keys[of.Key], e.env, "%s: whose key", op)
			assert.Equal(t, of.Write, e.write, "%s: write", op)
			assert.Equal(t, of.Class, e.class, "%s: limit class", op)
			assert.Equal(t, of.Class != "" && of.PerMinute < 100, e.pro, "%s: limit of a run", op)
			sandbox := strings.HasPrefix(path, "/sandbox/")
			assert.Equal(t, sandbox, e.env == EnvSandbox, "%s: the sandbox's key", op)
			assert.Equal(t, e.write && !sandbox, e.class != "", "%s: has a limit", op)
		}
	}
	assert.Empty(t, endpoints, "which the description does not have")
}

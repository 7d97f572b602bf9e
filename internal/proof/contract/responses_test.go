package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schemaName is the component that a body is an instance of, or "" if it is
// anything but JSON of a named component.
func schemaName(content openapi3.Content) string {
	media := content["application/json"]
	if len(content) != 1 || media == nil || media.Schema == nil {
		return ""
	}
	name, _ := strings.CutPrefix(media.Schema.Ref, "#/components/schemas/")
	return name
}

// A health assessment that is not safe answers 503 with the same body; every
// other answer above 200 is an error.
func TestFailures(t *testing.T) {
	for id, op := range operations(t) {
		for status, response := range op.Responses.Map() {
			want := "Error"
			if status == "200" {
				continue
			}
			if id == "getHealth" && status == "503" {
				want = "Health"
			}
			assert.Equal(t, want, schemaName(response.Value.Content), "%s answers %s with", id, status)
		}
	}
}

func TestEveryBodyHasAnExample(t *testing.T) {
	for id, op := range operations(t) {
		if op.RequestBody != nil && len(op.RequestBody.Value.Content["application/json"].Examples) == 0 {
			t.Errorf("the body of %s has no example", id)
		}
		for status, response := range op.Responses.Map() {
			if len(response.Value.Content["application/json"].Examples) == 0 {
				t.Errorf("%s %s has no example", id, status)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	limits := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}
	for id, op := range operations(t) {
		for status, response := range op.Responses.Map() {
			var want []string
			// What is stored can be replayed: answers of live writes below 500,
			// but not those of authentication, which stands in front.
			if op.liveWrite() && status < "500" && status != "401" {
				want = append(want, "Idempotent-Replayed")
			}
			if status == "429" {
				want = append(want, "Retry-After")
				want = append(want, limits...)
			}
			same(t, fmt.Sprintf("headers of %s %s", id, status), sorted(response.Value.Headers), want)
		}
		if op.key != "none" && op.Responses.Value("429") == nil {
			t.Errorf("%s documents no 429", id)
		}
	}
	headers := contract(t).Components.Headers
	for _, name := range limits {
		assert.False(t, headers[name].Value.Required, "%s is required, but the per-user limit does not send it", name)
	}
	assert.True(t, headers["Retry-After"].Value.Required, "Retry-After is optional on a 429")
	assert.False(t, headers["Idempotent-Replayed"].Value.Required, "Idempotent-Replayed is required, but a first answer does not have it")
}

// What an operation lists in x-error-codes, its responses show by example, and
// the other way round.
func TestExamplesShowEveryCode(t *testing.T) {
	for id, op := range operations(t) {
		var want, got []string
		for _, c := range op.codes {
			want = append(want, fmt.Sprintf("%d %s", c.Status, c.Code))
		}
		for status, response := range op.Responses.Map() {
			number, err := strconv.Atoi(status)
			if err != nil || schemaName(response.Value.Content) != "Error" {
				continue
			}
			for name, example := range response.Value.Content["application/json"].Examples {
				code := exampleCode(t, name, example)
				got = append(got, fmt.Sprintf("%d %s", number, code))
			}
		}
		slices.Sort(got)
		same(t, id, slices.Compact(got), want)
	}
}

// exampleCode is the code that an example of an error shows.
func exampleCode(t *testing.T, name string, example *openapi3.ExampleRef) string {
	t.Helper()
	body, ok := example.Value.Value.(map[string]any)
	require.True(t, ok, "example %s is no object", name)
	code, _ := body["error"].(string)
	for _, member := range []string{"ok", "success"} {
		if _, ok := body[member]; ok {
			t.Errorf("example %s has %s, which no error has", name, member)
		}
	}
	if name != code && name != code+"_clip" {
		t.Errorf("example %s shows the code %q", name, code)
	}
	return code
}

// The members beside the message, as the rule on slippage gives them.
func TestSlippageExamples(t *testing.T) {
	for code, estimated := range map[string]bool{"MAX_SLIPPAGE": true, "INSUFFICIENT_LIQUIDITY": false} {
		body := contract(t).Components.Examples[code].Value.Value.(map[string]any)
		estimate, present := body["estSlippagePct"]
		assert.True(t, present, "%s lacks estSlippagePct", code)
		if (estimate != nil) != estimated {
			t.Errorf("estSlippagePct of %s is %v", code, estimate)
		}
		if body["maxSlippagePct"] == nil {
			t.Errorf("%s lacks maxSlippagePct", code)
		}
	}
}

// Sandbox answers say ok, live writes success, live reads neither.
func TestSuccessMarks(t *testing.T) {
	doc := contract(t)
	for id, op := range operations(t) {
		if op.key != "test" && op.key != "live" {
			continue
		}
		for name, example := range op.Responses.Value("200").Value.Content["application/json"].Examples {
			body := example.Value.Value.(map[string]any)
			_, ok := body["ok"]
			_, success := body["success"]
			if ok != op.sandbox() || success != op.liveWrite() {
				t.Errorf("example %s of %s: ok %t, success %t", name, id, ok, success)
			}
			if ok && body["ok"] != true || success && body["success"] != true {
				t.Errorf("example %s of %s is no success", name, id)
			}
		}
		schema := doc.Components.Schemas[schemaName(op.Responses.Value("200").Value.Content)].Value
		if op.sandbox() && op.write && !slices.Contains(schema.Required, "ok") {
			t.Errorf("%s does not require ok", id)
		}
		if op.liveWrite() && !slices.Contains(schema.Required, "success") {
			t.Errorf("%s does not require success", id)
		}
	}
}

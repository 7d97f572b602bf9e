package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMembers(t *testing.T) {
	schemas := contract(t).Components.Schemas
	same(t, "schemas", sorted(schemas), append(sorted(members), choices...))
	for name, text := range members {
		ref, ok := schemas[name]
		if !ok {
			continue
		}
		schema := whole(ref.Value)
		assert.True(t, schema.Type.Is("object"), "%s is %v, want an object", name, schema.Type)
		var want, got []string
		for line := range strings.SplitSeq(text, ",") {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				want = append(want, line)
			}
		}
		for member, property := range schema.Properties {
			line := member + " " + typeOf(property)
			if property.Value.Nullable {
				line += " null"
			}
			if !slices.Contains(schema.Required, member) {
				line += " ?"
			}
			got = append(got, line)
		}
		same(t, name, got, want)
		for _, member := range schema.Required {
			if schema.Properties[member] == nil {
				t.Errorf("%s requires %s, which it does not have", name, member)
			}
		}
	}
}

// typeOf is the type of a member as the table writes it.
func typeOf(ref *openapi3.SchemaRef) string {
	component := func(r *openapi3.SchemaRef) string { return strings.TrimPrefix(r.Ref, "#/components/schemas/") }
	schema := ref.Value
	switch {
	case ref.Ref != "":
		return component(ref)
	case len(schema.AnyOf) == 2 && onlyNull(schema.AnyOf[1].Value): // a component or null
		return component(schema.AnyOf[0])
	case schema.Type.Is("array"):
		return "[]" + component(schema.Items)
	case schema.Type.Is("object") && schema.AdditionalProperties.Schema != nil:
		return "{}" + typeOf(schema.AdditionalProperties.Schema)
	case schema.Type == nil || len(*schema.Type) != 1:
		return fmt.Sprint(schema.Type)
	}
	return (*schema.Type)[0]
}

// onlyNull tells whether null is all that a schema lets pass.
func onlyNull(schema *openapi3.Schema) bool {
	return schema.Nullable && len(schema.Enum) == 1 && schema.Enum[0] == nil
}

// A position that is not there any more is null, and anything else is a whole position.
func TestNullPositions(t *testing.T) {
	all := operations(t)
	for _, id := range []string{"placeSandboxOrder", "closeSandboxPosition", "placeOrder"} {
		content := all[id].Responses.Value("200").Value.Content["application/json"]
		for name, example := range content.Examples {
			body := maps.Clone(example.Value.Value.(map[string]any))
			for _, row := range []struct {
				position any
				valid    bool
			}{{nil, true}, {map[string]any{}, false}, {"none", false}, {0.0, false}} {
				body["position"] = row.position
				if err := content.Schema.Value.VisitJSON(body); (err == nil) != row.valid {
					t.Errorf("%s %s with the position %v: %v", id, name, row.position, err)
				}
			}
		}
	}
}

// Where nullable stands beside an allOf, null has to pass both, and fails the parts that
// are not nullable themselves. Not every validator sees it.
func TestNullableBesideAllOf(t *testing.T) {
	for name, ref := range contract(t).Components.Schemas {
		for member, property := range ref.Value.Properties {
			if property.Value.Nullable && len(property.Value.AllOf) > 0 {
				t.Errorf("%s.%s is nullable beside an allOf", name, member)
			}
		}
	}
}

// A client must outlive a service that grows: answers take further members and
// further values, and only what the caller sends is a closed set.
func TestAnswersAreOpen(t *testing.T) {
	for name, ref := range contract(t).Components.Schemas {
		schema := whole(ref.Value)
		if _, isObject := members[name]; !isObject {
			continue
		}
		open := schema.AdditionalProperties.Has != nil && *schema.AdditionalProperties.Has
		if request := strings.HasSuffix(name, "Request"); open == request {
			t.Errorf("%s is open: %t", name, open)
		}
		for member, property := range schema.Properties {
			if ref := property.Ref; strings.HasSuffix(name, "Request") && ref != "" {
				continue
			}
			if len(property.Value.Enum) > 0 {
				t.Errorf("%s.%s is a closed set", name, member)
			}
		}
	}
}

// knownValues are what the reference names today.
func TestKnownValues(t *testing.T) {
	statuses := []string{"ACTIVE", "PURCHASED", "FUNDED", "PASSED", "FAILED", "EXPIRED"}
	schemas := contract(t).Components.Schemas
	for _, row := range []struct {
		schema, member string
		want           []string
	}{
		{"Health", "status", []string{"healthy", "degraded", "unavailable"}},
		{"Health", "feed", []string{"live", "stale", "unknown"}},
		{"Identity", "environment", []string{"sandbox", "live"}},
		{"SandboxAccount", "environment", []string{"sandbox"}},
		{"SandboxAccount", "status", []string{"active", "locked", "passed"}},
		{"SandboxPosition", "side", []string{"long", "short"}},
		{"SandboxOrderRequest", "orderType", []string{"market", "limit"}},
		{"LivePosition", "side", []string{"long", "short"}},
		{"ClosedTrade", "side", []string{"long", "short"}},
		{"ClosedTrade", "orderType", []string{"stop_loss", "take_profit", "market"}},
		{"LiveAccount", "status", statuses},
		{"LiveAccount", "evalType", []string{"1-step", "gauntlet", "hyper", "2-step"}},
		{"LiveAccountDetail", "status", statuses},
		{"PositionCloseResponse", "status", statuses},
	} {
		values, _ := schemas[row.schema].Value.Properties[row.member].Value.Extensions["x-known-values"].([]any)
		var got []string
		for _, v := range values {
			got = append(got, fmt.Sprint(v))
		}
		same(t, row.schema+"."+row.member, got, row.want)
	}
	for name, want := range map[string][]string{
		"Side":      {"long", "short"},
		"OrderType": {"market", "limit"},
		"ExecKind":  {"stop-market", "stop-limit"},
	} {
		var got []string
		for _, v := range schemas[name].Value.Enum {
			got = append(got, fmt.Sprint(v))
		}
		same(t, name, got, want)
	}
}

// Bounds of what a caller sends, and the notation of the live close's amounts.
func TestBounds(t *testing.T) {
	schemas := contract(t).Components.Schemas
	for _, row := range []struct {
		schema, member string
		good, bad      []any
	}{
		{"SandboxOrderRequest", "size", []any{0.001, 5.0}, []any{0.0, -1.0}},
		{"OrderRequest", "size", []any{0.001, 5.0}, []any{0.0, -1.0}},
		{"SandboxOrderRequest", "limitPrice", []any{0.01}, []any{0.0}},
		{"LimitOrderRequest", "limitPrice", []any{0.01}, []any{0.0}},
		{"SandboxOrderRequest", "maxSlippagePct", []any{0.1, 8.0, 30.0}, []any{0.0, 0.09, 30.1}},
		{"OrderRequest", "maxSlippagePct", []any{0.1, 8.0, 30.0}, []any{0.0, 0.09, 30.1}},
		{"SandboxCloseRequest", "pct", []any{1.0, 100.0}, []any{0.0, 0.9, 100.1}},
		{"PositionCloseResponse", "pnl", []any{"49.00", "-0.05", "0.00"}, []any{"49", "49.0", "1e2", "", 49.0}},
		{"PositionCloseResponse", "fee", []any{"2.90"}, []any{"2.9", "+2.90"}},
		{"PositionCloseResponse", "newBalance", []any{"50293.97"}, []any{"50,293.97"}},
	} {
		schema := schemas[row.schema].Value.Properties[row.member].Value
		for _, v := range row.good {
			assert.NoError(t, schema.VisitJSON(v), "%s.%s = %v", row.schema, row.member, v)
		}
		for _, v := range row.bad {
			if schema.VisitJSON(v) == nil {
				t.Errorf("%s.%s = %v is accepted", row.schema, row.member, v)
			}
		}
	}
}

// A number without a format is a float32 to some generators, which cannot hold a price.
func TestEveryNumberIsDouble(t *testing.T) {
	for name, path := range map[string]string{"service": contractFile, "control": "../../../tradingsim/control/openapi.json"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var description any
		require.NoError(t, json.Unmarshal(text, &description))
		numbers := 0
		var visit func(at string, node any)
		visit = func(at string, node any) {
			switch node := node.(type) {
			case map[string]any:
				if node["type"] == "number" {
					if numbers++; node["format"] != "double" {
						t.Errorf("%s: %s is a number with the format %v: it must be double", name, at, node["format"])
					}
				}
				for member, value := range node {
					visit(at+"/"+member, value)
				}
			case []any:
				for i, value := range node {
					visit(fmt.Sprint(at, "/", i), value)
				}
			}
		}
		visit("", description)
		t.Logf("%s: %d numbers", name, numbers)
	}
}

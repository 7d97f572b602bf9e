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
)

// members of each schema, copied from the tables of the reference: name, type,
// "null" where the reference allows it, and "?" where the member can be
// missing. "[]" is a list of the component, "{}" a map. What the reference
// names but does not show in full is as tolerant as its text.
var members = map[string]string{
	"Error": `error string, message string, reason string ?, symbol string ?,
		estSlippagePct number null ?, maxSlippagePct number null ?`,
	"Health":   `ok boolean, status string, feed string, service string, version string, asOf integer, cacheSeconds number`,
	"Identity": `userId string, environment string, keyId string`,

	"SandboxAccount": `id string, environment string, balance number, equity number, unrealizedPnL number,
		profitTarget number, dailyLossFloor number, globalLossFloor number, profitSplit number, status string, isLocked boolean`,
	"SandboxPosition": `symbol string, side string, size number, leverage number, entryPrice number,
		markPrice number null, notionalValue number, marginRequired number, unrealizedPnL number null,
		takeProfitPrice number null, stopLossPrice number null, openedAt string`,
	"SandboxFill": `price number, repriced boolean, ageMs number`,
	"ClosedTrade": `realizedPnL number, fee number, exitPrice number, orderType string,
		symbol string ?, side string ?, size number ?, entryPrice number ?, openedAt Timestamp ?, closedAt Timestamp ?`,
	"Market": `symbol string, label string, category string, maxLeverage number, markPrice number null`,

	"SandboxAccountResponse":   `ok boolean ?, account SandboxAccount`,
	"SandboxPositionsResponse": `ok boolean ?, positions []SandboxPosition`,
	"SandboxTradesResponse":    `ok boolean ?, trades []ClosedTrade`,
	"SandboxMarketsResponse":   `ok boolean ?, markets []Market`,
	"SandboxPrice":             `ok boolean ?, symbol string, price number`,
	"SandboxPriceMap":          `ok boolean ?, prices {}number`,

	"SandboxOrderRequest": `symbol string, side Side, size number, leverage number ?, orderType string ?, limitPrice number ?,
		takeProfitPrice number ?, stopLossPrice number ?, expectedPrice number ?, maxSlippagePct number ?`,
	"SandboxOrderResponse": `ok boolean, fill SandboxFill, position SandboxPosition null, account SandboxAccount`,
	"SandboxCloseRequest":  `symbol string, pct number ?`,
	"SandboxClose":         `symbol string, pct number, exitPrice number, realizedPnL number, fee number`,
	"SandboxCloseResponse": `ok boolean, closed SandboxClose, position SandboxPosition null, account SandboxAccount`,
	"SandboxTPSLRequest":   `symbol string, takeProfitPrice number null ?, stopLossPrice number null ?, closePct number null ?`,
	"SandboxTPSLResponse":  `ok boolean, position SandboxPosition`,
	"SandboxResetResponse": `ok boolean, account SandboxAccount`,

	"LiveAccount": `id string, status string, isTrial boolean, isTournament boolean, tournamentName string ?,
		challengeSize number, startingBalance number, currentBalance number, evalType string, phase integer,
		archived boolean, createdAt Timestamp, fundedFromAccountId string ?`,
	"LiveAccountDetail": `id string ?, status string, phase integer ?, balance number, equity number,
		profitTarget number ?, dailyLossFloor number ?, globalLossFloor number ?`,
	"LivePosition": `symbol string, side string, size number, leverage number ?, entryPrice number,
		markPrice number null ?, notionalValue number ?, marginRequired number ?, unrealizedPnL number null ?,
		takeProfitPrice number null ?, stopLossPrice number null ?, openedAt Timestamp ?`,
	"LiveFill":       `price number, size number, fee number`,
	"RestingOrder":   `id string`,
	"Run":            `runId string`,
	"FundingPayment": ``,

	"AccountsResponse":      `accounts []LiveAccount`,
	"AccountResponse":       `account LiveAccountDetail`,
	"PositionsResponse":     `positions []LivePosition`,
	"TradesResponse":        `trades []ClosedTrade`,
	"AccountOrdersResponse": `orders []RestingOrder, runs []Run`,
	"AccountRunsResponse":   `history []Run`,
	"FundingResponse":       `funding []FundingPayment`,

	"OrderRequest":            orderFields,
	"LimitOrderRequest":       strings.Replace(orderFields, "limitPrice number ?", "limitPrice number", 1),
	"ProOrderRequest":         orderFields,
	"ConditionalOrderRequest": orderFields + `, triggerPrice number, execKind ExecKind ?`,
	"LadderOrderRequest":      orderFields + `, startPrice number, endPrice number, totalOrders integer, sizeSkew ProSetting ?`,
	"TwapOrderRequest":        orderFields + `, durationMs integer, randomizeSize ProSetting ?, randomizeTime ProSetting ?`,
	"ChaseOrderRequest":       orderFields + `, chaseTo number ?`,
	"ChaseTwapOrderRequest":   orderFields + `, durationMs integer, chaseTo number ?`,
	"SwarmOrderRequest": orderFields + `, totalOrders integer, aggression ProSetting ?,
		slippageBps ProSetting ?, irregular ProSetting ?`,
	"CancelOrderRequest":   `accountId string, orderId string`,
	"ClosePositionRequest": `accountId string, symbol string, closePercent number ?`,
	"TPSLRequest":          `accountId string, symbol string, takeProfitPrice number null ?, stopLossPrice number null ?`,
	"EditRunRequest":       `accountId string, runId string, totalSize number`,
	"CancelRunRequest":     `accountId string, runId string`,

	"OrderResponse":         `success boolean, action string, fill LiveFill, position LivePosition null, newBalance number`,
	"LimitOrderResponse":    `success boolean, order RestingOrder`,
	"OrderCancelResponse":   `success boolean, orderId string ?, order RestingOrder ?`,
	"PositionCloseResponse": `success boolean, pnl string, fee string, newBalance string, status string`,
	"TPSLResponse":          `success boolean, position LivePosition ?`,
	"RunResponse":           `success boolean, runId string`,
	"RunEditResponse":       `success boolean, runId string ?, run Run ?`,
	"RunCancelResponse":     `success boolean, runId string ?, run Run ?`,
}

// orderFields are the fields of POST /orders, which every live order takes.
const orderFields = `accountId string, symbol string, side Side, size number, leverage number,
	orderType OrderType ?, limitPrice number ?, reduceOnly boolean ?, takeProfitPrice number ?,
	stopLossPrice number ?, expectedPrice number ?, maxSlippagePct number ?`

// choices are the components that are no objects.
var choices = []string{"SandboxPricesResponse", "Timestamp", "ProSetting", "Side", "OrderType", "ExecKind"}

func TestMembers(t *testing.T) {
	schemas := contract(t).Components.Schemas
	same(t, "schemas", sorted(schemas), append(sorted(members), choices...))
	for name, text := range members {
		ref, ok := schemas[name]
		if !ok {
			continue
		}
		schema := whole(ref.Value)
		if !schema.Type.Is("object") {
			t.Errorf("%s is %v, want an object", name, schema.Type)
		}
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
			if err := schema.VisitJSON(v); err != nil {
				t.Errorf("%s.%s = %v: %v", row.schema, row.member, v, err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		var description any
		if err := json.Unmarshal(text, &description); err != nil {
			t.Fatal(err)
		}
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

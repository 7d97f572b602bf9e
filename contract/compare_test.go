package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/contract"
)

// edit changes a description at a place; a value of nil removes what is there.
type edit struct {
	at    string // names, separated by blanks; a number is the index in a list
	value any
}

// j is a value written as JSON.
func j(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

const (
	order    = "components schemas OrderRequest"
	orders   = "paths /orders post"
	position = "components schemas LivePosition"
	markets  = "paths /sandbox/markets get"
)

// edited is the client's own description with changes.
func edited(t testing.TB, edits ...edit) []byte {
	t.Helper()
	root := j(string(contract.Description()))
	for _, e := range edits {
		names := strings.Fields(e.at)
		change(t, root, names, e.value)
	}
	text, err := json.Marshal(root)
	require.NoError(t, err)
	return text
}

func change(t testing.TB, node any, names []string, value any) any {
	t.Helper()
	switch node := node.(type) {
	case map[string]any:
		name := names[0]
		if len(names) > 1 {
			require.Contains(t, node, name)
			node[name] = change(t, node[name], names[1:], value)
			return node
		}
		if value == nil {
			require.Contains(t, node, name)
			delete(node, name)
			return node
		}
		node[name] = value
		return node
	case []any:
		var i int
		if names[0] == "+" {
			return append(node, value)
		}
		_, err := fmt.Sscan(names[0], &i)
		require.NoError(t, err)
		if len(names) > 1 {
			node[i] = change(t, node[i], names[1:], value)
			return node
		}
		if value == nil {
			return slices.Delete(node, i, i+1)
		}
		node[i] = value
		return node
	}
	t.Fatalf("%v is not in the description", names)
	return nil
}

func lines(changes []contract.Change) []string {
	var all []string
	for _, change := range changes {
		all = append(all, change.String())
	}
	return all
}

func TestWhatChanged(t *testing.T) {
	codes := orders + " x-error-codes"
	for name, test := range map[string]struct {
		edits []edit
		want  []string
	}{
		// Operations.
		"an operation is gone": {[]edit{{orders, nil}}, []string{"breaking: POST /orders: operation removed"}},
		"a path is gone":       {[]edit{{"paths /orders", nil}}, []string{"breaking: POST /orders: operation removed"}},
		"a new path":           {[]edit{{"paths /news", j(`{"get": {"responses": {}}}`)}}, []string{"GET /news: operation added"}},
		"another name of a path parameter": {[]edit{
			{"paths /accounts/{id}/orders", j(`{"get": {
				"parameters": [{"in": "path", "name": "id", "required": true, "schema": {"type": "string", "minLength": 1}}],
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/AccountOrdersResponse"}}}}}}}`)},
			{"paths /accounts/{accountId}/orders", nil},
		}, []string{
			"GET /accounts/{accountId}/orders 400: answer removed", "GET /accounts/{accountId}/orders 401: answer removed",
			"GET /accounts/{accountId}/orders 403: answer removed", "GET /accounts/{accountId}/orders 404: answer removed",
			"GET /accounts/{accountId}/orders 409: answer removed", "GET /accounts/{accountId}/orders 422: answer removed",
			"GET /accounts/{accountId}/orders 429: answer removed", "GET /accounts/{accountId}/orders 500: answer removed",
			"GET /accounts/{accountId}/orders 502: answer removed", "GET /accounts/{accountId}/orders 503: answer removed",
		}},
		"another kind of key":  {[]edit{{orders + " x-key", "any"}}, []string{"breaking: POST /orders: x-key is any, was live"}},
		"a lower limit":        {[]edit{{orders + " x-limit-per-minute", j(`20`)}}, []string{"breaking: POST /orders: x-limit-per-minute is 20, was 150"}},
		"a higher limit":       {[]edit{{orders + " x-limit-per-minute", j(`300`)}}, []string{"POST /orders: x-limit-per-minute is 300, was 150"}},
		"another limit class":  {[]edit{{orders + " x-limit-class", "orders"}}, []string{"breaking: POST /orders: x-limit-class is orders, was market-orders"}},
		"no extensions at all": {[]edit{{orders + " x-key", nil}, {orders + " x-limit-class", nil}, {codes, nil}}, nil},
		"other credentials":    {[]edit{{orders + " security", j(`[]`)}}, []string{"breaking: POST /orders: security is none, was apikey header x-api-key, or http bearer"}},
		"credentials by another name": {[]edit{
			{"components securitySchemes Key", j(`{"type": "apiKey", "in": "header", "name": "X-Api-Key"}`)},
			{"security", j(`[{"Bearer": []}, {"Key": []}]`)},
		}, nil},
		"deprecated":          {[]edit{{orders + " deprecated", true}}, []string{"POST /orders: deprecated"}},
		"a new code":          {[]edit{{codes + " +", j(`{"code": "halted", "status": 403}`)}}, []string{"POST /orders: code halted added"}},
		"a code is gone":      {[]edit{{codes + " 0", nil}}, []string{"POST /orders: code invalid_json removed"}},
		"a code moves":        {[]edit{{codes + " 0 status", j(`422`)}}, []string{"breaking: POST /orders: code invalid_json comes with 422, was 400"}},
		"the version":         {[]edit{{"info version", "v1.1"}}, []string{"version of the description: v1.1, was v1"}},
		"texts and examples":  {[]edit{{orders + " summary", "!"}, {orders + " description", "!"}, {"info title", "!"}, {"components examples", nil}, {order + " description", "!"}, {"tags", nil}}, nil},
		"what was not shown":  {[]edit{{position + " properties leverage x-not-shown", nil}}, nil},
		"another server":      {[]edit{{"servers 0 url", "https://elsewhere.example/v1/"}}, nil},
		"a server at its top": {[]edit{{"servers 0 url", "/"}}, nil},

		// Parameters and bodies.
		"a parameter is gone":             {[]edit{{orders + " parameters", nil}}, []string{"breaking: POST /orders header Idempotency-Key: parameter removed"}},
		"a header in other letters":       {[]edit{{"components parameters IdempotencyKey name", "idempotency-key"}}, nil},
		"a new optional parameter":        {[]edit{{markets + " parameters", j(`[{"in": "query", "name": "page"}]`)}}, []string{"GET /sandbox/markets query page: optional parameter added"}},
		"a new required parameter":        {[]edit{{markets + " parameters", j(`[{"in": "query", "name": "page", "required": true}]`)}}, []string{"breaking: GET /sandbox/markets query page: required parameter added"}},
		"a parameter of the path for all": {[]edit{{"paths /sandbox/markets parameters", j(`[{"in": "query", "name": "page", "required": true}]`)}}, []string{"breaking: GET /sandbox/markets query page: required parameter added"}},
		"a parameter is required":         {[]edit{{"components parameters Symbol required", true}}, []string{"breaking: GET /sandbox/prices query symbol: required, was optional"}},
		"a shorter key": {[]edit{{orders + " parameters 0", j(`{"in": "header", "name": "Idempotency-Key", "schema": {"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[!-~]+$"}}`)}},
			[]string{"breaking: POST /orders header Idempotency-Key: maxLength is 64, was 255"}},
		"a body where none was":  {[]edit{{"paths /sandbox/reset post requestBody", j(`{"required": true}`)}}, []string{"breaking: POST /sandbox/reset request body: required body added"}},
		"an optional body":       {[]edit{{"paths /sandbox/reset post requestBody", j(`{}`)}}, []string{"POST /sandbox/reset request body: optional body added"}},
		"no body any more":       {[]edit{{orders + " requestBody", nil}}, []string{"breaking: POST /orders request body: body removed"}},
		"a body that is no JSON": {[]edit{{orders + " requestBody content", j(`{"text/plain": {}}`)}}, []string{"breaking: POST /orders request body: no longer JSON"}},
		"JSON with a charset":    {[]edit{{orders + " requestBody content", j(`{"application/json; charset=utf-8": {"schema": {"$ref": "#/components/schemas/OrderRequest"}}}`)}}, nil},

		// Requests.
		"a request member is gone":      {[]edit{{order + " properties reduceOnly", nil}}, []string{"breaking: OrderRequest.reduceOnly in requests: member removed (POST /orders)"}},
		"an optional request member":    {[]edit{{order + " properties note", j(`{}`)}}, []string{"OrderRequest.note in requests: optional member added (POST /orders)"}},
		"a required request member":     {[]edit{{order + " properties note", j(`{}`)}, {order + " required +", "note"}}, []string{"breaking: OrderRequest.note in requests: required member added (POST /orders)"}},
		"a request member is required":  {[]edit{{order + " required +", "expectedPrice"}}, []string{"breaking: OrderRequest.expectedPrice in requests: required, was optional (POST /orders)"}},
		"a request member is optional":  {[]edit{{order + " required 0", nil}}, []string{"OrderRequest.accountId in requests: optional, was required (POST /orders)"}},
		"another type in a request":     {[]edit{{order + " properties size type", "string"}}, []string{"breaking: OrderRequest.size in requests: type is string, was number (POST /orders)"}},
		"whole numbers only":            {[]edit{{order + " properties size type", "integer"}}, []string{"breaking: OrderRequest.size in requests: type is integer, was number (POST /orders)"}},
		"a narrower range in a request": {[]edit{{order + " properties maxSlippagePct maximum", j(`10`)}}, []string{"breaking: OrderRequest.maxSlippagePct in requests: maximum is 10, was 30 (POST /orders)"}},
		"a wider range in a request":    {[]edit{{order + " properties maxSlippagePct minimum", j(`0.01`)}}, []string{"OrderRequest.maxSlippagePct in requests: minimum is 0.01, was 0.1 (POST /orders)"}},
		"a range in other digits":       {[]edit{{order + " properties maxSlippagePct maximum", j(`30.0`)}}, nil},
		"a range beyond arithmetic":     {[]edit{{order + " properties maxSlippagePct maximum", j(`1e999999999`)}}, []string{"breaking: OrderRequest.maxSlippagePct in requests: maximum is 1e999999999, was 30 (POST /orders)"}},
		"a bound is gone":               {[]edit{{order + " properties maxSlippagePct maximum", nil}}, []string{"OrderRequest.maxSlippagePct in requests: maximum is none, was 30 (POST /orders)"}},
		"a new bound":                   {[]edit{{order + " properties leverage maximum", j(`5`)}}, []string{"breaking: OrderRequest.leverage in requests: maximum is 5, was none (POST /orders)"}},
		"zero is taken":                 {[]edit{{order + " properties size exclusiveMinimum", nil}}, []string{"OrderRequest.size in requests: exclusiveMinimum is false, was true (POST /orders)"}},
		"a value is refused":            {[]edit{{"components schemas OrderType enum 1", nil}}, []string{`breaking: OrderType in requests: value "limit" removed (POST /orders and 7 more)`}},
		"a value is taken":              {[]edit{{"components schemas OrderType enum +", "stop"}}, []string{`OrderType in requests: value "stop" added (POST /orders and 7 more)`}},
		"another default":               {[]edit{{"components schemas OrderType default", "limit"}}, []string{"breaking: OrderType in requests: default is limit, was market (POST /orders and 7 more)"}},
		"values are closed":             {[]edit{{order + " properties symbol enum", j(`["BTC"]`)}}, []string{"breaking: OrderRequest.symbol in requests: no other values than those listed (POST /orders)"}},
		"null is taken":                 {[]edit{{order + " properties stopLossPrice nullable", true}}, []string{"OrderRequest.stopLossPrice in requests: may be null (POST /orders)"}},
		"null is refused":               {[]edit{{"components schemas TPSLRequest properties stopLossPrice nullable", nil}}, []string{"breaking: TPSLRequest.stopLossPrice in requests: no longer null (POST /positions/tpsl)"}},

		// Answers.
		"an answer of success is gone": {[]edit{{orders + " responses 200", nil}}, []string{"breaking: POST /orders 200: answer removed"}},
		"another success":              {[]edit{{orders + " responses 202", j(`{}`)}}, []string{"breaking: POST /orders 202: answer added"}},
		"another refusal":              {[]edit{{orders + " responses 418", j(`{}`)}}, []string{"POST /orders 418: answer added"}},
		"a header is gone":             {[]edit{{orders + " responses 200 headers", nil}}, []string{"breaking: POST /orders 200 header Idempotent-Replayed: header removed"}},
		"a new header":                 {[]edit{{orders + " responses 200 headers X-Trace", j(`{}`)}}, []string{"POST /orders 200 header X-Trace: header added"}},
		"an answer that is no JSON":    {[]edit{{orders + " responses 200 content", j(`{"text/html": {}}`)}}, []string{"breaking: POST /orders 200: no longer JSON"}},
		"a member of an answer is gone": {[]edit{{position + " properties leverage", nil}}, []string{
			"breaking: LivePosition.leverage in answers: member removed (GET /positions and 2 more)",
		}},
		"a new member of an answer":     {[]edit{{position + " properties note", j(`{}`)}, {position + " required +", "note"}}, []string{"LivePosition.note in answers: required member added (GET /positions and 2 more)"}},
		"a member may be left out":      {[]edit{{position + " required 3", nil}}, []string{"breaking: LivePosition.entryPrice in answers: optional, was required (GET /positions and 2 more)"}},
		"a member is always there":      {[]edit{{position + " required +", "leverage"}}, []string{"LivePosition.leverage in answers: required, was optional (GET /positions and 2 more)"}},
		"a member may be null":          {[]edit{{position + " properties entryPrice nullable", true}}, []string{"breaking: LivePosition.entryPrice in answers: may be null (GET /positions and 2 more)"}},
		"a mark is never null":          {[]edit{{position + " properties markPrice nullable", nil}}, []string{"LivePosition.markPrice in answers: no longer null (GET /positions and 2 more)"}},
		"another type in an answer":     {[]edit{{position + " properties size type", "string"}}, []string{"breaking: LivePosition.size in answers: type is string, was number (GET /positions and 2 more)"}},
		"whole numbers are answered":    {[]edit{{position + " properties leverage type", "integer"}}, []string{"LivePosition.leverage in answers: type is integer, was number (GET /positions and 2 more)"}},
		"any type in an answer":         {[]edit{{position + " properties leverage type", nil}}, []string{"breaking: LivePosition.leverage in answers: type is none, was number (GET /positions and 2 more)"}},
		"a known value of an answer":    {[]edit{{position + " properties side x-known-values +", "flat"}}, []string{`LivePosition.side in answers: value "flat" added (GET /positions and 2 more)`}},
		"a value that never comes":      {[]edit{{position + " properties side x-known-values 1", nil}}, []string{`breaking: LivePosition.side in answers: value "short" removed (GET /positions and 2 more)`}},
		"known values are not told":     {[]edit{{position + " properties side x-known-values", nil}}, nil},
		"another constant":              {[]edit{{"components schemas OrderResponse properties success x-const", false}}, []string{"breaking: OrderResponse.success in answers: always false, was true (POST /orders)"}},
		"another format":                {[]edit{{"components schemas Health properties asOf format", "int32"}}, []string{"breaking: Health.asOf in answers: format is int32, was int64 (GET /health)"}},
		"an alternative of an answer":   {[]edit{{"components schemas SandboxPricesResponse oneOf +", j(`{"type": "string"}`)}}, []string{"breaking: SandboxPricesResponse, alternative 1 in answers: added (GET /sandbox/prices)"}},
		"one alternative less":          {[]edit{{"components schemas SandboxPricesResponse oneOf 1", nil}}, []string{"SandboxPricesResponse, alternative 1 in answers: removed (GET /sandbox/prices)"}},
		"alternatives in another order": {[]edit{{"components schemas SandboxPricesResponse oneOf", j(`[{"$ref": "#/components/schemas/SandboxPriceMap"}, {"$ref": "#/components/schemas/SandboxPrice"}]`)}}, nil},
		"no alternatives":               {[]edit{{"components schemas SandboxPricesResponse oneOf", nil}}, []string{"breaking: SandboxPricesResponse in answers: oneOf: 0 alternatives, were 2 (GET /sandbox/prices)"}},
		"below an alternative":          {[]edit{{"components schemas SandboxPrice properties price", nil}}, []string{"breaking: SandboxPrice.price in answers: member removed (GET /sandbox/prices)"}},
		"a map of other values":         {[]edit{{"components schemas SandboxPriceMap properties prices additionalProperties type", "string"}}, []string{"breaking: SandboxPriceMap.prices{} in answers: type is string, was number (GET /sandbox/prices)"}},
		"a map of anything":             {[]edit{{"components schemas SandboxPriceMap properties prices additionalProperties", true}}, []string{"breaking: SandboxPriceMap.prices in answers: members of any name may hold anything (GET /sandbox/prices)"}},
		"a map of nothing":              {[]edit{{"components schemas SandboxPriceMap properties prices additionalProperties", false}}, []string{"breaking: SandboxPriceMap.prices in answers: members of any name removed (GET /sandbox/prices)"}},
		"an answer of closed members":   {[]edit{{"components schemas Health additionalProperties", false}}, []string{"Health in answers: no other members than those named (GET /health)"}},
		"a keyword nobody understands":  {[]edit{{order + " not", j(`{"type": "string"}`)}}, []string{"breaking: OrderRequest in requests: keyword not changed, which this comparison does not understand (POST /orders)"}},
		"null beside an allOf":          {[]edit{{"components schemas OrderResponse properties position", j(`{"nullable": true, "allOf": [{"$ref": "#/components/schemas/LivePosition"}]}`)}}, nil},
		"through an allOf":              {[]edit{{"components schemas OrderResponse properties position", j(`{"allOf": [{"$ref": "#/components/schemas/LivePosition"}]}`)}}, []string{"OrderResponse.position in answers: no longer null (POST /orders)"}},
		"an allOf written out":          {[]edit{{"components schemas OrderResponse properties position", j(`{"nullable": true, "allOf": [{"$ref": "#/components/schemas/LivePosition"}, {"required": ["leverage"]}]}`)}}, []string{"LivePosition.leverage in answers: required, was optional (POST /orders)"}},
		"a component by another name": {[]edit{
			{"components schemas Order", j(`{"allOf": [{"$ref": "#/components/schemas/OrderRequest"}]}`)},
			{orders + " requestBody content application/json schema $ref", "#/components/schemas/Order"},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := contract.Compare(edited(t, test.edits...))
			require.NoError(t, err)
			assert.Equal(t, test.want, lines(changes))
		})
	}
}

func TestTheSame(t *testing.T) {
	var shuffled bytes.Buffer
	require.NoError(t, json.Indent(&shuffled, edited(t), "", "\t"))
	for _, text := range [][]byte{contract.Description(), edited(t), shuffled.Bytes()} {
		changes, err := contract.Compare(text)
		require.NoError(t, err)
		assert.Empty(t, changes)
	}
}

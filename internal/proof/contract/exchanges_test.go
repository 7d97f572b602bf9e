package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/stretchr/testify/require"
)

// written is every exchange, those that are not on file too: package exchange writes
// them into a folder.
var written = sync.OnceValues(func() (map[string]exchange, error) {
	folder, err := os.MkdirTemp("", "exchanges")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	cmd := exec.Command("go", "test", "./exchange", "-run", "^TestRecorded$", "-count", "1", "-into", folder)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return readExchanges(folder)
})

// exchange is a recorded exchange, as far as the contract has a say in it. It is
// read here by itself: what records and replays the files is not asked.
type exchange struct {
	Operation string
	Changed   string
	Request   struct {
		Method, Path, Query string
		Header              map[string]string
		Body                json.RawMessage
		Text                string
	}
	Response struct {
		Status int
		Header map[string]string
		Body   json.RawMessage
		Text   string
	}
}

func exchanges(t *testing.T) map[string]exchange {
	t.Helper()
	all, err := written()
	require.NoError(t, err)
	return maps.Clone(all)
}

func readExchanges(folder string) (map[string]exchange, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no exchange was found: %w", err)
	}
	all := map[string]exchange{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var e exchange
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)] = e
	}
	return all, nil
}

// Every exchange is one of the contract's: its request, unless it was
// spoiled on purpose, its answer, and the headers of both.
func TestExchanges(t *testing.T) {
	ops := operations(t)
	for name, e := range exchanges(t) {
		op, ok := ops[e.Operation]
		if !ok {
			t.Errorf("%s: no operation %q", name, e.Operation)
			continue
		}
		for _, problem := range e.problems(op) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// problems are where an exchange leaves the contract.
func (e *exchange) problems(op operation) []string {
	return slices.Concat(e.requestProblems(op), e.sentHeaderProblems(op), e.responseProblems(op), e.headerProblems(op))
}

func (e *exchange) requestProblems(op operation) (problems []string) {
	if e.Request.Method != op.method {
		problems = append(problems, "the method is "+e.Request.Method)
	}
	if !matches(op.path, e.Request.Path) {
		problems = append(problems, "the path is "+e.Request.Path)
	}
	for _, p := range op.Parameters {
		value := e.Request.Header[p.Value.Name]
		if p.Value.In == "query" {
			_, value, _ = strings.Cut(e.Request.Query, p.Value.Name+"=")
		}
		if p.Value.In == "path" || e.Changed == p.Value.In {
			continue
		}
		if p.Value.Required && value == "" {
			problems = append(problems, p.Value.Name+" is missing")
		}
		if value != "" && p.Value.Schema != nil {
			if err := p.Value.Schema.Value.VisitJSON(value); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", p.Value.Name, err))
			}
		}
	}
	hasBody := e.Request.Body != nil || e.Request.Text != ""
	if hasBody != (op.RequestBody != nil) {
		return append(problems, fmt.Sprintf("has a body: %t", hasBody))
	}
	if hasBody && e.Changed != "body" {
		schema := op.RequestBody.Value.Content["application/json"].Schema.Value
		problems = append(problems, instance("the request", schema, e.Request.Body)...)
		problems = append(problems, unknownMembers(schema, e.Request.Body)...)
	}
	return problems
}

// matches tells whether a path is one of a template.
func matches(template, path string) bool {
	parts := strings.Split(path, "/")
	for i, part := range strings.Split(template, "/") {
		if i >= len(parts) || part != parts[i] && !strings.HasPrefix(part, "{") {
			return false
		}
	}
	return len(parts) == strings.Count(template, "/")+1
}

// unknownMembers are those of a request that the contract does not have: what the
// client sends is closed.
func unknownMembers(schema *openapi3.Schema, body []byte) (problems []string) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return []string{err.Error()}
	}
	properties := whole(schema).Properties
	for _, name := range sorted(members) {
		if properties[name] == nil {
			problems = append(problems, "the request has an unknown member "+name)
		}
	}
	return problems
}

// response is what the contract says of a status.
func (o operation) response(status int) *openapi3.Response {
	for _, key := range []string{strconv.Itoa(status), fmt.Sprintf("%dXX", status/100)} {
		if r := o.Responses.Value(key); r != nil {
			return r.Value
		}
	}
	return nil
}

func (e *exchange) responseProblems(op operation) []string {
	r := op.response(e.Response.Status)
	if r == nil {
		return []string{fmt.Sprintf("status %d is not documented", e.Response.Status)}
	}
	problems := instance("the answer", r.Content["application/json"].Schema.Value, e.Response.Body)
	var refusal struct{ Error string }
	if json.Unmarshal(e.Response.Body, &refusal) == nil && refusal.Error != "" && !op.documents(refusal.Error, e.Response.Status) {
		problems = append(problems, fmt.Sprintf("%d %s is not documented", e.Response.Status, refusal.Error))
	}
	return problems
}

// documents tells whether an operation documents a code under a status, or under
// a range that the status is in.
func (o operation) documents(code string, status int) bool {
	return o.has(code, status) || slices.ContainsFunc(o.codes, func(c errorCode) bool {
		return c.Code == code && c.StatusRange == fmt.Sprintf("%dXX", status/100)
	})
}

func (e *exchange) headerProblems(op operation) (problems []string) {
	r := op.response(e.Response.Status)
	if r == nil {
		return nil
	}
	for name, header := range r.Headers {
		if _, ok := e.Response.Header[name]; !ok && header.Value.Required {
			problems = append(problems, "header "+name+" is missing")
		}
	}
	for name, value := range e.Response.Header {
		if name == "Content-Type" {
			if value != "application/json" {
				problems = append(problems, "the answer is "+value)
			}
			continue
		}
		header := r.Headers[name]
		if header == nil {
			problems = append(problems, "header "+name+" is not documented")
			continue
		}
		if err := header.Value.Schema.Value.VisitJSON(parameter(value)); err != nil {
			problems = append(problems, fmt.Sprintf("header %s: %v", name, err))
		}
	}
	return problems
}

// sentHeaderProblems are those of the request's headers: the one key, the type of
// a body, and nothing that the contract does not know.
func (e *exchange) sentHeaderProblems(op operation) (problems []string) {
	known := []string{"Accept", "X-API-Key"}
	want := map[string]string{"Accept": "application/json"}
	if op.RequestBody != nil {
		known = append(known, "Content-Type")
		want["Content-Type"] = "application/json"
	}
	for _, p := range op.Parameters {
		if p.Value.In == "header" {
			known = append(known, p.Value.Name)
		}
	}
	for _, name := range sorted(e.Request.Header) {
		if !slices.Contains(known, name) {
			problems = append(problems, "the request has the header "+name)
		}
	}
	for _, name := range sorted(want) {
		if e.Request.Header[name] != want[name] {
			problems = append(problems, fmt.Sprintf("%s of the request is %q", name, e.Request.Header[name]))
		}
	}
	key, sent := e.Request.Header["X-API-Key"]
	if e.Changed != "header" && (sent != (op.key != "none") || sent && op.key != "any" && !strings.HasPrefix(key, "pk_"+op.key+"_")) {
		problems = append(problems, fmt.Sprintf("the key is %q, and the operation takes %s", key, op.key))
	}
	return problems
}

// parameter is the value of a header as JSON.
func parameter(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return float64(n)
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}

// instance holds a body against its schema, formats included.
func instance(what string, schema *openapi3.Schema, body []byte) []string {
	d := json.NewDecoder(bytes.NewReader(body))
	var value any
	if err := d.Decode(&value); err != nil {
		return []string{fmt.Sprintf("%s is no JSON: %v", what, err)}
	}
	if err := schema.VisitJSON(value, openapi3.EnableFormatValidation(), openapi3.MultiErrors()); err != nil {
		return []string{fmt.Sprintf("%s: %v", what, err)}
	}
	return nil
}

// A check that cannot say no would prove nothing.
func TestExchangesCanFail(t *testing.T) {
	op, all := operations(t)["placeOrder"], exchanges(t)
	for what, row := range map[string]struct {
		file   string
		change func(*exchange)
	}{
		"another path":       {"200-opened", func(e *exchange) { e.Request.Path = "/orders/limit" }},
		"a path too short":   {"200-opened", func(e *exchange) { e.Request.Path = "" }},
		"a path too long":    {"200-opened", func(e *exchange) { e.Request.Path = "/orders/" }},
		"another method":     {"200-opened", func(e *exchange) { e.Request.Method = "PUT" }},
		"no body":            {"200-opened", func(e *exchange) { e.Request.Body = nil }},
		"a required field":   {"200-opened", func(e *exchange) { e.Request.Body = json.RawMessage(`{"accountId":"a"}`) }},
		"an unknown field":   {"200-opened", func(e *exchange) { e.Request.Body = bytes.Replace(e.Request.Body, []byte("{"), []byte(`{"x":1,`), 1) }},
		"a quoted size":      {"200-opened", func(e *exchange) { e.Request.Body = bytes.Replace(e.Request.Body, []byte("0.05"), []byte(`"0.05"`), 1) }},
		"the other key":      {"200-opened", func(e *exchange) { e.Request.Header["X-API-Key"] = "pk_test_[redacted]" }},
		"no key":             {"200-opened", func(e *exchange) { delete(e.Request.Header, "X-API-Key") }},
		"a body's type":      {"200-opened", func(e *exchange) { e.Request.Header["Content-Type"] = "text/plain" }},
		"a foreign header":   {"200-opened", func(e *exchange) { e.Request.Header["Authorization"] = "Bearer x" }},
		"an idempotency key": {"200-opened", func(e *exchange) { e.Request.Header["Idempotency-Key"] = "a b" }},
		"a result's type": {"200-opened", func(e *exchange) {
			e.Response.Body = bytes.Replace(e.Response.Body, []byte("99998.56"), []byte(`"99998.56"`), 1)
		}},
		"a member missing":  {"200-opened", func(e *exchange) { e.Response.Body = json.RawMessage(`{"success":true}`) }},
		"an unknown status": {"200-opened", func(e *exchange) { e.Response.Status = 201 }},
		"an unknown header": {"200-opened", func(e *exchange) { e.Response.Header["Retry-After"] = "1" }},
		"a page":            {"200-opened", func(e *exchange) { e.Response.Header["Content-Type"] = "text/html" }},
		"an unknown code":   {"403-market_paused", func(e *exchange) { e.Response.Body = json.RawMessage(`{"error":"paused","message":"x"}`) }},
		"a code elsewhere":  {"403-market_paused", func(e *exchange) { e.Response.Status = 409 }},
		"no Retry-After":    {"429-rate_limited", func(e *exchange) { delete(e.Response.Header, "Retry-After") }},
		"a limit in words":  {"429-rate_limited", func(e *exchange) { e.Response.Header["X-RateLimit-Limit"] = "many" }},
	} {
		e, ok := all["placeOrder/"+row.file+".json"]
		require.True(t, ok, "%s is not recorded", row.file)
		if problems := e.problems(op); len(problems) > 0 {
			t.Fatalf("%s: %q", row.file, problems)
		}
		e.Request.Header, e.Response.Header = maps.Clone(e.Request.Header), maps.Clone(e.Response.Header)
		row.change(&e)
		if len(e.problems(op)) == 0 {
			t.Errorf("%s is not seen", what)
		}
	}
}

// nullless are the members that may be null and are null in no exchange, with the
// reason.
var nullless = map[string]string{
	"OrderResponse.position.markPrice":            "an order fills at a mark, so its market has one in the answer",
	"OrderResponse.position.unrealizedPnL":        "an order fills at a mark, so its market has one in the answer",
	"SandboxOrderResponse.position.markPrice":     "an order fills at a mark, so its market has one in the answer",
	"SandboxOrderResponse.position.unrealizedPnL": "an order fills at a mark, so its market has one in the answer",
	"SandboxCloseResponse.position.markPrice":     "a close fills at a mark, so its market has one in the answer",
	"SandboxCloseResponse.position.unrealizedPnL": "a close fills at a mark, so its market has one in the answer",
	"SandboxTPSLRequest.closePct":                 "the client sends 100 percent instead, which says the same",
}

// Every member that the contract lets be null is null in an exchange, in requests and in
// successes. Operations of one schema are read and written by the same code.
func TestEveryNullIsRecorded(t *testing.T) {
	found, all := map[string]bool{}, operations(t)
	content := func(op operation) (request, answer openapi3.Content) {
		if op.RequestBody != nil {
			request = op.RequestBody.Value.Content
		}
		return request, op.Responses.Value("200").Value.Content
	}
	for _, e := range exchanges(t) {
		if op := all[e.Operation]; op.Operation != nil && e.Response.Status == 200 {
			request, answer := content(op)
			nulls(e.Response.Body, schemaName(answer), found)
			nulls(e.Request.Body, schemaName(request), found)
		}
	}
	seen := map[string]bool{}
	for _, op := range all {
		request, answer := content(op)
		for _, c := range []openapi3.Content{request, answer} {
			if name := schemaName(c); name != "" && !seen[name] {
				seen[name] = true
				for _, path := range nullable(c["application/json"].Schema.Value, name, nil) {
					if _, excused := nullless[path]; found[path] == excused {
						t.Errorf("%s: null in an exchange %t, excused %t: add a case to cases_test.go of internal/proof/exchange", path, found[path], excused)
					}
				}
			}
		}
	}
}

// nullable adds the paths of members that may be null.
func nullable(schema *openapi3.Schema, path string, to []string) []string {
	for _, part := range slices.Concat(schema.AllOf, schema.OneOf, schema.AnyOf) {
		to = nullable(part.Value, path, to)
	}
	if schema.Items != nil {
		to = nullable(schema.Items.Value, path, to)
	}
	for _, name := range sorted(schema.Properties) {
		member := schema.Properties[name].Value
		if member.Nullable {
			to = append(to, path+"."+name)
		}
		to = nullable(member, path+"."+name, to)
	}
	return to
}

// nulls notes the paths of members that are null.
func nulls(body []byte, path string, found map[string]bool) {
	var tree any
	if json.Unmarshal(body, &tree) != nil {
		return
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case nil:
			found[path] = true
		case []any:
			for _, element := range v {
				walk(path, element)
			}
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		}
	}
	walk(path, tree)
}

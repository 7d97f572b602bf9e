package exchange_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

const rootPath = "github.com/tradingapi/trading-go"

// notOperations take a context and stand for no operation of their own: one for all, or they find
// out what became of a write by several, or ask the client itself.
var notOperations = []string{"Client.RateLimitUsage", "Client.Recover", "Client.Acknowledge", "Client.DeclareExclusive", "Client.Pending", "Account.Pending", "Sandbox.Pending", "Client.Resolve", "Client.ResolveID",
	"Client.ClientOrder", "Client.ForgetClientOrderID", "Client.ForgetKey", "Client.Do", "Account.Resolve", "Sandbox.Resolve"}

// methodCall is a public method that stands for an operation, as the table of operations calls it.
type methodCall struct {
	name   string // as "Account.PlaceOrder"
	sent   string // what it sends: method and path
	header http.Header
	body   string
	call   func(context.Context, *trading.Client) error
}

// methodCalls are those of all operations, and the second way to ask for prices.
func methodCalls(t *testing.T) []methodCall {
	t.Helper()
	w := &world{t: t, account: "acc_1", order: "o_1", run: "r_1"}
	all := operations()
	all = append(all, &operation{id: "getPrices, all", call: func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		return result(c.Sandbox.Prices(ctx, opts...))
	}}, &operation{id: "openapi.json", call: func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		return result(c.OpenAPI(ctx))
	}})
	calls := make([]methodCall, len(all))
	for i, o := range all {
		var r recorder
		client, err := trading.New("https://api.example.test/v1",
			trading.WithSandboxKey("pk_test_x"), trading.WithLiveKey("pk_live_x"),
			trading.WithTransport(&r), trading.WithHealthGate(trading.HealthGate{Off: true}))
		require.NoError(t, err)
		call := func(ctx context.Context, c *trading.Client) error { _, err := o.call(ctx, w, c); return err }
		require.ErrorIs(t, call(t.Context(), client), trading.CodeBadRequest, o.id)
		require.Len(t, r.sent, 1, o.id)
		calls[i] = methodCall{r.methods[0], r.sent[0], r.headers[0], r.bodies[0], call}
	}
	return calls
}

// An account's id cannot turn one read into another, whatever is in it.
func TestAnAccountIsEscaped(t *testing.T) {
	for _, o := range operations() {
		if !o.live() || o.write || o.id == "listAccounts" {
			continue
		}
		var r recorder
		client, err := trading.New("https://api.example.test/v1", trading.WithLiveKey("pk_live_x"), trading.WithTransport(&r))
		require.NoError(t, err)
		_, err = o.call(t.Context(), &world{t: t, account: "a/b?c"}, client)
		require.ErrorIs(t, err, trading.CodeBadRequest, o.id)
		want := strings.Replace("/v1"+o.path, "{accountId}", "a%2Fb%3Fc", 1)
		if want == "/v1"+o.path {
			want += "?accountId=a%2Fb%3Fc"
		}
		assert.Equal(t, []string{want}, r.targets, "%s: its method aims the call at the account", o.id)
	}
}

// twoMethods is the one operation with two: a query decides which it is.
const twoMethods = "GET /sandbox/prices"

// recorder notes which requests go out, and of which public method, and refuses them all.
type recorder struct {
	sent, methods, targets, bodies []string
	headers                        []http.Header
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent = append(r.sent, req.Method+" "+strings.TrimPrefix(req.URL.Path, "/v1"))
	r.methods = append(r.methods, publicMethod())
	r.targets = append(r.targets, req.URL.RequestURI())
	r.headers = append(r.headers, req.Header)
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.bodies = append(r.bodies, string(body))
	return &http.Response{StatusCode: 400, Header: http.Header{}, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(`{"error":"bad_request","message":"recorded"}`))}, nil
}

// Each operation of the contract has exactly one method, and each method that
// sends is one operation. T104: so the sandbox has none that only a live account
// has. T105: the operations are those of the pinned description.
func TestEveryOperationHasOneMethod(t *testing.T) {
	byMethod := map[string][]string{} // operation to methods
	calls := methodCalls(t)
	for _, c := range calls {
		operation := templateOf(c.sent)
		byMethod[operation] = append(byMethod[operation], c.name)
	}

	known := map[string]bool{}
	for _, op := range spec.Endpoints() {
		known[string(op.Name)] = true
	}
	for operation := range known {
		names, want := byMethod[operation], 1
		if operation == twoMethods {
			want = 2
		}
		assert.Len(t, names, want, "%s: %v: its public method has one row in operations_test.go", operation, names)
	}
	for operation, names := range byMethod {
		assert.True(t, known[operation], "%v sends %s, which the contract does not have", names, operation)
	}

	for _, name := range sendingMethods(reflect.TypeFor[*trading.Client](), map[reflect.Type]bool{}) {
		if !slices.Contains(notOperations, name) {
			isCalled := func(c methodCall) bool { return c.name == name }
			assert.True(t, slices.ContainsFunc(calls, isCalled), "%s takes a context: give its operation a row", name)
		}
	}
}

// Each write has a command and a line in the glossary, or an excuse.
func TestEachWriteHasACommandAndALineInTheGlossary(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	glossary, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	require.NoError(t, err)
	var commands strings.Builder
	files, err := filepath.Glob(filepath.Join(root, "cmd", "trading", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			commands.Write(text)
		}
	}
	excuses := maps.Clone(withoutCommand)
	for _, c := range methodCalls(t) {
		if !strings.HasPrefix(c.sent, http.MethodPost) {
			continue
		}
		delete(excuses, c.name)
		_, method, _ := strings.Cut(c.name, ".")
		words := strings.Contains(string(glossary), method) || strings.Contains(string(glossary), strings.TrimPrefix(method, "Place")+"{")
		assert.True(t, words, "docs/glossary.md has no line with %s, which sends %s", method, c.sent)
		_, excused := withoutCommand[c.name]
		called := regexp.MustCompile(`\.` + method + `\b`).MatchString(commands.String())
		assert.NotEqual(t, called, excused, "%s: cmd/trading calls it: %t; excused by withoutCommand in operations_test.go: %t", c.name, called, excused)
	}
	assert.Empty(t, excuses, "withoutCommand in operations_test.go excuses what is no write")
}

// publicMethod names the outermost method of the package on the stack, as "Account.PlaceOrder".
func publicMethod() (name string) {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		if method, ok := strings.CutPrefix(frame.Function, rootPath+".(*"); ok {
			name = strings.Replace(method, ").", ".", 1)
		}
		if !more {
			return name
		}
	}
}

// templateOf finds the contract's path for a path with values in it.
func templateOf(sent string) string {
	for _, op := range spec.Endpoints() {
		template := string(op.Name)
		want, got := strings.Split(template, "/"), strings.Split(sent, "/")
		if slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") }) {
			return template
		}
	}
	return sent
}

// sendingMethods names the methods that take a context: of a handle, and of the
// handles that its fields and methods lead to.
func sendingMethods(handle reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if handle.Kind() == reflect.Struct {
		handle = reflect.PointerTo(handle)
	}
	if handle.Kind() != reflect.Pointer || handle.Elem().PkgPath() != rootPath || seen[handle] {
		return nil
	}
	seen[handle] = true
	inherited := map[string]bool{} // from what is embedded
	if of := handle.Elem(); of.Kind() == reflect.Struct {
		for i := range of.NumField() {
			field := of.Field(i)
			if field.IsExported() {
				names = append(names, sendingMethods(field.Type, seen)...)
			}
			for m := range field.Type.NumMethod() {
				inherited[field.Type.Method(m).Name] = inherited[field.Type.Method(m).Name] || field.Anonymous
			}
		}
	}
	for i := range handle.NumMethod() {
		method := handle.Method(i)
		takesContext := method.Type.NumIn() > 1 && method.Type.In(1) == reflect.TypeFor[context.Context]()
		switch {
		case inherited[method.Name]:
		case takesContext:
			names = append(names, handle.Elem().Name()+"."+method.Name)
		default:
			for out := range method.Type.NumOut() {
				names = append(names, sendingMethods(method.Type.Out(out), seen)...)
			}
		}
	}
	return names
}

// Each request has the headers of its kind and no other. T17: every live write goes under a key,
// nothing else does, and no two calls share one. T48: what needs no API key has none.
func TestHeadersOfEveryOperation(t *testing.T) {
	keys := map[string]bool{}
	for _, c := range append(methodCalls(t), methodCalls(t)...) {
		want := []string{"Accept", "User-Agent"}
		assert.Regexp(t, `^trading-go/\d+\.\d+\.\d+ `, c.header.Get("User-Agent"), c.name)
		keyless := c.name == "Client.Health" || c.name == "Client.OpenAPI"
		if !keyless {
			want = append(want, "X-Api-Key")
		}
		if c.body != "" {
			want = append(want, "Content-Type")
			assert.Equal(t, "application/json", c.header.Get("Content-Type"), c.name)
		}
		if strings.HasPrefix(c.sent, "GET ") && !keyless {
			want = append(want, "Cache-Control")
			assert.Equal(t, "no-cache", c.header.Get("Cache-Control"), c.name)
		}
		if strings.HasPrefix(c.sent, "POST ") && !strings.HasPrefix(c.sent, "POST /sandbox/") {
			want = append(want, "idempotency-key") // T2: not Idempotency-Key, by which net/http would send a POST again by itself
			key := rig.KeyOf(c.header)
			require.Len(t, key, 1, c.name)
			assert.False(t, keys[key[0]], "a key is one intent's")
			keys[key[0]] = true
		}
		assert.ElementsMatch(t, want, rig.HeaderNames(c.header), c.name)
	}
}

// An id that would make one endpoint into another is refused before it is sent, by every method.
// An account that is not found is no flat account.
func TestTrap_T83_IDsThatNameNothing(t *testing.T) {
	r := rig.New(t, nil)
	for _, id := range []string{"", ".", ".."} {
		for _, o := range operations() {
			if !o.live() || o.id == "listAccounts" {
				continue
			}
			worlds := []*world{{t: t, account: trading.AccountID(id), order: "o_1", run: "r_1"}}
			switch o.id {
			case "cancelOrder":
				worlds = append(worlds, &world{t: t, account: "acc_1", order: trading.OrderID(id)})
			case "editRun", "cancelRun":
				worlds = append(worlds, &world{t: t, account: "acc_1", run: trading.RunID(id)})
			}
			for _, w := range worlds {
				_, err := o.call(t.Context(), w, r.Client)
				assert.True(t, rig.RefusalOf(t, err).Local, "%s of %q: %v", o.id, id, err)
				assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			}
		}
	}
	assert.Empty(t, r.Sim.Requests())
	positions, err := r.Live.Account("acc_of_somebody_else").Positions(t.Context())
	require.ErrorIs(t, err, trading.CodeAccountNotFound)
	assert.Nil(t, positions)
}

// A nil context is an error, and not a panic inside of the standard library.
func TestANilContextIsAnError(t *testing.T) {
	calls := map[string]func(context.Context, *trading.Client) error{
		"Client.Usage":   func(ctx context.Context, c *trading.Client) error { _, err := c.RateLimitUsage(ctx); return err },
		"Client.Recover": func(ctx context.Context, c *trading.Client) error { _, err := c.Recover(ctx); return err },
		"Client.Acknowledge": func(ctx context.Context, c *trading.Client) error {
			return c.Acknowledge(ctx, "i", trading.Applied, "")
		},
		"Account.Resolve": func(ctx context.Context, c *trading.Client) error {
			return rig.Only(c.Live.Account("acc_1").Resolve(ctx, errors.New("x")))
		},
		"Sandbox.Resolve": func(ctx context.Context, c *trading.Client) error {
			return rig.Only(c.Sandbox.Resolve(ctx, errors.New("x")))
		},
		"Account.SetTPSL, one level": func(ctx context.Context, c *trading.Client) error {
			return rig.Only(c.Live.Account("acc_1").SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.Clear}))
		},
	}
	for _, c := range methodCalls(t) {
		calls[c.name] = c.call
	}
	require.Greater(t, len(calls), len(notOperations)+15)
	for name, call := range calls {
		r := rig.New(t, nil)
		err := call(nil, r.Client)
		var bad *trading.OptionError
		require.ErrorAs(t, err, &bad, name)
		assert.Equal(t, "ctx", bad.Option, name)
		assert.Empty(t, r.Sim.Requests(), name)
	}
}

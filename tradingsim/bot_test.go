package tradingsim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// bot speaks raw HTTP to a simulation.
type bot struct {
	t         *testing.T
	url       string
	key       string
	transport http.RoundTripper
	// otherInterpretation is set where the contract's own shapes are not kept.
	otherInterpretation bool
}

func sandboxBot(t *testing.T, sim *tradingsim.Sim) bot {
	return bot{t: t, url: sim.URL(), key: sim.SandboxKey(), transport: sim.Transport()}
}

// paperSim is a simulation with BTC at 64000, and a bot of its paper account.
func paperSim(t *testing.T, opts ...tradingsim.Option) (*tradingsim.Sim, bot) {
	sim := tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, opts...)...)
	return sim, sandboxBot(t, sim)
}

// liveSim is the same with a bot of the live account.
func liveSim(t *testing.T, opts ...tradingsim.Option) (*tradingsim.Sim, bot) {
	sim, b := paperSim(t, opts...)
	b.key = sim.LiveKey()
	return sim, b
}

// bubble runs a test with a simulation and a bot, in virtual time.
func bubble(t *testing.T, open func(*testing.T, ...tradingsim.Option) (*tradingsim.Sim, bot), test func(*testing.T, *tradingsim.Sim, bot), opts ...tradingsim.Option) {
	synctest.Test(t, func(t *testing.T) {
		sim, b := open(t, opts...)
		test(t, sim, b)
	})
}

// refusal is a request that the service refuses.
type refusal struct {
	name   string
	path   string // behind that of the table
	body   string
	status int
	code   string
	opts   []tradingsim.Option
	before func(*tradingsim.Sim, bot)
}

// refuses sends each request to a simulation of its own, which refuses it and executes nothing.
func refuses(t *testing.T, open func(*testing.T, ...tradingsim.Option) (*tradingsim.Sim, bot), path string, rows []refusal) {
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			sim, b := open(t, c.opts...)
			if c.before != nil {
				c.before(sim, b)
			}
			executed := len(sim.Ledger())
			b.post(path+c.path, c.body).refused(c.status, c.code)
			require.Len(t, sim.Ledger(), executed)
		})
	}
}

// other is the service by another interpretation.
func other(interpretation int) []tradingsim.Option {
	return []tradingsim.Option{tradingsim.WithInterpretation(interpretation)}
}

// status is an account of some status.
func status(status string) []tradingsim.Option {
	return []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: status})}
}

func unpriced(s *tradingsim.Sim, _ bot) { s.SetMark("BTC", "") }

func market(m tradingsim.Market) func(*tradingsim.Sim, bot) {
	return func(s *tradingsim.Sim, _ bot) { s.SetMarket(m) }
}

// reading are the options of a service that takes the contract by another interpretation, or as
// it is read, which is 0.
func reading(interpretation int, more ...tradingsim.Option) []tradingsim.Option {
	if interpretation > 0 {
		more = append(more, tradingsim.WithInterpretation(interpretation))
	}
	return more
}

// got is one answer.
type got struct {
	t      *testing.T
	Status int
	Header http.Header
	Text   string
	Body   map[string]any
}

// try sends a request; headers are name, value, name, value …
func (b bot) try(method, path, body string, headers ...string) (*http.Response, error) {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, reader)
	require.NoError(b.t, err)
	if b.key != "" {
		r.Header.Set("X-API-Key", b.key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return b.transport.RoundTrip(r)
}

func (b bot) send(method, path, body string, headers ...string) got {
	b.t.Helper()
	res, err := b.try(method, path, body, headers...)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	g := got{t: b.t, Status: res.StatusCode, Header: res.Header, Text: string(text)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err == nil {
		g.Body, _ = value.(map[string]any)
	}
	b.conforms(method, path, g, value)
	return g
}

// produced is which codes the tests have seen.
var produced sync.Map

// conforms holds an answer of the service against openapi.json.
func (b bot) conforms(method, path string, g got, body any) {
	b.t.Helper()
	if !strings.Contains(g.Header.Get("Content-Type"), "json") {
		return
	}
	if code, ok := g.Body["error"].(string); ok {
		produced.Store(code, true)
	}
	path, _, _ = strings.Cut(path, "?")
	if parts := strings.Split(path, "/"); len(parts) > 2 && parts[1] == "accounts" {
		parts[2] = "{accountId}"
		path = strings.Join(parts, "/")
	}
	r, ok := theContract().find(method+" "+path, g.Status)
	if b.otherInterpretation || !ok && g.Status >= 400 {
		return
	}
	if path == "/openapi.json" {
		return
	}
	require.True(b.t, ok, "%s %s answers no %d", method, path, g.Status)
	require.NoError(b.t, theContract().check(body, r.Content["application/json"].Schema), g.Text)
}

func (b bot) get(path string) got {
	b.t.Helper()
	return b.send("GET", path, "")
}

func (b bot) post(path, body string, headers ...string) got {
	b.t.Helper()
	return b.send("POST", path, body, headers...)
}

// at walks into the body: "account.balance", "trades.0.fee".
func (g got) at(path string) any {
	g.t.Helper()
	var v any = g.Body
	for _, step := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			member, ok := in[step]
			require.True(g.t, ok, "no %s in %s", path, g.Text)
			v = member
		case []any:
			i := int(step[0] - '0')
			require.Less(g.t, i, len(in), "no %s in %s", path, g.Text)
			v = in[i]
		default:
			require.Fail(g.t, "no "+path, g.Text)
		}
	}
	return v
}

// text is a member as it was written, numbers too.
func (g got) text(path string) string {
	g.t.Helper()
	switch v := g.at(path).(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	case nil:
		return "null"
	case bool:
		if v {
			return "true"
		}
		return "false"
	default:
		require.Fail(g.t, "no scalar at "+path, g.Text)
		return ""
	}
}

func (g got) number(path string) decimal.Decimal {
	g.t.Helper()
	d, err := decimal.NewFromString(g.text(path))
	require.NoError(g.t, err)
	return d
}

func (g got) len(path string) int {
	g.t.Helper()
	list, ok := g.at(path).([]any)
	require.True(g.t, ok, g.Text)
	return len(list)
}

// ok requires a 200.
func (g got) ok() got {
	g.t.Helper()
	require.Equal(g.t, 200, g.Status, g.Text)
	return g
}

// refused requires an error body of the contract.
func (g got) refused(status int, code string) got {
	g.t.Helper()
	require.Equal(g.t, status, g.Status, g.Text)
	require.Equal(g.t, code, g.text("error"), g.Text)
	require.NotEmpty(g.t, g.text("message"))
	require.NotContains(g.t, g.Body, "ok")
	require.NotContains(g.t, g.Body, "success")
	return g
}

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

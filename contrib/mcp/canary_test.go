package mcp

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// No API key, and no passphrase, is in what the engine says or keeps: answers of tools over HTTP, the page, the
// operator's socket, errors, logs and files; also where the service says the key itself.
func TestNoKeyAnywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := newRig(t, Live, func(c *Config) {
			c.Approve, c.Logger = ApproveEntries, slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		require.NoError(t, SetPassphrase(r.config.Dir, phrase))
		time.Sleep(10 * time.Second)
		ask := func(h http.Handler, method, path, content, body string) string {
			q := httptest.NewRequest(method, "http://127.0.0.1:1"+path, strings.NewReader(body))
			q.Header = http.Header{"Content-Type": {content}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}, "Origin": {"http://127.0.0.1:1"}}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, q)
			_, _ = fmt.Fprintln(&said, w.Header(), w.Body) // in memory
			return w.Body.String()
		}
		web, page, operator := r.engine.HTTP(), r.engine.Page("127.0.0.1:1"), r.engine.Operator()
		tool := func(name string, args any) string {
			return ask(web, "POST", "/mcp", "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, mustJSON(args)))
		}
		round := func() {
			for _, one := range r.engine.tools() {
				if one.name != "flatten" && one.name != "halt" {
					tool(one.name, map[string]string{"symbol": "BTC"})
				}
			}
			for _, path := range []string{"resume", "approve", "deny", "acknowledge", "waiting"} {
				for _, guess := range []string{phrase, "wrong wrong"} {
					form := url.Values{"ticket": {"t_1"}, "outcome": {"applied"}, "passphrase": {guess}}
					ask(operator, map[bool]string{true: "GET", false: "POST"}[path == "waiting"], "/operator/"+path, "application/x-www-form-urlencoded", form.Encode())
				}
			}
			require.NoError(t, SetPassphrase(r.config.Dir, phrase))
			ask(page, "GET", "/", "", "")
		}
		round()
		w := r.ask()
		require.Contains(t, ask(page, "GET", "/approve/"+w.Ticket, "", ""), "Approve this trade?")
		keys := r.sim.LiveKey() + " " + r.sim.SandboxKey()
		header := http.Header{"Content-Type": {"application/json"}, "X-Key": {keys}, "Location": {"https://" + r.sim.LiveKey()}}
		for _, fault := range []tradingsim.Fault{
			tradingsim.Raw(400, header, fmt.Sprintf(`{"error":%q,"message":%q,"code":%q}`, keys, keys, r.sim.LiveKey())), tradingsim.Raw(401, header, keys), tradingsim.Raw(302, header, keys),
			tradingsim.Raw(200, header, fmt.Sprintf(`{"positions":[{"symbol":%q}],"accountId":%q,"status":%q,"orders":[{"id":%q}]}`, keys, r.sim.LiveKey(), keys, r.sim.LiveKey())),
			tradingsim.GatewayError(502), tradingsim.RefuseConnection(), tradingsim.DropResponse(),
		} {
			r.sim.FaultEach(func(string) tradingsim.Fault { return fault })
			round()
			_, _ = fmt.Fprintln(&said, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase))
		}
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Pass() })
		time.Sleep(time.Hour)
		other := r.config
		other.Policy = r.policy(`{"accounts":["` + keys + `"],"other":1}`)
		_, err := New(other)
		require.Error(t, err)
		_, _ = fmt.Fprintln(&said, err)
		tool("flatten", nil)
		tool("halt", nil)
		require.NotContains(t, said.String(), phrase)
		require.NoError(t, filepath.WalkDir(r.config.Dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var text []byte
				text, err = os.ReadFile(path)
				said.Write(text)
			}
			return err
		}))
		assert.Greater(t, said.Len(), 20000)
		for _, key := range []string{r.sim.LiveKey(), r.sim.SandboxKey(), "pk_"} {
			assert.NotContains(t, said.String(), key)
		}
	})
}

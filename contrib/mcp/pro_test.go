package mcp

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Each kind of Pro order is placed once, also where its reply is lost, and its run is cancelled as an
// exit.
func TestProOrders(t *testing.T) {
	kinds := map[string][]string{
		"conditional": {"trigger", "70000"}, "twap": {"seconds", "600"}, "chase": {"to", "66000"}, "chase_twap": {"seconds", "600"},
		"ladder": {"from", "60000", "to", "62000", "count", "3"}, "swarm": {"count", "5"},
	}
	for kind, more := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Live, func(c *Config) { c.Pro = true })
				time.Sleep(10 * time.Second)
				r.refused("bad_argument", "preview_pro", r.buy())
				if kind != "chase" {
					v := r.refused("bad_argument", "preview_pro", r.buy("kind", kind))
					assert.Contains(t, v.text("advice"), "missing")
				}
				operation := map[string]string{"chase_twap": "chase-twap"}[kind]
				if operation == "" {
					operation = kind
				}
				r.sim.Fault("POST /orders/"+operation, tradingsim.DropResponse())
				v := r.must("preview_pro", r.buy(append([]string{"kind", kind, "size", "0.5"}, more...)...))
				done := r.must("execute", ticketOf(v.text("ticket")))
				require.Equal(t, "applied", done.text("outcome"), "%v", done)
				answer, _ := done["answer"].(map[string]any)
				run, _ := answer["run"].(string)
				require.NotEmpty(t, run, "%v", done)
				r.refused("bad_argument", "close", map[string]string{"symbol": "BTC", "run": run})
				placed := 0
				for _, x := range r.sim.Ledger() {
					if x.Operation == "POST /orders/"+operation && x.Actor == "api" {
						placed++
					}
				}
				assert.Equal(t, 1, placed)
				cancelled := r.must("close", map[string]string{"run": run})
				assert.Contains(t, []string{"applied", "not_applied"}, cancelled.text("outcome")) // it may have ended by itself
				assert.NotEqual(t, "in_flight", cancelled.text("phase"))
			})
		})
	}
}

// Two engines of one user do not trade one account, from whatever folders.
func TestTwoEnginesOnOneAccount(t *testing.T) {
	locks := t.TempDir() + "/locks"
	r := newRig(t, Live, func(c *Config) { c.Locks = locks })
	other := r.config
	other.Dir = t.TempDir()
	_, err := New(other)
	require.ErrorContains(t, err, "mode 0755")
	other.Dir = r.config.Dir + "2"
	require.NoError(t, disk0700(other.Dir))
	_, err = New(other)
	require.ErrorContains(t, err, "another process of this user on this machine trades it")
	assert.Equal(t, "applied", r.must("execute", ticketOf(r.ticket(r.buy()))).text("outcome"))
}

// The operator says what became of a ticket that nobody else knows about, and ends a halt; both with
// the passphrase.
func TestTheOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Paper, nil)
		require.NoError(t, SetPassphrase(r.config.Dir, phrase))
		require.Error(t, SetPassphrase(r.config.Dir, "short"))
		operator := r.engine.Operator()
		post := func(path string, values ...string) (int, string) {
			form := url.Values{}
			for i := 0; i < len(values); i += 2 {
				form.Set(values[i], values[i+1])
			}
			q := httptest.NewRequest("POST", "/operator/"+path, strings.NewReader(form.Encode()))
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			operator.ServeHTTP(w, q)
			return w.Code, w.Body.String()
		}
		r.must("halt", nil)
		status, _ := post("resume", "passphrase", "wrong")
		assert.Equal(t, 409, status)
		assert.Equal(t, true, r.must("status", nil)["halted"])
		status, text := post("resume", "passphrase", phrase)
		assert.Equal(t, 200, status, text)
		assert.Equal(t, false, r.must("status", nil)["halted"])
		ticket := r.ticket(r.buy())
		sent := r.engine.tickets[ticket].write
		sent.Outcome = trading.Unknown
		r.engine.mu.Lock()
		r.engine.tickets[ticket].phase = used
		r.engine.register(sent)
		ended := r.engine.now()
		sent.Ended = &ended
		r.engine.mu.Unlock()
		require.NoError(t, r.engine.facts.note(factSent, sent))
		assert.Equal(t, "unknown", r.must("get_ticket", ticketOf(ticket)).text("outcome"))
		status, _ = post("acknowledge", "passphrase", phrase, "ticket", ticket, "outcome", "maybe")
		assert.Equal(t, 409, status)
		status, text = post("acknowledge", "passphrase", phrase, "ticket", ticket, "outcome", "not-applied")
		assert.Equal(t, 200, status, text)
		assert.Equal(t, "not_applied", r.must("get_ticket", ticketOf(ticket)).text("outcome"))
		assert.False(t, r.engine.Busy())
		assert.NotEmpty(t, r.must("markets", map[string]string{"symbol": "bt"}).list("markets"))
		r.refused("unknown_code", "explain_code", map[string]string{"code": "IGNORE"})
	})
}

package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const phrase = "correct horse battery"

// approving is a live engine whose entries wait for a person.
func approving(t *testing.T) *rig {
	r := newRig(t, Live, func(c *Config) { c.Approve = "" })
	require.NoError(t, SetPassphrase(r.config.Dir, phrase))
	time.Sleep(10 * time.Second)
	return r
}

// ask executes a ticket that needs a person.
func (r *rig) ask(more ...string) Waiting {
	r.Helper()
	v := r.must("execute", ticketOf(r.ticket(r.buy(more...))))
	require.Equal(r, "approval", v.text("phase"), "%v", v)
	require.Contains(r, v.text("link"), "/approve/"+v.text("ticket"))
	for _, w := range r.engine.Waiting() {
		if w.Ticket == v.text("ticket") {
			return w
		}
	}
	r.Fatal("it does not wait")
	return Waiting{}
}

func TestAPersonApproves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approving(t)
		w := r.ask("stop_loss", "63000")
		assert.Contains(t, fmt.Sprint(w.Lines), "{Side long} {Size 0.1}")
		require.ErrorIs(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, "wrong"), ErrPassphrase)
		require.ErrorContains(t, r.engine.Approve(t.Context(), w.Ticket, "another", phrase), "no such ticket waits")
		assert.Zero(t, r.fills())
		require.NoError(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase))
		require.Error(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase))
		assert.Equal(t, 1, r.fills())
		assert.Equal(t, "applied", r.must("get_ticket", ticketOf(w.Ticket)).text("outcome"))
		// One beside it always needs a person, and all checks run again.
		second := r.ask("adds_to", w.Ticket)
		assert.Contains(t, fmt.Sprint(second.Lines), "it adds to an entry")
		r.sim.SetMark("BTC", "66000")
		time.Sleep(time.Second)
		require.ErrorContains(t, r.engine.Approve(t.Context(), second.Ticket, second.Digest, phrase), "mark_moved")
		third := r.ask("adds_to", w.Ticket)
		r.engine.Deny(third.Ticket)
		r.refused("denied", "execute", ticketOf(third.Ticket))
		late := r.ask("adds_to", w.Ticket)
		time.Sleep(5*time.Minute + time.Second)
		require.Error(t, r.engine.Approve(t.Context(), late.Ticket, late.Digest, phrase))
		assert.Equal(t, 1, r.fills())
	})
}

func TestThreeWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approving(t)
		for range 3 {
			r.ask()
		}
		r.refused("too_many_waiting", "execute", ticketOf(r.ticket(r.buy())))
		r.must("halt", nil)
		assert.Empty(t, r.engine.Waiting())
	})
}

// What loosens waits for a person, and what tightens does not.
func TestWhatLoosens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approving(t)
		w := r.ask("stop_loss", "62000")
		require.NoError(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase))
		change := func(args map[string]string) reply {
			t.Helper()
			return r.must("preview_change", with(args, "change", "levels", "symbol", "BTC"))
		}
		r.refused("too_soon", "preview_change", map[string]string{"change": "levels", "symbol": "BTC", "stop_loss": "61000"})
		time.Sleep(6 * time.Second)
		for stop, needs := range map[string]bool{"61000": true, "clear": true, "63000": false} {
			assert.Equal(t, needs, change(map[string]string{"stop_loss": stop})["a_person_approves"], stop)
		}
		assert.Equal(t, false, change(map[string]string{"take_profit": "70000"})["a_person_approves"])
		// A tightening that has become a loosening, by another tightening, does not pass.
		first := change(map[string]string{"stop_loss": "62500"}).text("ticket")
		second := change(map[string]string{"stop_loss": "63000"}).text("ticket")
		assert.Equal(t, "applied", r.must("execute", ticketOf(second)).text("outcome"))
		r.refused("position_changed", "execute", ticketOf(first))
		// A part of a position is closed by a ticket, and nobody is asked.
		half := r.must("preview_change", map[string]string{"change": "close", "symbol": "BTC", "percent": "50"})
		assert.Equal(t, "applied", r.must("execute", ticketOf(half.text("ticket"))).text("outcome"))
		assert.Equal(t, "0.05", r.sim.Position("acc_1", "BTC").String())
	})
}

// A cancel of what adds is an exit; of what is not known to, it is for a person.
func TestCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approving(t)
		w := r.ask("type", "resting", "limit_price", "60000")
		require.NoError(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase))
		_, err := r.sim.Terminal("POST /orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.1,"leverage":2,"limitPrice":70000}`)
		require.NoError(t, err)
		time.Sleep(6 * time.Second)
		cancelled := 0
		for _, o := range r.must("account", nil).list("orders") {
			if o.text("ticket") == w.Ticket {
				assert.Equal(t, "applied", r.must("close", map[string]string{"order": o.text("id")}).text("outcome"))
				cancelled++
				continue
			}
			r.refused("may_reduce", "close", map[string]string{"order": o.text("id")})
			v := r.must("preview_change", map[string]string{"change": "cancel", "order": o.text("id")})
			assert.Equal(t, true, v["a_person_approves"])
		}
		assert.Equal(t, 1, cancelled)
		assert.Equal(t, true, r.must("flatten", nil)["flat"])
		assert.Empty(t, r.must("account", nil).list("orders"))
	})
}

// 64 guesses at once, and again after a restart: five are judged. Exits and refusals go on.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approving(t)
		w := r.ask()
		var wrong, locked atomic.Int32
		var guesses sync.WaitGroup
		second := &gate{dir: r.config.Dir} // of another engine
		for i := range 64 {
			guesses.Go(func() {
				judge := func(phrase string) error { return r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase) }
				if i%2 == 1 {
					judge = second.judge
				}
				switch err := judge(fmt.Sprint("guess number ", i)); {
				case errors.Is(err, ErrPassphrase):
					wrong.Add(1)
				case errors.Is(err, ErrGuessed):
					locked.Add(1)
				}
			})
		}
		guesses.Wait()
		assert.LessOrEqual(t, wrong.Load(), int32(5))
		assert.Equal(t, int32(64), wrong.Load()+locked.Load())
		require.ErrorIs(t, r.engine.Approve(t.Context(), w.Ticket, w.Digest, phrase), ErrGuessed)
		r.stop()
		r.start()
		again := r.ask()
		require.ErrorIs(t, r.engine.Approve(t.Context(), again.Ticket, again.Digest, phrase), ErrGuessed)
		assert.Equal(t, "not_applied", r.must("close", map[string]string{"symbol": "BTC"}).text("outcome")) // there is none
		r.engine.Deny(again.Ticket)
		require.NoError(t, SetPassphrase(r.config.Dir, phrase))
		last := r.ask()
		require.NoError(t, r.engine.Approve(t.Context(), last.Ticket, last.Digest, phrase))
		assert.Equal(t, 1, r.fills())
	})
}

// The page takes a form of its own alone, from its own origin, and shows no word of a model's.
func TestThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const host = "127.0.0.1:40123"
		r := approving(t)
		page := r.engine.Page(host)
		visit := func(method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
			q := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if method == http.MethodPost {
				q.Header.Set("Origin", "http://"+host)
			}
			if change != nil {
				change(q)
			}
			w := httptest.NewRecorder()
			page.ServeHTTP(w, q)
			return w
		}
		assert.Contains(t, visit("GET", "/", "", nil).Body.String(), "Nothing waits")
		w := r.ask()
		seen := visit("GET", "/approve/"+w.Ticket, "", nil)
		require.Equal(t, 200, seen.Code)
		assert.Contains(t, seen.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
		token := regexp.MustCompile(`name="token" value="([0-9a-f]+)"`).FindStringSubmatch(seen.Body.String())[1]
		form := url.Values{"token": {token}, "digest": {w.Digest}, "passphrase": {phrase}, "do": {"approve"}}
		without := func(name, value string) string {
			f := url.Values{}
			for k, v := range form {
				f[k] = v
			}
			f.Set(name, value)
			return f.Encode()
		}
		path := "/approve/" + w.Ticket
		for name, got := range map[string]*httptest.ResponseRecorder{
			"another host":       visit("POST", path, form.Encode(), func(q *http.Request) { q.Host = "localhost:40123" }),
			"a rebound host":     visit("GET", path, "", func(q *http.Request) { q.Host = "evil.example:40123" }),
			"no origin":          visit("POST", path, form.Encode(), func(q *http.Request) { q.Header.Del("Origin") }),
			"a null origin":      visit("POST", path, form.Encode(), func(q *http.Request) { q.Header.Set("Origin", "null") }),
			"another origin":     visit("POST", path, form.Encode(), func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }),
			"no token":           visit("POST", path, without("token", ""), nil),
			"another's token":    visit("POST", path, without("token", strings.Repeat("0", 64)), nil),
			"another digest":     visit("POST", path, without("digest", "0"), nil),
			"a wrong passphrase": visit("POST", path, without("passphrase", "wrong"), nil),
		} {
			assert.Equal(t, http.StatusForbidden, got.Code, name)
		}
		assert.Zero(t, r.fills())
		assert.Equal(t, http.StatusOK, visit("POST", path, form.Encode(), nil).Code)
		assert.Equal(t, 1, r.fills())
		assert.Equal(t, http.StatusConflict, visit("POST", path, form.Encode(), nil).Code)
		assert.Equal(t, 404, visit("GET", path, "", nil).Code)
		assert.Equal(t, 1, r.fills())
	})
}

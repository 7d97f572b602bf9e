package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// The way of a request between the program and the service.

// leaves waits for a connection and lets the request go. From then on it may arrive.
func (p *process) leaves(req *http.Request, what string) (*http.Request, error) {
	body := req.Body
	if body == nil {
		body = http.NoBody
	}
	defer func() { _ = body.Close() }()
	ctx, left := req.Context(), time.Now()
	if p.step("before "+what) || !rig.Pause(ctx, p.dialing(rig.KeyIn(req))) {
		return nil, errKilled
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.world.pipes == unpiped { // else it has come over a connection, and a machine that stops here holds none of it back
		left = time.Now()
	}
	p.world.checkAge(p, req, data, left)
	sent := req.Clone(ctx)
	sent.Body = http.NoBody
	if len(data) > 0 {
		sent.Body = io.NopCloser(bytes.NewReader(data))
	}
	if !rig.Pause(ctx, p.world.latency) {
		return nil, errKilled
	}
	return sent, nil
}

// dialing is how long a connection takes to come about: one is kept for 90 seconds, and a
// probe has one of its own.
func (p *process) dialing(key string) time.Duration {
	w := p.world
	w.mu.Lock()
	probe := w.probing[trading.Key(key)] > 0
	w.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !probe && time.Since(p.connected) < 90*time.Second {
		return 0
	}
	return w.dials
}

// checkAge: nothing leaves that is too old.
func (w *world) checkAge(p *process, req *http.Request, body []byte, left time.Time) {
	key := trading.Key(rig.KeyIn(req))
	if key == "" || string(w.endpoint()) != "POST "+shortPath(req.URL.Path) {
		return
	}
	w.mu.Lock()
	probe, in, failed := w.probing[key] > 0, w.under(key), w.failed[p.name+string(key)]
	w.mu.Unlock()
	if in == nil || !bytes.Equal(body, in.Body) { // a fence on the write's own route
		return
	}
	age, most := left.Sub(in.Decided), 10*time.Minute
	if ttl := in.SendTTL; !probe && ttl > 0 {
		most = ttl
	}
	switch {
	case w.jump != 0 || w.badDisk() && !in.Entry: // it may be of another write, which no journal has
	case probe && age >= most:
		w.problem("a probe leaves at the age of %s", age)
	case !probe && age >= most:
		w.problem("a send leaves at the age of %s, of at most %s", age, most)
	case w.pipes == drops: // whether the failure was heard is not known
	case !probe && !failed.IsZero() && left.After(failed) && !w.endedBefore(in, key):
		w.problem("sent again under the key of a failure that was heard and may have run")
	}
}

// endedBefore reports whether the failure was of an earlier write under the key, which has ended:
// it can run no more, and its id is free.
func (w *world) endedBefore(in *written, key trading.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.order, func(one *written) bool { return one != in && one.end != nil && slices.Contains(one.keys, key) })
}

// under is the write that has the key now: of two programs' the one that was decided last, since
// the bytes are the same. The lock is held.
func (w *world) under(key trading.Key) (last *written) {
	for _, in := range w.order {
		if in.key() == key && (last == nil || !in.Decided.Before(last.Decided)) {
			last = in
		}
	}
	return last
}

func shortPath(path string) string { return strings.TrimPrefix(path, "/v1") }

// probes notes which writes have a probe under way.
func (w *world) probes(records []journal.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range records {
		var r record
		if json.Unmarshal(one.Data, &r) != nil || r.Fact == nil {
			continue
		}
		in := w.writes[trading.IntentID(one.Intent)]
		switch {
		case in == nil:
		case r.Fact.Kind == ledger.ProbeBegun:
			w.probing[in.key()]++
		case r.Fact.Kind == ledger.ProbeEnded: // also of one whose beginning the journal was not given
			w.probing[in.key()] = max(w.probing[in.key()]-1, 0)
		}
	}
}

// swallows reports whether nothing is heard of a request any more.
func (w *world) swallows(req *http.Request) bool {
	if string(w.endpoint()) != "POST "+shortPath(req.URL.Path) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pacing {
		return false
	}
	w.sent++
	return w.sent == w.swallowAt
}

// swallow is a connection on which nothing comes back, and no error either.
func (p *process) swallow(sent *http.Request) error {
	ctx := sent.Context()
	if p.world.swallowed {
		if resp, err := p.world.sim.Transport().RoundTrip(sent.WithContext(context.WithoutCancel(ctx))); err == nil {
			_ = resp.Body.Close()
		}
	}
	p.world.note("%s    the connection swallows it", p.name)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ctx.Done():
		return errKilled
	}
}

// marks is what is done to an answer on its way back.
func (p *process) marks(req *http.Request, resp *http.Response) {
	w := p.world
	p.dateOf(resp.Header, rig.KeyIn(req))
	if w.edge {
		rig.ByEdge(resp.Header)
	}
	if w.described && strings.HasSuffix(req.URL.Path, "/openapi.json") {
		resp.Header.Set("Age", "3600")
		resp.Header.Set("Date", w.clock().Add(-time.Hour).UTC().Format(http.TimeFormat))
	}
	if w.cached > 0 {
		w.cache.Keep(req, resp)
	}
}

// hears notes that the program has an answer. After a failure that may be of a write
// that ran nothing goes under the key but questions.
func (p *process) hears(req *http.Request, resp *http.Response) {
	if resp.StatusCode < 500 || rig.KeyIn(req) == "" || string(p.world.endpoint()) != "POST "+shortPath(req.URL.Path) {
		return
	}
	var said struct{ Error string }
	body, err := rig.Peek(resp)
	if err == nil && json.Unmarshal(body, &said) == nil && said.Error != "" && !placedNothing[said.Error] {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		p.world.failed[p.name+rig.KeyIn(req)] = time.Now()
	}
}

// placedNothing are the codes of a 5xx that the contract gives for a write that was not
// carried out.
var placedNothing = map[string]bool{
	"no_price": true, "PRICE_UNAVAILABLE": true, "equity_unavailable": true, "idempotency_unavailable": true,
}

// isSlow reports whether a sync takes long by now.
func (d *disk) isSlow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slowAt > 0 && d.appends >= d.slowAt
}

var errRefused = errors.New("the guard says no")

// asks is the program's own guard.
func (w *world) asks(ctx context.Context, _ trading.Write) error {
	w.mu.Lock()
	if w.pacing {
		w.mu.Unlock()
		return nil
	}
	w.asked++
	n := w.asked
	w.mu.Unlock()
	if n == 1 && !rig.Pause(ctx, w.guard) {
		return ctx.Err()
	}
	if n == w.refuses {
		return errRefused
	}
	return nil
}

// theOne is the id of the named decision.
func (w *world) theOne() trading.CallOption {
	used := w.used()
	if w.since {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.sinceAt.IsZero() {
			w.sinceAt = time.Now()
		}
		used = append(used, trading.Since(w.sinceAt))
	}
	return trading.WithClientOrderID("the one", used...)
}

// used says who may have used an id.
func (w *world) used() []trading.UseOption {
	if w.kind == twoFiles {
		return []trading.UseOption{trading.Shared()}
	}
	return nil
}

// paces places own orders before the write, one after the other.
func (p *program) paces() {
	w := p.world
	if w.described && w.kind != paper {
		_, _ = p.client.OpenAPI(p.ctx)
	}
	if w.pace == 0 || w.kind == paper {
		return
	}
	w.setPacing(true)
	_ = rig.Paces(p.ctx, p.client.Live.Account(account), 6, w.pace)
	w.setPacing(false)
}

func (w *world) setPacing(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pacing = on
}

// degrades lets the health degrade a second after the decision, and returns what ends
// that.
func (w *world) degrades() (end func()) {
	if !w.degraded {
		return func() {}
	}
	begin := time.AfterFunc(time.Second, func() { w.sim.SetHealth("degraded", "live") })
	mend := time.AfterFunc(9*time.Second, func() { w.sim.SetHealth("healthy", "live") })
	return func() {
		begin.Stop()
		if mend.Stop() {
			w.sim.SetHealth("healthy", "live")
		}
	}
}

// A machine that stops before a send leaves sends it no more; one that stops right after it has left over a
// connection holds nothing back.
func TestTheAgeOfASendIsThatOfItsFirstByte(t *testing.T) {
	write := schedule{kind: solo, op: market, ttl: time.Minute, patience: -1, exclusive: true, kill1: 1, latency: 50 * time.Millisecond}
	write.tries, write.stopFor = rig.Faults("request lost"), time.Hour
	for over, how := range map[string]piping{
		"a transport of the program's": unpiped, "connections": piped, "connections that swallow": swallows, "a path that drops": drops,
	} {
		t.Run(over, func(t *testing.T) {
			s := write
			s.pipes = how
			for s.stopAt = 1; s.stopAt < 30; s.stopAt++ { // two sends, and what follows them
				if w := playOne(t, s); len(w.problems) > 0 {
					t.Errorf("it stops at step %d: %s", s.stopAt, w.problems)
				}
			}
		})
	}
}

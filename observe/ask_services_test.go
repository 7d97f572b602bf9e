package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Of services that nobody wrote down a series claims nothing that does not hold: A1 is first only
// where cancels of nothing are stored and marked, and what needs it is unseen elsewhere.
func TestASeriesOfServicesNobodyWroteDown(t *testing.T) {
	const first, other, mixed, neither, unseen = profile.First, profile.Other, profile.Mixed, profile.Neither, profile.Unseen
	beyond := []string{"A2", "49", "51", "13", "A4", "A5", "A6", "A15"}
	for name, want := range map[string]map[string][]profile.Verdict{
		"only successes are stored":         {"A1": {other}, "14": {other, unseen}},
		"only refusals are stored":          {"A1": {first}},
		"404 before the claim":              {"A1": {other}, "14": {other, unseen}},
		"a route that stores nothing":       {"A1": {mixed}},
		"bytes are not compared":            {"A1": {first}, "A2": {neither}, "49": {unseen}, "51": {unseen}, "9": {unseen}},
		"the mark is stripped":              {"A1": {neither}},
		"instances that disagree":           {"A1": {mixed, neither}},
		"a proxy that repeats":              {"A1": {neither}},
		"a proxy that caches":               {"A1": {first}},
		"a proxy that caches refusals":      {"A1": {neither}},
		"a proxy that joins":                {"A1": {first}, "A6": {neither}},
		"instances by their connection":     {"A1": {mixed, neither}},
		"stored for an hour and a half":     {"A1": {first}, "A4": {other}, "A5": {first}},
		"every other hour nothing is known": {"A1": {mixed, neither, other}},
		"keys compared in lower case":       {"A1": {first}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tradeable := range []string{"", "acc_1"} {
				if brief() && tradeable != "" {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					s := newService(t)
					s.q.Tradeable = tradeable
					front := moreUnwritten[name]
					if front == nil {
						front = unwritten[name]
					}
					s.front = shared(front)
					switch name {
					case "a proxy that caches":
						s.q.SecondKey = "" // it would answer GET /me of the first key
					case "instances by their connection":
						s.front = front
					case "a proxy that joins":
						joins := front(s.sim.Transport())
						s.front = func(http.RoundTripper) http.RoundTripper { return joins }
					}
					p := s.series()
					want := maps.Clone(want)
					if r, _ := p.Result("A1", profile.Live); r.Verdict != first {
						for _, number := range beyond {
							want[number] = []profile.Verdict{unseen}
						}
					}
					if tradeable == "" && slices.Contains(want["A1"], other) {
						want["A1"] = append(slices.Clone(want["A1"]), unseen)
					}
					claims(t, p, want)
					assert.Empty(t, s.sim.Ledger())
				})
			}
		})
	}
}

// shared is one thing in front of all connections, that takes one request at a time.
func shared(front func(http.RoundTripper) http.RoundTripper) func(http.RoundTripper) http.RoundTripper {
	var one http.RoundTripper
	var mu sync.Mutex
	return func(rt http.RoundTripper) http.RoundTripper {
		if one == nil {
			one = front(rt)
		}
		return tripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			return one.RoundTrip(r)
		})
	}
}

// renamed is a service that takes a request under another key.
func renamed(rt http.RoundTripper, r *http.Request, key string) (*http.Response, error) {
	copied := r.Clone(r.Context())
	copied.Header.Set("Idempotency-Key", key)
	return rt.RoundTrip(copied)
}

// moreUnwritten are services that matter to who asks.
var moreUnwritten = map[string]func(http.RoundTripper) http.RoundTripper{
	"a proxy that caches refusals": func(rt http.RoundTripper) http.RoundTripper {
		kept := map[string]func() *http.Response{}
		return tripper(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			name := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + string(body)
			if old := kept[name]; old != nil && r.Method == http.MethodPost {
				return old(), nil
			}
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			answer, err := io.ReadAll(resp.Body)
			kept[name] = func() *http.Response {
				again := *resp
				again.Body = io.NopCloser(bytes.NewReader(answer))
				return &again
			}
			return kept[name](), err
		})
	},
	"a proxy that joins": joining,
	"instances by their connection": func() func(rt http.RoundTripper) http.RoundTripper {
		n := 0
		return func(rt http.RoundTripper) http.RoundTripper {
			n++
			mine := map[int]string{0: "-a", 1: "-b"}[n%2]
			return tripper(func(r *http.Request) (*http.Response, error) {
				if key := r.Header.Get("Idempotency-Key"); key != "" && len(r.Header["Idempotency-Key"]) == 1 {
					return renamed(rt, r, key+mine)
				}
				return rt.RoundTrip(r)
			})
		}
	}(),
	"stored for an hour and a half": func(rt http.RoundTripper) http.RoundTripper {
		since := map[string]time.Time{}
		return tripper(func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key")
			if key == "" || len(r.Header["Idempotency-Key"]) > 1 {
				return rt.RoundTrip(r)
			}
			if since[key].IsZero() {
				since[key] = time.Now()
			}
			return renamed(rt, r, key+"-"+time.Since(since[key]).Truncate(90*time.Minute).String())
		})
	},
	"every other hour nothing is known": func(rt http.RoundTripper) http.RoundTripper {
		draw := rand.New(rand.NewPCG(5, 6))
		return tripper(func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key")
			if key == "" || len(r.Header["Idempotency-Key"]) > 1 || time.Now().Unix()/3600%2 == 0 {
				return rt.RoundTrip(r)
			}
			return renamed(rt, r, key+string(rune('a'+draw.IntN(26))))
		})
	},
	"keys compared in lower case": func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if key := r.Header.Get("Idempotency-Key"); key != "" && len(r.Header["Idempotency-Key"]) == 1 {
				return renamed(rt, r, strings.ToLower(key))
			}
			return rt.RoundTrip(r)
		})
	},
}

// joining sends equal requests that are under way at once as one.
func joining(rt http.RoundTripper) http.RoundTripper {
	type flight struct {
		done chan struct{}
		resp *http.Response
		body []byte
		err  error
	}
	var mu sync.Mutex
	flights := map[string]*flight{}
	return tripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		name := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + string(body)
		mu.Lock()
		f, ok := flights[name]
		if !ok {
			f = &flight{done: make(chan struct{})}
			flights[name] = f
		}
		mu.Unlock()
		if !ok {
			time.Sleep(20 * time.Millisecond)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if f.resp, f.err = rt.RoundTrip(r); f.err == nil {
				f.body, f.err = io.ReadAll(f.resp.Body)
			}
			mu.Lock()
			delete(flights, name)
			mu.Unlock()
			close(f.done)
		}
		<-f.done
		if f.err != nil {
			return nil, f.err
		}
		again := *f.resp
		again.Body = io.NopCloser(bytes.NewReader(f.body))
		return &again, nil
	})
}

// Where a template could do harm, no account changes: a service that cancels everything without an id or
// with an empty one, by the beginning of an id, on any account, or drops what it does not know.
func TestHostileServices(t *testing.T) {
	var resting string // the id of an order of the bot
	for name, change := range map[string]func(path string, body map[string]any) (string, map[string]any){
		"a cancel without an account is of any account": func(path string, body map[string]any) (string, map[string]any) {
			if body["accountId"] == nil {
				body["accountId"] = "acc_1"
			}
			return path, body
		},
		"an account of nobody is the first account": func(path string, body map[string]any) (string, map[string]any) {
			body["accountId"] = "acc_1"
			return path, body
		},
		"ids by prefix": func(path string, body map[string]any) (string, map[string]any) {
			if id, _ := body["orderId"].(string); strings.HasPrefix(resting, id) {
				body["orderId"] = resting
			}
			return path, body
		},
		"empty means all": func(path string, body map[string]any) (string, map[string]any) {
			if len(body) == 0 || body["orderId"] == "" || body["runId"] == "" || body["orderId"] == nil && body["runId"] == nil {
				return cancelOrder, map[string]any{"accountId": "acc_1", "orderId": resting}
			}
			return path, body
		},
		"unknown members dropped, routes by their last word": func(path string, body map[string]any) (string, map[string]any) {
			if body["orderId"] == nil && path == cancelOrder || body["runId"] == nil && path == cancelRun {
				return "/positions/close", map[string]any{"accountId": "acc_1", "symbol": "BTC"}
			}
			return path, body
		},
		"an id that it cannot read is none, none means all, and so does no account": func(path string, body map[string]any) (string, map[string]any) {
			id, _ := body["orderId"].(string)
			if account, named := body["accountId"]; !strings.HasPrefix(id, "ord_") && (!named || account == "acc_1") {
				return cancelOrder, map[string]any{"accountId": "acc_1", "orderId": resting}
			}
			return path, body
		},
		"a close without symbol closes all": func(path string, body map[string]any) (string, map[string]any) {
			if strings.HasPrefix(path, "/positions") && body["symbol"] == nil {
				body["symbol"] = "BTC"
			}
			return path, body
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				s.sim.Trade("acc_1", "long", "1", "BTC")
				place(t, s, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":2,"limitPrice":50000}`)
				for _, a := range s.sim.State().Accounts {
					if len(a.Orders) > 0 {
						resting = a.Orders[0].ID
					}
				}
				require.NotEmpty(t, resting)
				before, placed := s.sim.State().Accounts, len(s.sim.Ledger())
				s.front = shared(func(rt http.RoundTripper) http.RoundTripper { return changing(rt, change) })
				s.series()
				assert.Len(t, s.sim.Ledger(), placed, "something was executed")
				after := s.sim.State().Accounts
				for id, a := range before {
					assert.Equal(t, len(a.Orders), len(after[id].Orders))
					assert.Equal(t, len(a.Positions), len(after[id].Positions))
				}
			})
		})
	}
}

// A body that names no account waits until there is nothing that a service could cancel by it.
func TestABodyWithoutAnAccountWaits(t *testing.T) {
	for name, set := range map[string]func(t *testing.T, s *service){
		"an order rests": func(t *testing.T, s *service) {
			place(t, s, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":2,"limitPrice":50000}`)
		},
		"an account with an odd id": func(_ *testing.T, s *service) {
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return rewriting(rt, "/accounts", func(body string) string { return strings.ReplaceAll(body, "acc_1", "acc 1") })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				set(t, s)
				sent := len(s.sim.Requests())
				p, e := s.visit(Locked)
				assert.Empty(t, e.Ended)
				for _, r := range s.sim.Requests()[sent:] {
					if strings.HasPrefix(r.Operation, "POST ") {
						assert.Contains(t, string(r.Body), "accountId")
					}
				}
				for _, number := range []string{"51", "13"} {
					r, _ := p.Result(number, profile.Live)
					assert.Equal(t, profile.Unseen, r.Verdict)
				}
				r, _ := p.Result("13", profile.Live)
				assert.Contains(t, r.Why, "might cancel")
				r, _ = p.Result("A1", profile.Live)
				assert.Equal(t, 4, r.CountFirst)
			})
		})
	}
}

func place(t *testing.T, s *service, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.q.BaseURL+"/orders/limit", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-API-Key", s.q.LiveKey)
	resp, err := s.sim.Transport().RoundTrip(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// A 429, a 5xx, a page of a gateway, a refused key and silence end a visit, or void the round.
func TestWhatEndsAVisit(t *testing.T) {
	for name, c := range map[string]struct {
		fault tradingsim.Fault
		ends  string
	}{
		"429":          {tradingsim.RateLimit(time.Second), "429"},
		"500":          {tradingsim.Fail(500, "internal_error"), "500"},
		"gateway":      {tradingsim.GatewayError(502), "502"},
		"refused":      {tradingsim.Fail(401, "revoked_api_key"), "refused"},
		"denied":       {tradingsim.Fail(403, "api_access_denied"), "refused"},
		"lost answer":  {tradingsim.DropResponse(), "no answer"},
		"a page":       {tradingsim.Raw(404, http.Header{"Content-Type": {"text/html"}}, "<html>"), ""},
		"from a cache": {tradingsim.Raw(404, http.Header{"Age": {"3"}}, `{"error":"order_not_found"}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				s.sim.Fault("POST /orders/cancel", c.fault)
				p, e := s.visit(Locked)
				if c.ends != "" {
					assert.Contains(t, e.Ended, c.ends)
					assert.Equal(t, 1, e.Writes)
				} else {
					assert.Empty(t, e.Ended)
				}
				assert.NotEmpty(t, e.Rounds[0].Void)
				r, _ := p.Result("A1", profile.Live)
				assert.Equal(t, profile.Unseen, r.Verdict)
				assert.Zero(t, r.CountOther+r.CountNeither)
			})
		})
	}
	t.Run("health changes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			go func() {
				time.Sleep(2500 * time.Millisecond)
				s.sim.SetHealth("healthy", "mixed")
			}()
			_, e := s.visit(Locked)
			require.Len(t, e.Rounds, 10, e.Ended)
			assert.Equal(t, "health changed", e.Rounds[0].Void)
			assert.Empty(t, e.Rounds[1].Void)
		})
	})
}

// A first answer that is marked is something that no reading foresees, and it is said at once.
func TestARepeatedRequestIsNoEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.front = shared(unwritten["a proxy that repeats"])
		p, _ := s.visit(Locked)
		r, _ := p.Result("A1", profile.Live)
		assert.Equal(t, profile.Neither, r.Verdict, "at the first visit")
		assert.Contains(t, r.Why, "repeats requests")
	})
}

// An account of nobody that is refused in front of the key shows nothing of one's own: then an
// account that has failed is named.
func TestNobodyIsRefusedInFront(t *testing.T) {
	front := func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if bytes.Contains(body, []byte("nobody-")) {
					return answer(r, 404, `{"error":"account_not_found"}`), nil
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			return rt.RoundTrip(r)
		})
	}
	for status, want := range map[string]profile.Verdict{"": profile.Unseen, "FAILED": profile.First, "EXPIRED": profile.First} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_old", Status: status}))
			s.front = front
			p := s.series()
			r, _ := p.Result("A1", profile.Live)
			assert.Equal(t, want, r.Verdict, "%s: %s", status, r.Why)
			claims(t, p, nil)
			if want == profile.First {
				for _, number := range []string{"A4", "A5", "A6", "A15"} {
					r, _ := p.Result(number, profile.Live)
					assert.Equal(t, profile.First, r.Verdict, "%s: %s", number, r.Why)
				}
			}
		})
	}
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// A visit waits for the bot's limits, writes once a second, and stops with its context.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		var asked []string
		s.q.Wait = func(_ context.Context, operation string) error { asked = append(asked, operation); return nil }
		began := time.Now()
		_, e := s.visit(Locked)
		assert.Equal(t, 38, e.Writes)
		assert.Len(t, asked, 38)
		assert.GreaterOrEqual(t, time.Since(began), 37*time.Second)
		var sent []time.Time
		for _, r := range s.sim.Requests() {
			if strings.HasPrefix(r.Operation, "POST") {
				sent = append(sent, r.At)
			}
		}
		for i := 10; i < len(sent); i++ {
			assert.GreaterOrEqual(t, sent[i].Sub(sent[i-10]), 9*time.Second, "more than one a second")
		}

		time.Sleep(48 * time.Hour)
		s.q.Before = nil
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		s.q.Classes = []Class{Locked}
		_, err := Ask(ctx, s.q)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		s.q.Wait = func(context.Context, string) error { return errors.New("the store is gone") }
		_, err = Ask(t.Context(), s.q)
		require.ErrorContains(t, err, "the store is gone")
	})
}

// One full run a day, and a second visit when it is due.
func TestDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		p, _ := s.visit(Locked)
		due, later := Due(p, time.Now())
		assert.Empty(t, due)
		assert.Len(t, later, 5)
		early := &NotDueError{}
		_, err := Ask(t.Context(), s.q)
		require.ErrorAs(t, err, &early)
		assert.WithinDuration(t, time.Now().Add(time.Hour), early.Due, time.Minute)

		time.Sleep(24*time.Hour + time.Minute) // too late for the visit at 23 hours
		p, _ = s.visit(Locked)
		r, _ := p.Result("A4", profile.Live)
		assert.Equal(t, profile.Unseen, r.Verdict)
		r, _ = p.Result("A6", profile.Live)
		assert.Equal(t, profile.Unseen, r.Verdict)
		time.Sleep(time.Hour)
		p, _ = s.visit(Locked)
		assert.Empty(t, p.Begun)
		_, err = Ask(t.Context(), s.q)
		require.ErrorAs(t, err, &early)
		for number, want := range map[string]profile.Verdict{"A1": profile.First, "A4": profile.Unseen, "A5": profile.First, "A6": profile.First} {
			r, _ := p.Result(number, profile.Live)
			assert.Equal(t, want, r.Verdict, number)
		}
		// What nothing new was seen of is kept, and dates the profile.
		time.Sleep(10 * 24 * time.Hour)
		p, _ = s.visit(Reads)
		r, _ = p.Result("A1", profile.Live)
		assert.Equal(t, profile.First, r.Verdict)
		assert.Greater(t, time.Since(p.MeasuredAt), 10*24*time.Hour)
		require.NoError(t, p.Stale(time.Now()))
		time.Sleep(21 * 24 * time.Hour)
		p, _ = s.visit(Reads)
		r, _ = p.Result("A1", profile.Live)
		assert.Equal(t, profile.Unseen, r.Verdict, "what is too old is not kept")
		require.NoError(t, p.Stale(time.Now()))
	})
}

// changing is a service that reads bodies in a way of its own.
func changing(rt http.RoundTripper, change func(string, map[string]any) (string, map[string]any)) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return rt.RoundTrip(r)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body := map[string]any{}
		_ = json.Unmarshal(text, &body) // empty for what is no object
		root, path, _ := strings.Cut(r.URL.Path, "/v1")
		path, body = change(path, body)
		text, err = json.Marshal(body)
		if err != nil {
			return nil, err
		}
		changed := r.Clone(r.Context())
		changed.URL.Path = root + "/v1" + path
		changed.Body, changed.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		return rt.RoundTrip(changed)
	})
}

// forgetting is a service that forgets a key some time after it was new.
func forgetting(after time.Duration) func(http.RoundTripper) http.RoundTripper {
	type use struct {
		since time.Time
		times int
	}
	var mu sync.Mutex
	uses := map[string]use{}
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key")
			mu.Lock()
			u := uses[key]
			if time.Since(u.since) > after {
				u = use{time.Now(), u.times + 1}
				uses[key] = u
			}
			mu.Unlock()
			if key != "" && u.times > 1 {
				r = r.Clone(r.Context())
				r.Header.Set("Idempotency-Key", fmt.Sprint(key, "-", u.times))
			}
			return rt.RoundTrip(r)
		})
	}
}

// For how long answers are kept at the least, by a series: what the client may go by where they are not kept for a day.
func TestHowLongAnswersAreKept(t *testing.T) {
	for after, want := range map[time.Duration]struct {
		kept time.Duration
		a4   profile.Verdict
	}{
		48 * time.Hour: {23 * time.Hour, profile.First}, 2 * time.Hour: {time.Hour, profile.Other}, 30 * time.Minute: {10 * time.Second, profile.Other},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			s.front, s.q.Tradeable = forgetting(after), "acc_1"
			p := s.series()
			assert.InDelta(t, float64(want.kept), float64(p.Measured.KeptFor), float64(want.kept)/10, "%s: %s", after, time.Duration(p.Measured.KeptFor))
			r, _ := p.Result("A4", profile.Live)
			assert.Equal(t, want.a4, r.Verdict, "%s: %s", after, r.Why)
		})
	}
}

package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/profile"
)

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// again sends a request once more, with some changes.
func again(rt http.RoundTripper, r *http.Request, change func(http.Header)) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	change(copied.Header)
	return rt.RoundTrip(copied)
}

// withoutKey makes a service take a request as if its key were new.
func withoutKey(fresh *int) func(http.Header) {
	return func(h http.Header) {
		*fresh++
		h.Set("Idempotency-Key", h.Get("Idempotency-Key")+"-"+strings.Repeat("x", *fresh))
	}
}

// unwritten are services that nobody wrote down.
var unwritten = map[string]func(rt http.RoundTripper) http.RoundTripper{
	"only successes are stored": func(rt http.RoundTripper) http.RoundTripper {
		return storing(rt, func(r *http.Response) bool { return r.StatusCode < 300 })
	},
	"only refusals are stored": func(rt http.RoundTripper) http.RoundTripper {
		return storing(rt, func(r *http.Response) bool { return r.StatusCode >= 300 })
	},
	"404 before the claim": func(rt http.RoundTripper) http.RoundTripper {
		return storing(rt, func(r *http.Response) bool { return r.StatusCode != 404 })
	},
	"a route that stores nothing": func(rt http.RoundTripper) http.RoundTripper {
		return storing(rt, func(r *http.Response) bool { return !strings.HasSuffix(r.Request.URL.Path, "/orders/cancel") })
	},
	"bytes are not compared": func(rt http.RoundTripper) http.RoundTripper {
		first := map[string][]byte{}
		return tripper(func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key") + r.URL.Path
			if r.Method == "POST" && r.Header.Get("Idempotency-Key") != "" {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if first[key] == nil {
					first[key] = body
				}
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(first[key])), int64(len(first[key]))
			}
			return rt.RoundTrip(r)
		})
	},
	"the mark is stripped": func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := rt.RoundTrip(r)
			if err == nil {
				resp.Header.Del("Idempotent-Replayed")
			}
			return resp, err
		})
	},
	"instances that disagree": func(rt http.RoundTripper) http.RoundTripper {
		n, draw := 0, rand.New(rand.NewPCG(3, 4))
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == "POST" && draw.IntN(2) == 0 {
				n++
				return again(rt, r, func(h http.Header) { h.Set("Idempotency-Key", h.Get("Idempotency-Key")+"-b") })
			}
			return rt.RoundTrip(r)
		})
	},
	"a proxy that repeats": func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == "POST" && r.Header.Get("Idempotency-Key") != "" {
				first, err := again(rt, r, func(http.Header) {})
				if err != nil {
					return nil, err
				}
				_ = first.Body.Close()
			}
			return rt.RoundTrip(r)
		})
	},
	"a proxy that caches": func(rt http.RoundTripper) http.RoundTripper {
		kept := map[string][]byte{}
		return tripper(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			key := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + string(body)
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			answer, err := io.ReadAll(resp.Body)
			if old, ok := kept[key]; ok && resp.StatusCode < 300 {
				answer = old
				resp.Header.Del("Idempotent-Replayed")
			} else {
				kept[key] = answer
			}
			resp.Body = io.NopCloser(bytes.NewReader(answer))
			return resp, err
		})
	},
}

// Of services that nobody wrote down nothing is first that does not hold, and nothing claims a
// reading that is not there.
func TestServicesNobodyWroteDown(t *testing.T) {
	for name, want := range map[string]map[string][]profile.Verdict{
		"only successes are stored":   {"A1": {profile.Other}, "A1e": {profile.First}, "A2": {profile.Unseen}, "49": {profile.Unseen}, "51": {profile.Unseen}},
		"only refusals are stored":    {"A1": {profile.First}, "A1e": {profile.Other}},
		"404 before the claim":        {"A1": {profile.Other}, "A1e": {profile.First}, "A2": {profile.Unseen}, "49": {profile.Unseen}},
		"a route that stores nothing": {"A1": {profile.Other, profile.Mixed}, "A2": {profile.Unseen}, "49": {profile.Unseen}},
		"bytes are not compared":      {"A2": {profile.Neither}, "49": {profile.Unseen}, "51": {profile.Unseen}, "9": {profile.Unseen}},
		"the mark is stripped":        {"A1": {profile.Other}, "A1e": {profile.Neither}, "A2": {profile.Unseen}, "49": {profile.Unseen}, "A18": {profile.Unseen}},
		"instances that disagree":     {"A1": {profile.Mixed}, "A2": {profile.Unseen}, "49": {profile.Unseen}},
		"a proxy that repeats":        {"A1": {profile.Unseen}, "A1e": {profile.Unseen}, "A2": {profile.Unseen}, "49": {profile.Unseen}},
		"a proxy that caches":         {"A1e": {profile.Neither}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAsker(t)
				a.rt = unwritten[name](a.rt)
				for range 10 {
					a.run()
				}
				claims(t, Judge(a.seen, about), want)
			})
		})
	}
}

// claims checks that a profile has the verdicts that are wanted, and claims no other reading beside.
func claims(t *testing.T, p *profile.Profile, want map[string][]profile.Verdict) {
	t.Helper()
	for number, verdicts := range want {
		r, _ := p.Result(number, profile.Live)
		assert.True(t, slices.Contains(verdicts, r.Verdict), "%s is %s (%s)", number, r.Verdict, r.Why)
	}
	for _, r := range p.Results {
		if r.Verdict == profile.Other && !slices.Contains(want[r.Experiment], profile.Other) {
			t.Errorf("%s is other", r.Experiment)
		}
	}
}

// storing is a service that stores the answers that keep says, and runs the rest again.
func storing(rt http.RoundTripper, keep func(*http.Response) bool) http.RoundTripper {
	kept, fresh := map[string]bool{}, 0
	return tripper(func(r *http.Request) (*http.Response, error) {
		key := r.Header.Get("Idempotency-Key")
		if r.Method != "POST" || key == "" {
			return rt.RoundTrip(r)
		}
		if kept[key] {
			return rt.RoundTrip(r)
		}
		resp, err := again(rt, r, withoutKey(&fresh))
		if err != nil || !keep(resp) {
			return resp, err
		}
		// Stored: the same under the key itself, once it has run. What ran is not run again.
		kept[key] = true
		_ = resp.Body.Close()
		return rt.RoundTrip(r)
	})
}

// Nothing of who, which account or which key is in a profile, and it can be written.
func TestNothingPersonalIsInAProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(t)
		p := Judge(a.run(), about)
		text, err := p.Encode()
		if !assert.NoError(t, err) {
			return
		}
		assert.NotEmpty(t, p.Exchanges)
		for _, secret := range []string{"acc_1", "user_1", "key-", "ord_", "pk_", "100000", "99"} {
			for _, x := range p.Exchanges {
				assert.NotContains(t, x.Request+x.Response+x.Key, secret, "%+v", x)
			}
		}
		assert.NotContains(t, string(text), "user_1")
		tokens := map[string]bool{}
		for _, x := range p.Exchanges {
			var body map[string]any
			if json.Unmarshal([]byte(x.Request), &body) == nil {
				if id, ok := body["accountId"].(string); ok {
					tokens[id] = true
				}
			}
		}
		assert.Len(t, tokens, 1, "one account is one token throughout")
	})
}

// setBack has trades carry times of a clock that is behind.
func setBack(by time.Duration) func(http.RoundTripper) http.RoundTripper {
	const name = `"closedAt":"`
	return func(rt http.RoundTripper) http.RoundTripper {
		return rewriting(rt, "/trades", func(body string) string {
			parts := strings.Split(body, name)
			for i, part := range parts[1:] {
				text, rest, _ := strings.Cut(part, `"`)
				if at, err := time.Parse(time.RFC3339, text); err == nil {
					parts[i+1] = at.Add(-by).Format("2006-01-02T15:04:05.000Z") + `"` + rest
				}
			}
			return strings.Join(parts, name)
		})
	}
}

// cached answers reads of positions with what it has kept for ten seconds, and says so in a header, or not.
func cached(header string) func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper {
		var kept, date string
		var at time.Time
		return tripper(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/v1/positions") {
				time.Sleep(3 * time.Second) // a Date has whole ones
				return rt.RoundTrip(r)
			}
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			if kept == "" || time.Since(at) > 10*time.Second {
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					return nil, err
				}
				kept, date, at = string(body), resp.Header.Get("Date"), time.Now()
			} else if header == "Age" {
				resp.Header.Set("Age", "1")
			}
			if header == "Date" {
				resp.Header.Set("Date", date)
			}
			resp.Body = io.NopCloser(strings.NewReader(kept))
			return resp, nil
		})
	}
}

// rewriting changes the bodies of the answers of a path.
func rewriting(rt http.RoundTripper, path string, change func(string) string) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		resp, err := rt.RoundTrip(r)
		if err != nil || !strings.HasSuffix(r.URL.Path, path) {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(strings.NewReader(change(string(body))))
		return resp, nil
	})
}

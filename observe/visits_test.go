package observe

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// visits are services that are asked something, each by its name.
func visits() map[string]visit {
	nobodyIsInFront := func(rt http.RoundTripper) http.RoundTripper {
		return sometimes(func(_ int, body string) bool { return strings.Contains(body, "nobody-") }, 404, `{"error":"account_not_found"}`)(rt)
	}
	all := map[string]visit{
		"a series":                          {},
		"a series with a tradeable account": {set: func(_ *testing.T, s *service) { s.q.Tradeable = "acc_1" }},
		"a series of a proxy that joins": {set: func(_ *testing.T, s *service) {
			joins := joining(s.sim.Transport())
			s.front = func(http.RoundTripper) http.RoundTripper { return joins }
		}},

		// Where a template could do harm no account changes.
		"hostile: a cancel without an account is of any account": hostile(func(_, path string, body map[string]any) (string, map[string]any) {
			if body["accountId"] == nil {
				body["accountId"] = "acc_1"
			}
			return path, body
		}),
		"hostile: an account of nobody is the first account": hostile(func(_, path string, body map[string]any) (string, map[string]any) {
			body["accountId"] = "acc_1"
			return path, body
		}),
		"hostile: ids by prefix": hostile(func(resting, path string, body map[string]any) (string, map[string]any) {
			if id, _ := body["orderId"].(string); strings.HasPrefix(resting, id) {
				body["orderId"] = resting
			}
			return path, body
		}),
		"hostile: empty means all": hostile(func(resting, path string, body map[string]any) (string, map[string]any) {
			if len(body) == 0 || body["orderId"] == "" || body["runId"] == "" || body["orderId"] == nil && body["runId"] == nil {
				return cancelOrder, map[string]any{"accountId": "acc_1", "orderId": resting}
			}
			return path, body
		}),
		"hostile: unknown members dropped, routes by their last word": hostile(func(_, path string, body map[string]any) (string, map[string]any) {
			if body["orderId"] == nil && path == cancelOrder || body["runId"] == nil && path == cancelRun {
				return "/positions/close", map[string]any{"accountId": "acc_1", "symbol": "BTC"}
			}
			return path, body
		}),
		"hostile: an id that it cannot read is none, none means all, and so does no account": hostile(func(resting, path string, body map[string]any) (string, map[string]any) {
			id, _ := body["orderId"].(string)
			if account, named := body["accountId"]; !strings.HasPrefix(id, "ord_") && (!named || account == "acc_1") {
				return cancelOrder, map[string]any{"accountId": "acc_1", "orderId": resting}
			}
			return path, body
		}),
		"hostile: a close without symbol closes all": hostile(func(_, path string, body map[string]any) (string, map[string]any) {
			if strings.HasPrefix(path, "/positions") && body["symbol"] == nil {
				body["symbol"] = "BTC"
			}
			return path, body
		}),

		// A body that names no account waits until there is nothing that a service could cancel by it.
		"an order rests":                     {set: func(t *testing.T, s *service) { resting(t, s) }, ask: []Class{Locked}},
		"an account with an odd id":          {set: infront(rewriting("/accounts", func(body string) string { return strings.ReplaceAll(body, "acc_1", "acc 1") })), ask: []Class{Locked}},
		"the tradeable account has an order": {set: func(t *testing.T, s *service) { resting(t, s); s.q.Tradeable = "acc_1" }, ask: []Class{Locked}},

		// What ends a visit, or voids the round.
		"ends: 429":          refusing(tradingsim.RateLimit(time.Second)),
		"ends: 500":          refusing(tradingsim.Fail(500, "internal_error")),
		"ends: gateway":      refusing(tradingsim.GatewayError(502)),
		"ends: refused":      refusing(tradingsim.Fail(401, "revoked_api_key")),
		"ends: denied":       refusing(tradingsim.Fail(403, "api_access_denied")),
		"ends: lost answer":  refusing(tradingsim.DropResponse()),
		"ends: a page":       refusing(tradingsim.Raw(404, http.Header{"Content-Type": {"text/html"}}, "<html>")),
		"ends: from a cache": refusing(tradingsim.Raw(404, http.Header{"Age": {"3"}}, `{"error":"order_not_found"}`)),
		"ends: health changes": {set: func(_ *testing.T, s *service) {
			time.AfterFunc(2500*time.Millisecond, func() { s.sim.SetHealth("healthy", "mixed") })
		}, ask: []Class{Locked}},
		"ends: an answer without an end": {set: infront(with(func(rt http.RoundTripper, r *http.Request, _ string) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return rt.RoundTrip(r)
			}
			x := answer(r, 404, "")
			x.Body = drip{r}
			return x, nil
		})), ask: []Class{Locked}},
		"ends: a locked account that trades again": {of: []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_old", Status: "FAILED"})}, set: func(_ *testing.T, s *service) {
			s.front = shared(nobodyIsInFront)
			time.AfterFunc(9*time.Second, func() { s.sim.SetStatus("acc_old", "ACTIVE") })
		}, ask: []Class{Locked}},
		"a first answer that is marked, at the first visit": {set: infront(unwritten()["a proxy that repeats"]), ask: []Class{Locked}},
		"the key comes back in a refusal": {set: infront(posted(func(r *http.Response, _ string) string {
			r.StatusCode = 404
			return `{"error":"` + r.Request.Header.Get("X-Api-Key") + `","symbol":"` + r.Request.Header.Get("X-Api-Key") + `"}`
		})), ask: []Class{Locked}},
		"the key comes back as it is refused": {set: infront(posted(func(r *http.Response, _ string) string {
			r.StatusCode = 401
			return `{"error":"` + r.Request.Header.Get("X-Api-Key") + `","message":"no"}`
		})), ask: []Class{Locked}},

		// Two API keys are two, of one holder.
		"second keys: the same":             asking(func(q *Questions) { q.SecondKey, q.SecondSandboxKey = q.LiveKey, q.SandboxKey }),
		"second keys: none of this service": asking(func(q *Questions) { q.SecondKey, q.SecondSandboxKey = "pk_live_other", "pk_test_other" }),
		"second keys: of another": {set: func(_ *testing.T, s *service) {
			first := s.q.LiveKey
			s.front = edited(func(r *http.Response, body string) string {
				if r.Request.Header.Get("X-Api-Key") != first {
					return strings.ReplaceAll(body, "user_1", "user_2")
				}
				return body
			})
		}, ask: []Class{Locked}},

		// No wish of the caller's gets past the guard.
		"wishes: an account that is no id":     asking(func(q *Questions) { q.Tradeable = `acc_1","orderId":"ord_1` }),
		"wishes: an account that is not there": asking(func(q *Questions) { q.Tradeable = "acc_9" }),
		"wishes: no version":                   asking(func(q *Questions) { q.BaseURL = "https://api.example.com" }),
		"wishes: no URL":                       asking(func(q *Questions) { q.BaseURL = "api" }),
		"wishes: keys in the clear":            asking(func(q *Questions) { q.BaseURL = strings.Replace(q.BaseURL, "https://", "http://", 1) }),
		"wishes: the legacy path":              asking(func(q *Questions) { q.BaseURL = strings.Replace(q.BaseURL, "/v1", "/api/v1", 1) }),
		"wishes: a password": asking(func(q *Questions) {
			q.BaseURL = strings.Replace(q.BaseURL, "https://", "https://user:pk_live_secret@", 1)
		}),
		"wishes: no key": asking(func(q *Questions) { q.LiveKey = "" }),

		// Clocks, and what stands in front.
		"reads: asOf an hour behind": {set: infront(shiftedAsOf(-time.Hour)), ask: []Class{Reads}},
		"reads: asOf an hour ahead":  {set: infront(shiftedAsOf(time.Hour)), ask: []Class{Reads}},
		"reads: asOf 9 s behind":     {set: infront(shiftedAsOf(-9 * time.Second)), ask: []Class{Reads}},
		"reads: something in front": {set: infront(with(func(rt http.RoundTripper, r *http.Request, _ string) (*http.Response, error) {
			switch {
			case strings.Contains(r.URL.Path, "/api/v1"):
				x := answer(r, 302, "")
				x.Header.Set("Location", "https://login.example.com/?to=/v1/health")
				return x, nil
			case strings.HasSuffix(r.URL.Path, "/health"):
				x := answer(r, 404, "<html>")
				x.Header.Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
				return x, nil
			}
			return rt.RoundTrip(r)
		})), ask: []Class{Reads}},

		// A trial that is none any more, or has failed, is traded no further, and is left flat.
		"trial: it is no trial any more": traded(Trial, func(_ *testing.T, s *service) { s.front = s.onceTraded(`"isTrial":true`, `"isTrial":false`) }),
		"trial: it is gone":              traded(Trial, func(_ *testing.T, s *service) { s.front = s.onceTraded(`"acc_trial"`, `"acc_else"`) }),
		"trial: it has failed": traded(Trial, func(_ *testing.T, s *service) {
			go func() {
				for len(s.sim.Ledger()) < 2 {
					time.Sleep(time.Second)
				}
				s.sim.SetStatus("acc_trial", "FAILED")
			}()
		}),
		// What ends a run leaves the account flat.
		"trial: 429": traded(Trial, func(_ *testing.T, s *service) { s.sim.Fault("POST /orders", tradingsim.RateLimit(20*time.Second)) }),
		"trial: 500 after the work": traded(Trial, func(_ *testing.T, s *service) {
			s.sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		}),
		"trial: gateway after the work": traded(Trial, func(_ *testing.T, s *service) { s.sim.Fault("POST /orders", tradingsim.GatewayErrorAfter(502)) }),
		"trial: an order arrives late": traded(Trial, func(_ *testing.T, s *service) {
			s.sim.Fault("POST /orders", tradingsim.Pass(), tradingsim.ArriveLate(17*time.Second))
		}),
		"paper: an order arrives late": traded(OnPaper, func(_ *testing.T, s *service) {
			s.sim.Fault("POST /sandbox/orders", tradingsim.Pass(), tradingsim.ArriveLate(17*time.Second))
		}),
		"paper: 200 with an error": traded(OnPaper, infront(odd()["answers 200 with an error"])),
		"paper: health changes beside a trade": traded(OnPaper, func(_ *testing.T, s *service) {
			s.sim.FaultEach(func(operation string) tradingsim.Fault {
				if operation == "GET /sandbox/trades" { // the service says it when its assessment is five seconds old
					s.sim.SetHealth("degraded", "live")
					time.Sleep(6 * time.Second)
				}
				return nil
			})
		}),
		// Equal orders at once that each run show by the position; those that something on the way joins do not look like it.
		"trial: equal orders at once, one runs": traded(Trial, nil),
		"trial: each runs": traded(Trial, func(_ *testing.T, s *service) {
			one := besideEachOther()(s.sim.Transport())
			s.front = func(http.RoundTripper) http.RoundTripper { return one }
		}),
		"trial: they are joined": traded(Trial, func(_ *testing.T, s *service) {
			one := joining(s.sim.Transport())
			s.front = func(http.RoundTripper) http.RoundTripper { return one }
		}),
		"trial: one after another": traded(Trial, func(_ *testing.T, s *service) {
			one := oneByOne(s.sim.Transport())
			s.front = func(http.RoundTripper) http.RoundTripper { return one }
		}),

		// No run begins on an account that is none, that is no trial, or that has something.
		"no run: no trial":   traded(Trial, func(_ *testing.T, s *service) { s.q.TrialAccount = "acc_1" }),
		"no run: unknown":    traded(Trial, func(_ *testing.T, s *service) { s.q.TrialAccount = "acc_9" }),
		"no run: failed":     traded(Trial, func(_ *testing.T, s *service) { s.sim.SetStatus("acc_trial", "FAILED") }),
		"no run: a position": traded(Trial, func(_ *testing.T, s *service) { s.sim.Trade("acc_trial", "long", "1", "ETH") }),
		"no run: an order": traded(Trial, func(t *testing.T, s *service) {
			place(t, s, "/orders/limit", `{"accountId":"acc_trial","symbol":"ETH","side":"long","size":1,"leverage":2,"limitPrice":1000}`)
		}),
		"no run: no price":  traded(Trial, func(_ *testing.T, s *service) { s.sim.SetMark("BTC", "") }),
		"no run: no market": traded(OnPaper, func(_ *testing.T, s *service) { s.q.Symbol = "NOPE" }),
		"no run: paper holds": traded(OnPaper, func(t *testing.T, s *service) {
			place(t, s, "/sandbox/orders", `{"symbol":"ETH","side":"long","size":1}`)
		}),
		"no run: a note of none":                    noted("hello", "", Trial),
		"no run: a note of what is no trial":        noted(`{"class":"trial","account":"acc_1","symbol":"BTC","largest":"10"}`, "acc_1", Reads),
		"no run: a note where somebody else trades": noted(`{"class":"trial","account":"acc_trial","symbol":"BTC","largest":"0.01"}`, "acc_trial", Reads),
	}
	for _, skew := range []time.Duration{0, 900 * time.Millisecond, 4 * time.Second, -time.Hour} {
		all[fmt.Sprint("reads: a clock off by ", skew)] = visit{of: []tradingsim.Option{tradingsim.WithSkew(skew)}, ask: []Class{Reads}}
	}
	for _, lag := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second} {
		all[fmt.Sprint("trial: reads that lag ", lag)] = visit{of: []tradingsim.Option{tradingsim.WithLag(lag)}, set: func(_ *testing.T, s *service) {
			s.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Delay(80 * time.Millisecond) })
			time.Sleep(time.Minute)
		}, ask: []Class{Trial}}
	}
	for _, lag := range []time.Duration{4 * time.Second, 9 * time.Second} { // reads that lag hide what a script has opened last
		all[fmt.Sprint("paper and trial: reads that lag ", lag)] = visit{of: []tradingsim.Option{tradingsim.WithLag(lag)}, set: func(*testing.T, *service) { time.Sleep(time.Minute) }, ask: []Class{OnPaper, Trial}}
	}
	for _, after := range []time.Duration{500, 1500, 2500, 3500, 4500} { // an account that is judged in front of the key
		all[fmt.Sprintf("an account that fails after %d ms", after)] = visit{set: func(_ *testing.T, s *service) {
			began := time.Now()
			s.q.Tradeable = "acc_1"
			s.front = shared(sometimes(func(int, string) bool { return time.Since(began) > after*time.Millisecond }, 403, `{"error":"account_locked"}`))
		}, ask: []Class{Locked}}
	}
	for _, status := range []string{"", "FAILED", "EXPIRED"} { // an account of nobody that is refused in front of the key shows nothing of one's own
		all["a series: nobody is refused in front, beside an account that is "+cmp.Or(status, "active")] = visit{of: []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_old", Status: status})}, set: infront(nobodyIsInFront)}
	}
	for _, after := range []time.Duration{48 * time.Hour, 2 * time.Hour, 30 * time.Minute} {
		all[fmt.Sprint("a series: answers are forgotten after ", after)] = visit{set: func(_ *testing.T, s *service) { s.front, s.q.Tradeable = forgetting(after), "acc_1" }}
	}
	return all
}

// onceTraded is a service whose list of accounts changes with the first trade.
func (s *service) onceTraded(from, to string) front {
	return rewriting("/accounts", func(body string) string {
		if len(s.sim.Ledger()) > 0 {
			return strings.ReplaceAll(body, from, to)
		}
		return body
	})
}

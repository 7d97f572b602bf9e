package tradingsim_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestKeysAreJudgedInFrontOfEveryRoute(t *testing.T) {
	for _, c := range []struct {
		name   string
		path   string
		key    func(*tradingsim.Sim) string
		opts   []tradingsim.Option
		before func(*tradingsim.Sim)
		status int
		code   string
	}{
		{name: "none", path: "/me", key: noKey, status: 401, code: "missing_api_key"},
		{name: "unknown", path: "/me", key: text("pk_test_nope"), status: 401, code: "invalid_api_key"},
		{name: "a typo is unknown, whatever its prefix", path: "/sandbox/account", key: text("pk_live_nope"), status: 401, code: "invalid_api_key"},
		{name: "revoked", path: "/me", key: (*tradingsim.Sim).SandboxKey, status: 401, code: "revoked_api_key",
			before: func(s *tradingsim.Sim) { s.RevokeKey(s.SandboxKey()) }},
		{name: "live key in the sandbox", path: "/sandbox/account", key: (*tradingsim.Sim).LiveKey, status: 403, code: "wrong_environment"},
		{name: "denied", path: "/me", key: (*tradingsim.Sim).LiveKey, status: 403, code: "api_access_denied",
			before: func(s *tradingsim.Sim) { s.SetAccess(false) }},
		{name: "denied before the environment", path: "/sandbox/account", key: (*tradingsim.Sim).LiveKey, status: 403, code: "api_access_denied",
			before: func(s *tradingsim.Sim) { s.SetAccess(false) }},
		{name: "the environment before denied", path: "/sandbox/account", key: (*tradingsim.Sim).LiveKey, status: 403, code: "wrong_environment",
			opts: []tradingsim.Option{tradingsim.WithInterpretation(1)}, before: func(s *tradingsim.Sim) { s.SetAccess(false) }},
		{name: "denied in the right environment", path: "/me", key: (*tradingsim.Sim).LiveKey, status: 403, code: "api_access_denied",
			opts: []tradingsim.Option{tradingsim.WithInterpretation(1)}, before: func(s *tradingsim.Sim) { s.SetAccess(false) }},
		{name: "unknown path without a key", path: "/nope", key: noKey, status: 404, code: "not_found"},
		{name: "unknown path under the other interpretation", path: "/nope", key: noKey, status: 401, code: "missing_api_key",
			opts: []tradingsim.Option{tradingsim.WithInterpretation(8)}},
		{name: "templates are no paths", path: "/accounts/{accountId}/nope", key: (*tradingsim.Sim).LiveKey, status: 404, code: "not_found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := tradingsim.New(c.opts...)
			if c.before != nil {
				c.before(sim)
			}
			key := c.key(sim)
			b := sandboxBot(t, sim)
			b.key = key
			b.get(c.path).refused(c.status, c.code)
		})
	}
}

func noKey(*tradingsim.Sim) string { return "" }

func text(s string) func(*tradingsim.Sim) string {
	return func(*tradingsim.Sim) string { return s }
}

func TestBearerIsTheFallback(t *testing.T) {
	for interpretation, want := range map[int]string{0: "sandbox", 48: "live"} {
		sim := tradingsim.New(reading(interpretation)...)
		b := sandboxBot(t, sim)
		g := b.send("GET", "/me", "", "Authorization", "Bearer "+sim.LiveKey()).ok()
		require.Equal(t, want, g.text("environment"))
		b.key = ""
		g = b.send("GET", "/me", "", "Authorization", "Bearer "+sim.LiveKey()).ok()
		require.Equal(t, "live", g.text("environment"))
		b.send("GET", "/me", "", "Authorization", "Basic "+sim.LiveKey()).refused(401, "missing_api_key")
	}
}

func TestMethodsThatDoNotExist(t *testing.T) {
	b := sandboxBot(t, tradingsim.New())
	b.send("DELETE", "/sandbox/orders", "").refused(404, "not_found")
	b.get("/sandbox/orders").refused(404, "not_found")
}

func TestFailedAuthenticationThrottlesTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithAuthLimit(3))
		good := sandboxBot(t, sim)
		bad, none, live := good, good, good
		bad.key, none.key, live.key = "pk_test_nope", "", sim.LiveKey()
		live.get("/sandbox/account").refused(403, "wrong_environment")
		bad.get("/me").refused(401, "invalid_api_key")
		bad.get("/me").refused(401, "invalid_api_key")
		none.get("/me").refused(401, "missing_api_key")

		g := good.get("/me").refused(429, "rate_limited")
		require.Equal(t, "60", g.Header.Get("Retry-After"))
		require.Empty(t, g.Header.Get("X-RateLimit-Limit"))
		none.get("/health").ok()
		none.get("/openapi.json").ok()

		time.Sleep(time.Minute)
		good.get("/me").ok()
	})
}

func TestThrottleUnderTheOtherInterpretations(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithAuthLimit(1), tradingsim.WithInterpretation(2), tradingsim.WithInterpretation(3))
	b := sandboxBot(t, sim)
	b.key = sim.LiveKey()
	b.get("/sandbox/account").refused(403, "wrong_environment")
	require.Empty(t, b.get("/me").refused(429, "rate_limited").Header.Get("Retry-After"))
}

func TestKeyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		b := sandboxBot(t, sim)
		b.key = sim.LiveKey()
		time.Sleep(500 * time.Millisecond)
		for i := range 600 {
			path := "/me"
			if i%3 == 0 {
				path = "/sandbox/account" // refused requests count too
			}
			require.Empty(t, b.get(path).Header.Get("X-RateLimit-Limit"))
		}
		time.Sleep(59 * time.Second)
		g := b.get("/me").refused(429, "rate_limited")
		for name, want := range map[string]string{
			"Retry-After": "60", "X-RateLimit-Limit": "600", "X-RateLimit-Remaining": "0",
			"X-RateLimit-Reset": strconv.FormatInt(time.Now().Unix()+2, 10), // of the fixed window, rounded up
		} {
			require.Equal(t, want, g.Header.Get(name), name)
		}
		other := b
		other.key = sim.NewSandboxKey()
		other.get("/me").ok()
		b.get("/health").ok()

		time.Sleep(time.Second)
		b.get("/me").ok()
	})
}

func TestTheKeyLimitIsJudgedLast(t *testing.T) {
	b := sandboxBot(t, tradingsim.New(tradingsim.WithKeyLimit(1)))
	b.get("/accounts").refused(403, "wrong_environment")
	b.get("/accounts").refused(403, "wrong_environment")
	b.get("/me").refused(429, "rate_limited")
}

func TestKeyLimitUnderTheOtherInterpretations(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithKeyLimit(1), tradingsim.WithInterpretation(4), tradingsim.WithInterpretation(5))
	b := sandboxBot(t, sim)
	b.key = sim.LiveKey()
	b.get("/sandbox/account").refused(403, "wrong_environment")
	g := b.get("/me").ok()
	require.Equal(t, "1", g.Header.Get("X-RateLimit-Limit"))
	require.Equal(t, "0", g.Header.Get("X-RateLimit-Remaining"))
	b.get("/me").refused(429, "rate_limited")
}

func TestHealth(t *testing.T) {
	for _, c := range []struct {
		status, feed string
		http         int
	}{
		{"healthy", "live", 200},
		{"degraded", "stale", 503},
		{"unavailable", "unknown", 503},
	} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New()
			b := sandboxBot(t, sim)
			b.key = ""
			first := b.get("/health").ok()
			require.Equal(t, "healthy", first.text("status"))
			sim.SetHealth(c.status, c.feed)
			time.Sleep(5*time.Second - time.Millisecond)
			require.Equal(t, first.Text, b.get("/health").Text, "the assessment is reused")
			time.Sleep(time.Millisecond)

			g := b.get("/health")
			require.Equal(t, c.http, g.Status)
			for path, want := range map[string]string{
				"ok": strconv.FormatBool(c.http == 200), "status": c.status, "feed": c.feed, "version": "v1",
				"service": "trading-api", "cacheSeconds": "5", "asOf": strconv.FormatInt(time.Now().UnixMilli(), 10),
			} {
				require.Equal(t, want, g.text(path), path)
			}
		})
	}
}

func TestLegacyPathRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		b := sandboxBot(t, tradingsim.New(tradingsim.WithRedirect(status)))
		b.url = b.url[:len(b.url)-len("/v1")] + "/api/v1"
		g := b.get("/sandbox/prices?symbol=BTC")
		require.Equal(t, status, g.Status)
		require.Equal(t, "/v1/sandbox/prices?symbol=BTC", g.Header.Get("Location"))
	}
}

func TestLegacyPathUnderTheOtherInterpretation(t *testing.T) {
	b := sandboxBot(t, tradingsim.New(tradingsim.WithInterpretation(47)))
	b.url = b.url[:len(b.url)-len("/v1")] + "/api/v1"
	require.Equal(t, 301, b.get("/me").Status)
}

func TestAnOwnerHasTwentyKeys(t *testing.T) {
	sim := tradingsim.New()
	for range 18 {
		sim.NewLiveKey()
	}
	require.Panics(t, func() { sim.NewLiveKey() })
	sim.RevokeKey(sim.LiveKey())
	require.NotPanics(t, func() { sim.NewLiveKey() })
}

func TestAdvanceMakesAnyClockJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		sim.Advance(time.Hour)
		time.Sleep(time.Second)
		require.Equal(t, time.Now().Add(time.Hour), sim.Now())
		require.Panics(t, func() { sim.Advance(-1) })
	})
}

func TestClockSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sandboxBot(t, tradingsim.New(tradingsim.WithSkew(-time.Hour)))
		require.Equal(t, strconv.FormatInt(time.Now().Add(-time.Hour).UnixMilli(), 10), b.get("/health").text("asOf"))
	})
}

// A setting that makes no sense is a mistake in the test, and says which it is.
func TestSettingsThatMakeNoSense(t *testing.T) {
	for name, option := range map[string]func() tradingsim.Option{
		"WithLag":        func() tradingsim.Option { return tradingsim.WithLag(-time.Second) },
		"WithKeyLimit":   func() tradingsim.Option { return tradingsim.WithKeyLimit(-1) },
		"WithAuthLimit":  func() tradingsim.Option { return tradingsim.WithAuthLimit(-1) },
		"WithUserLimits": func() tradingsim.Option { return tradingsim.WithUserLimits(1, -1) },
		"WithTradeRows":  func() tradingsim.Option { return tradingsim.WithTradeRows(-1) },
		"WithRequestLog": func() tradingsim.Option { return tradingsim.WithRequestLog(-1) },
		"balance":        func() tradingsim.Option { return tradingsim.WithBalance("-1") },
		"profit split":   func() tradingsim.Option { return tradingsim.WithSandbox(tradingsim.Sandbox{ProfitSplit: "-0.1"}) },
		"MinNotional":    func() tradingsim.Option { return tradingsim.WithCaps(tradingsim.Caps{MinNotional: "-1"}) },
		"NotionalCap": func() tradingsim.Option {
			return tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", NotionalCap: "-1"})
		},
		"MaxLeverage": func() tradingsim.Option {
			return tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", MaxLeverage: "0"})
		},
		"there is no other interpretation": func() tradingsim.Option { return tradingsim.WithInterpretation(29) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), name) }()
			tradingsim.New(option())
		})
	}
	sim := tradingsim.New()
	require.Panics(t, func() { sim.SetLag("*", -time.Second) })
}

func TestTransportAnswersLikeHTTP(t *testing.T) {
	sim := tradingsim.New()
	client := &http.Client{Transport: sim.Transport()}
	res, err := client.Get(sim.URL() + "/health")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, "200 OK", res.Status)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	require.Equal(t, res.ContentLength, int64(len(text)))
	require.NotEmpty(t, res.Header.Get("Date"))
	require.True(t, strings.HasSuffix(sim.URL(), "/v1"))
}

func TestBodiesAreBounded(t *testing.T) {
	sim := tradingsim.New()
	b := sandboxBot(t, sim)
	b.post("/sandbox/orders", strings.Repeat(" ", 1<<20)).refused(400, "invalid_json")
	b.post("/sandbox/orders", strings.Repeat(" ", 1<<20+1)).refused(400, "bad_request")
}

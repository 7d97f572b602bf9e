package tradingsim_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

func seen(number string, env profile.Environment, first, other int) profile.Result {
	r := profile.Result{Experiment: number, Environment: env, Verdict: profile.Of(first, other, 0), N: first + other, CountFirst: first, CountOther: other}
	if r.N == 0 {
		r.Why = "not seen"
	}
	return r
}

// What was seen otherwise is switched on, and nothing else.
func TestWithProfile(t *testing.T) {
	p := &profile.Profile{Version: 1, MeasuredAt: time.Now(), Results: []profile.Result{
		seen("42", profile.Live, 0, 3), seen("43", profile.Live, 1, 1), seen("44", profile.Live, 9, 0), seen("45", profile.Live, 0, 0),
		seen("31", profile.Paper, 0, 2), seen("54", profile.Paper, 0, 2), seen("A1", profile.Live, 0, 1), seen("28p", profile.Paper, 0, 1),
	}}
	assert.Equal(t, []int{31, 42, 43}, slices.Sorted(maps.Keys(tradingsim.Profiled(p))), "what paper shows of 54 says nothing of live accounts")

	sim := tradingsim.New(tradingsim.WithProfile(p))
	defer sim.Close()
	b := sandboxBot(t, sim)
	assert.NotContains(t, b.get("/sandbox/trades").ok().Text, `"ok"`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sim.URL()+"/positions?accountId=acc_1", http.NoBody)
	require.NoError(t, err)
	r.Header.Set("X-API-Key", sim.LiveKey())
	resp, err := sim.Transport().RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "[]", strings.TrimSpace(string(text)))
}

func TestWithProfileLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &profile.Profile{Version: 1, Measured: profile.Measured{ReadLag: profile.Spread{N: 1, Most: profile.Duration(3 * time.Second), P99: profile.Duration(time.Second)}}}
		sim := tradingsim.New(tradingsim.WithProfile(p), tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		time.Sleep(time.Minute)
		b := sandboxBot(t, sim)
		b.key = sim.LiveKey()
		sim.Trade("acc_1", "long", "1", "BTC")
		time.Sleep(2900 * time.Millisecond)
		assert.NotContains(t, b.get("/positions?accountId=acc_1").ok().Text, "BTC")
		time.Sleep(200 * time.Millisecond)
		assert.Contains(t, b.get("/positions?accountId=acc_1").ok().Text, "BTC")
	})
}

func TestAnInvalidProfilePanics(t *testing.T) {
	require.Panics(t, func() { tradingsim.WithProfile(&profile.Profile{Version: 2}) })
}

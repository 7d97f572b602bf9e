package tradingsim_test

import (
	"context"
	"encoding/json"
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

// Fees are those that were measured, and the age of a mark is.
func TestWithProfileFeesAndMarkAge(t *testing.T) {
	p := &profile.Profile{Version: 1, Measured: profile.Measured{
		TakerFee: "0.001", MakerFee: "0.0002",
		MarkAge: profile.Spread{N: 3, Median: profile.Duration(40 * time.Millisecond), P99: profile.Duration(time.Second), Most: profile.Duration(time.Second)},
	}}
	sim := tradingsim.New(tradingsim.WithProfile(p), tradingsim.WithMark("BTC", "50000"), tradingsim.WithManualClock(time.Now()))
	defer sim.Close()
	b := sandboxBot(t, sim)
	assert.Contains(t, b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":1}`).ok().Text, `"ageMs":40`)

	b.key = sim.LiveKey()
	paid := func() string { return sim.Report().Accounts[1].Fees.String() }
	sim.Trade("acc_1", "long", "0.1", "BTC")
	assert.Equal(t, "5", paid(), "the taker fee of 5,000")
	b.post("/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"limitPrice":49000,"leverage":2}`).ok()
	sim.SetMark("BTC", "49000")
	sim.Advance(time.Second)
	assert.Equal(t, "5.98", paid(), "the maker fee of 4,900")
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

// Answers take as long as was measured of their operation, drawn from the seed: the same again with the same.
func TestWithProfileTakesAsLong(t *testing.T) {
	p := &profile.Profile{Version: 1, Measured: profile.Measured{AnswerTime: map[string]profile.Spread{"GET /sandbox/account": {
		N: 100, Median: profile.Duration(80 * time.Millisecond), P99: profile.Duration(time.Second), Most: profile.Duration(3 * time.Second),
	}}}}
	took := func(path string, opts ...tradingsim.Option) (all []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(append(opts, tradingsim.WithProfile(p), tradingsim.WithKeyLimit(2000))...)
			defer sim.Close()
			b := sandboxBot(t, sim)
			for range 1000 {
				began := time.Now()
				b.get(path).ok()
				all = append(all, time.Since(began))
			}
		})
		return all
	}
	drawn := took("/sandbox/account")
	assert.Equal(t, drawn, took("/sandbox/account"), "from the seed")
	assert.NotEqual(t, drawn, took("/sandbox/account", tradingsim.WithSeed(2)))
	assert.Zero(t, slices.Max(took("/sandbox/trades")), "what was not measured takes no time")
	assert.Zero(t, slices.Max(took("/sandbox/account", tradingsim.WithManualClock(time.Now()))), "nobody would move the clock meanwhile")
	slices.Sort(drawn)
	assert.Equal(t, 80*time.Millisecond, drawn[400])
	assert.InDelta(t, float64(time.Second), float64(drawn[990]), float64(300*time.Millisecond))
	assert.LessOrEqual(t, drawn[999], 3*time.Second)
	assert.Greater(t, drawn[999], time.Second)
}

// A caller that gives up does not stop what it has sent, and a paper order without a leverage has the one that was seen.
func TestWithProfileExecutes(t *testing.T) {
	second := profile.Duration(time.Second)
	p := &profile.Profile{Version: 1, Measured: profile.Measured{DefaultLeverage: "3", AnswerTime: map[string]profile.Spread{"POST /sandbox/orders": {N: 1, Median: second, P99: second, Most: second}}}}
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithProfile(p))
		defer sim.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, sim.URL()+"/sandbox/orders", strings.NewReader(`{"symbol":"BTC","side":"long","size":0.01}`))
		require.NoError(t, err)
		r.Header.Set("X-API-Key", sim.SandboxKey())
		_, err = sim.Transport().RoundTrip(r)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, sim.Ledger(), 1)
		assert.Contains(t, sandboxBot(t, sim).get("/sandbox/positions").ok().Text, `"leverage":3`)
	})
}

func TestAnInvalidProfilePanics(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":2}`: "version is 2", `null`: "version is 0", `[]`: "cannot unmarshal", `{`: "unexpected end",
		`{"version":1,"measured":{"readLag":{"n":1,"median":"2s","p99":"1s","most":"3s"}}}`:           "must not fall",
		`{"version":1,"measured":{"answerTime":{"GET /me":{"median":"-1s","p99":"1s","most":"3s"}}}}`: "negative",
		`{"version":1,"measured":{"markAge":{"most":"soon"}}}`:                                        "invalid duration",
		`{"version":1,"measured":{"takerFee":"1e-9"}}`:                                                "plain decimal",
		`{"version":1,"measured":{"minNotional":"-10"}}`:                                              "plain decimal",
	} {
		func() {
			defer func() { assert.Contains(t, recover(), want, text) }()
			tradingsim.WithProfile(json.RawMessage(text))
		}()
	}
}

// The simulation reads what package profile writes.
func TestWithProfileTakesItsJSON(t *testing.T) {
	p := &profile.Profile{Version: 1, MeasuredAt: time.Now(), Results: []profile.Result{seen("42", profile.Live, 0, 3)}}
	text, err := p.Encode()
	require.NoError(t, err)
	assert.Equal(t, tradingsim.Profiled(p), tradingsim.Profiled(json.RawMessage(text)))
	assert.Len(t, tradingsim.Profiled(p), 1)
}

// FuzzWithProfile looks for a profile that is taken, and that no simulation begins with.
func FuzzWithProfile(f *testing.F) {
	f.Add(`{"version":1,"results":[{"experiment":"53","environment":"live","verdict":"mixed"}],"measured":{"answerTime":{"GET /me":{"median":"1s","p99":"2s","most":"3s"}},` +
		`"readLag":{"most":"3s","p99":"1s"},"takerFee":"0.001","minNotional":"25","defaultLeverage":"3"}}`)
	f.Add(`{"version":1,"measured":{"defaultLeverage":"0"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, taken := func() (o tradingsim.Option, taken bool) {
			defer func() { taken = recover() == nil }()
			return tradingsim.WithProfile(json.RawMessage(text)), true
		}()
		if taken {
			tradingsim.New(o).Close()
		}
	})
}

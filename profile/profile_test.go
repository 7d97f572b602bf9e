package profile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
)

var day = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func whole() *profile.Profile {
	return &profile.Profile{
		Version: profile.Version, BaseURL: "https://api.example.com/v1", Holder: "holder_1a2b", MeasuredAt: day, By: "0.2.0",
		Results: []profile.Result{
			{Experiment: "A1", Environment: profile.Live, Verdict: profile.First, N: 8, CountFirst: 8, Connections: 4, Span: profile.Duration(time.Hour), At: day, Proof: []int{0}},
			{Experiment: "49", Environment: profile.Live, Verdict: profile.Mixed, N: 2, CountFirst: 1, CountOther: 1, At: day},
			{Experiment: "31", Environment: profile.Paper, Verdict: profile.Unseen, Why: "no read of the paper account"},
		},
		Measured: profile.Measured{
			AnswerTime: map[string]profile.Spread{"GET /positions": {N: 3, Median: 1, P99: 2, Most: 3}},
			ReadLag:    profile.Spread{N: 9, Median: profile.Duration(time.Second), P99: profile.Duration(2 * time.Second), Most: profile.Duration(3 * time.Second)},
			TakerFee:   "0.00045", MinNotional: "10",
		},
		Exchanges: []profile.Exchange{{At: day, Operation: "POST /orders/cancel", Key: "key_1", Request: "{}", Status: 404, Replayed: true, Response: "{}", Source: "bot.audit.jsonl"}},
		Begun:     []profile.Begun{{Experiment: "A4", At: day, Due: day.Add(23 * time.Hour), Key: "k", Account: "account_1"}},
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.json")
	require.NoError(t, whole().Save(path))
	p, err := profile.Load(path)
	require.NoError(t, err)
	assert.Equal(t, whole(), p)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// What this version does not know could change what the rest means: a newer version of the file would say so.
func TestUnknownMembersAreRefused(t *testing.T) {
	text, err := whole().Encode()
	require.NoError(t, err)
	_, err = profile.Decode(text)
	require.NoError(t, err)
	for _, known := range []string{`"version"`, `"experiment"`, `"readLag"`, `"p99"`, `"operation"`, `"due"`} {
		require.Contains(t, string(text), known)
		_, err = profile.Decode(bytes.Replace(text, []byte(known), []byte(`"later": 1, `+known), 1))
		require.ErrorContains(t, err, `"later"`, known)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	_, err := profile.Decode([]byte(`{"version": 2, "results": "of another shape"}`))
	var newer *profile.VersionError
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, profile.VersionError{Version: 2, Known: 1}, *newer)
	for _, do := range []string{"newer version of the module", "trading observe"} {
		assert.ErrorContains(t, err, do)
	}
}

func TestValidate(t *testing.T) {
	for says, spoil := range map[string]func(*profile.Profile){
		"version is 0":                 func(p *profile.Profile) { p.Version = 0 },
		"measuredAt":                   func(p *profile.Profile) { p.MeasuredAt = time.Time{} },
		"twice":                        func(p *profile.Profile) { p.Results = append(p.Results, p.Results[0]) },
		"no number":                    func(p *profile.Profile) { p.Results[0].Experiment = "B1" },
		`environment is ""`:            func(p *profile.Profile) { p.Results[0].Environment = "" },
		`verdict is "yes"`:             func(p *profile.Profile) { p.Results[0].Verdict = "yes" },
		"the counts are":               func(p *profile.Profile) { p.Results[0].N = 9 },
		"the counts say mixed":         func(p *profile.Profile) { p.Results[1].Verdict = profile.First },
		"needs a why":                  func(p *profile.Profile) { p.Results[2].Why = "" },
		"exchange 1 of 1":              func(p *profile.Profile) { p.Results[0].Proof = []int{1} },
		"must not be negative":         func(p *profile.Profile) { p.Results[0].Span = -1 },
		"readLag":                      func(p *profile.Profile) { p.Measured.ReadLag.Most = 0 },
		"answerTime of GET /positions": func(p *profile.Profile) { p.Measured.AnswerTime["GET /positions"] = profile.Spread{N: -1} },
		"takerFee":                     func(p *profile.Profile) { p.Measured.TakerFee = "4.5e-4" },
		"a due time after":             func(p *profile.Profile) { p.Begun[0].Due = day },
		"API key":                      func(p *profile.Profile) { p.Exchanges[0].Response = "pk_live_x" },
	} {
		p := whole()
		spoil(p)
		_, err := p.Encode()
		assert.ErrorContains(t, err, says)
		assert.Error(t, p.Save(filepath.Join(t.TempDir(), "p")), says)
	}
	_, err := profile.Decode([]byte(`{"version":1,"x":"pk_test_1"}`))
	require.ErrorContains(t, err, "API key")
	for _, text := range []string{"", "[]", "{}", `{"version":"1"}`, "null"} {
		_, err := profile.Decode([]byte(text))
		assert.ErrorContains(t, err, "not a profile", text)
	}
	_, err = profile.Load(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		first, other, neither int
		want                  profile.Verdict
	}{
		{0, 0, 0, profile.Unseen}, {8, 0, 0, profile.First}, {0, 8, 0, profile.Other}, {7, 1, 0, profile.Mixed}, {8, 0, 1, profile.Neither}, {1, 1, 1, profile.Neither},
	} {
		assert.Equal(t, c.want, profile.Of(c.first, c.other, c.neither))
	}
}

func TestStale(t *testing.T) {
	p := whole()
	require.NoError(t, p.Stale(day.Add(30*24*time.Hour)))
	require.ErrorContains(t, p.Stale(day.Add(31*24*time.Hour)), "31 days ago")
	require.ErrorContains(t, p.Stale(day.Add(-48*time.Hour)), "future")
}

func TestResult(t *testing.T) {
	r, ok := whole().Result("A1", profile.Paper)
	assert.False(t, ok)
	assert.Equal(t, profile.Unseen, r.Verdict, "what was seen live says nothing of paper")
}

func TestCompare(t *testing.T) {
	now := whole()
	assert.Empty(t, profile.Compare(whole(), now))
	now.Results[0].Verdict, now.Results[0].CountFirst, now.Results[0].CountOther = profile.Other, 0, 8
	now.Results[1] = profile.Result{Experiment: "49", Environment: profile.Live, Verdict: profile.Unseen, Why: "no control"}
	now.Results[2] = profile.Result{Experiment: "31", Environment: profile.Paper, Verdict: profile.First, N: 1, CountFirst: 1}
	changes := profile.Compare(whole(), now)
	require.Len(t, changes, 1, "what is unseen says nothing")
	assert.Equal(t, "A1 (live): first before, other now", changes[0].String())
}

func ExampleDecode() {
	p, err := profile.Decode([]byte(`{"version": 1, "measuredAt": "2026-11-23T12:00:00Z", "by": "0.2.0", "measured": {}, "results": [
		{"experiment": "49", "environment": "live", "verdict": "first", "n": 8, "first": 8, "other": 0, "neither": 0}
	]}`))
	if err != nil {
		panic(err)
	}
	r, _ := p.Result("49", profile.Live)
	fmt.Println(r.Verdict, r.CountFirst, "of", r.N)
	// Output: first 8 of 8
}

func FuzzDecode(f *testing.F) {
	text, err := whole().Encode()
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := profile.Decode(text)
		if err != nil {
			return
		}
		once, err := p.Encode()
		if err != nil {
			if strings.Contains(err.Error(), "API key") {
				return // it was written with escapes
			}
			t.Fatal(err)
		}
		again, err := profile.Decode(once)
		require.NoError(t, err, "%v: %s", err, once)
		twice, err := again.Encode()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v:\n%s\n%s", err, once, twice)
		}
	})
}

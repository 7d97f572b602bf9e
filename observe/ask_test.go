package observe

import (
	"context"
	"flag"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// service is who is asked: a simulation, perhaps with something in front.
type service struct {
	t     *testing.T
	sim   *tradingsim.Sim
	front func(http.RoundTripper) http.RoundTripper
	q     Questions
}

func newService(t *testing.T, opts ...tradingsim.Option) *service {
	sim := tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_trial", Trial: true})}, opts...)...)
	t.Cleanup(func() { _ = sim.Close() })
	s := &service{t: t, sim: sim}
	s.q = Questions{BaseURL: sim.URL(), LiveKey: sim.LiveKey(), SandboxKey: sim.SandboxKey(), SecondKey: sim.NewLiveKey()}
	s.q.Connect = func() http.RoundTripper {
		if s.front != nil {
			return s.front(sim.Transport())
		}
		return sim.Transport()
	}
	return s
}

// visit asks once, and judges.
func (s *service) visit(classes ...Class) (*profile.Profile, *Evidence) {
	s.t.Helper()
	s.q.Classes = classes
	e, err := Ask(s.t.Context(), s.q)
	require.NoError(s.t, err)
	if !slices.Contains(classes, Trial) && !slices.Contains(classes, OnPaper) {
		assert.LessOrEqual(s.t, e.Reads, mostReads*len(classes), "as it says before")
	}
	p := Judge(e, About{BaseURL: s.q.BaseURL, By: "test", Before: s.q.Before})
	require.NoError(s.t, p.Validate())
	s.q.Before = p
	return p, e
}

// series asks all that can be asked without trading, over 25 hours.
func (s *service) series() *profile.Profile {
	s.t.Helper()
	p, _ := s.visit(Reads, Locked)
	for n := 0; len(p.Begun) > 0 && n < 10; n++ {
		next := slices.MinFunc(p.Begun, func(a, b profile.Begun) int { return a.Due.Compare(b.Due) })
		time.Sleep(time.Until(next.Due))
		p, _ = s.visit(Locked)
	}
	require.Empty(s.t, p.Begun)
	return p
}

// asksLive are the experiments that a series decides under the simulator's own readings.
var asksLive = []string{"A1", "A2", "49", "51", "9", "13", "A4", "A5", "A6", "A15", "A18", "14", "8", "47", "48", "A10", "A13"}

func TestASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		p, e := s.visit(Locked)
		r, _ := p.Result("A1", profile.Live)
		assert.Equal(t, profile.Unseen, r.Verdict)
		assert.Equal(t, "4 of 8 rounds: it needs another visit", r.Why)
		assert.LessOrEqual(t, e.Writes, maxWrites)
		assert.Empty(t, e.Ended)

		s.q.Before = nil
		time.Sleep(48 * time.Hour)
		p = s.series()
		for _, number := range asksLive {
			r, _ := p.Result(number, profile.Live)
			assert.Equal(t, profile.First, r.Verdict, "%s: %s %+v", number, r.Why, r)
		}
		r, _ = p.Result("A1", profile.Live)
		assert.Equal(t, 8, r.CountFirst)
		assert.GreaterOrEqual(t, r.Connections, 4)
		assert.GreaterOrEqual(t, time.Duration(r.Span), time.Hour)
		assert.NotEmpty(t, r.Proof)
		assert.Empty(t, s.sim.Ledger(), "no account changes")
	})
}

// Under an own account that could have the order, A8 is seen too.
func TestASeriesOnATradeableAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.q.Tradeable = "acc_1"
		p := s.series()
		for _, number := range append([]string{"A8"}, asksLive...) {
			r, _ := p.Result(number, profile.Live)
			assert.Equal(t, profile.First, r.Verdict, "%s: %s %+v", number, r.Why, r)
		}
		for _, b := range []string{"acc_1", "pk_live"} {
			text, err := p.Encode()
			require.NoError(t, err)
			assert.NotContains(t, string(text), b)
		}
	})
}

// readings are options of some other readings.
func readings(set ...int) (opts []tradingsim.Option) {
	for _, i := range set {
		opts = append(opts, tradingsim.WithInterpretation(i))
	}
	return opts
}

// asksFind are the readings that a series finds out when they are otherwise.
var asksFind = []int{4, 8, 9, 13, 14, 31, 42, 43, 47, 48, 49, 51}

// Under each other reading a series finds it, or says unseen.
func TestASeriesUnderEachReading(t *testing.T) {
	for _, i := range some(1) {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, readings(i)...)
			p := s.series()
			assert.Empty(t, wrong(p, i), "under %d", i)
			r, _ := p.Result(strconv.Itoa(i), environmentOfReading(i))
			if slices.Contains(asksFind, i) {
				assert.Equal(t, profile.Other, r.Verdict, "%d: %s", i, r.Why)
			} else {
				assert.NotEqual(t, profile.First, r.Verdict, "%d", i)
			}
			assert.Empty(t, s.sim.Ledger(), "%d: no account changes", i)
		})
	}
}

// Under every pair a series is never wrong. A sample takes one of 300, TESTS=full one of 90, -observe.pairs all.
func TestASeriesUnderPairs(t *testing.T) {
	all := slices.Sorted(maps.Keys(tradingsim.Interpretations()))
	step, n := 90, 0
	switch {
	case *allPairs:
		step = 1
	case brief():
		step = rarer(300)
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if n++; n%step != 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				s := newService(t, readings(a, b)...)
				assert.Empty(t, wrong(s.series(), a, b))
				assert.Empty(t, s.sim.Ledger())
				s = trader(t, readings(a, b)...)
				p, e := s.visit(Trial, OnPaper)
				assert.Empty(t, e.Ended)
				assert.Empty(t, wrong(p, a, b))
				s.flat()
			})
		}
	}
}

// brief reports whether a sample is enough.
func brief() bool { return !depth.Full() }

// rarer is how far apart a sample takes its cases: further under the race detector.
func rarer(step int) int {
	if depth.Race {
		return 3 * step
	}
	return step
}

// some are the readings to ask under: all, or one in six for a sample, beginning at another one each.
func some(first int) (numbers []int) {
	step := rarer(6)
	for i, number := range slices.Sorted(maps.Keys(tradingsim.Interpretations())) {
		if !brief() || i%step == first%step {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

var allPairs = flag.Bool("observe.pairs", false, "ask under every pair of readings, some minutes")

var allKills = flag.Bool("observe.kills", false, "kill a run at each request, some minutes")

// Nothing is sent beside a write that is pending, or a protection that refuses entries.
func TestNothingIsSentBesideAPendingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		path := filepath.Join(t.TempDir(), "bot.journal")
		log, err := journal.Open(path)
		require.NoError(t, err)
		client := tradingtest.Client(t, s.sim, trading.WithJournal(log), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		s.sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		require.Error(t, err)
		_ = client.Close()
		require.NoError(t, log.Close())
		n := len(s.sim.Ledger())
		s.q.Journal = path
		_, e := s.visit(Locked)
		assert.Contains(t, e.Ended, "pending write")
		assert.Zero(t, e.Writes)
		assert.Len(t, s.sim.Ledger(), n)
		s.q.Journal, s.q.StateDir = path+".none", t.TempDir()
		_, e = s.visit(Locked)
		assert.Empty(t, e.Ended)
	})
}

// A visit does not name an account on which something rests or runs.
func TestATradeableAccountIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.q.Tradeable = "acc_1"
		place(t, s, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":2,"limitPrice":50000}`)
		_, e := s.visit(Locked)
		assert.Contains(t, e.Ended, "rests or runs")
		assert.Zero(t, e.Writes)
	})
}

// A halt stops a visit.
func TestNothingIsSentBesideAHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.q.StateDir = t.TempDir()
		p, err := protect.New(protect.Options{Client: tradingtest.Client(t, s.sim), Accounts: []trading.AccountID{"acc_1"}, Dir: s.q.StateDir})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		time.Sleep(time.Minute)
		_, e := s.visit(Locked)
		assert.Empty(t, e.Ended, "a protection that takes entries")
		require.NoError(t, p.Halt("acc_1", "a test"))
		time.Sleep(time.Minute)
		s.q.Before = nil
		_, e = s.visit(Locked)
		assert.Contains(t, e.Ended, "refuses entries")
		assert.Zero(t, e.Writes)
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, p.Close())
	})
}

// Over real connections: a visit opens four, and what it sends gets through as it is. The clock of the
// visit is the test's.
func TestAVisitOpensConnections(t *testing.T) {
	s := newService(t)
	require.NoError(t, s.sim.Listen("127.0.0.1:0"))
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s.q.BaseURL, s.q.Connect = s.sim.URL(), nil
	s.q.Clock = Clock{Now: func() time.Time { return now }, Sleep: func(ctx context.Context, d time.Duration) error {
		now = now.Add(d)
		return ctx.Err()
	}}
	_, e := s.visit(Locked)
	assert.Empty(t, e.Ended)
	assert.Equal(t, 38, e.Writes)
	over := map[string]bool{}
	for _, r := range s.sim.Requests() {
		if r.Operation == "POST /orders/cancel" {
			over[r.Connection] = true
		}
	}
	assert.Len(t, over, connections)
	for _, r := range e.Rounds {
		assert.Empty(t, r.Void)
	}
}

// A profile goes on with the same service and the same holder alone.
func TestAProfileOfSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		p, _ := s.visit(Locked)
		assert.Equal(t, profile.Token("holder", "user_1"), p.Holder)
		time.Sleep(time.Hour)
		n := len(s.sim.Requests())
		for _, change := range []func(*profile.Profile){
			func(p *profile.Profile) { p.BaseURL = "https://other.example.com/v1" },
			func(p *profile.Profile) { p.Holder = profile.Token("holder", "user_2") },
		} {
			other := *p
			change(&other)
			s.q.Before = &other
			_, err := Ask(t.Context(), s.q)
			require.ErrorContains(t, err, "name another file")
			judged := Judge(&Evidence{}, About{BaseURL: s.q.BaseURL, Holder: "user_1", Before: &other})
			assert.Empty(t, judged.Begun)
		}
		assert.Len(t, s.sim.Requests(), n+1, "GET /me")
	})
}

// What a visit of reads shows of the service's clock, and of the age of health.
func TestReadsShowTheClock(t *testing.T) {
	for skew, want := range map[time.Duration]profile.Verdict{0: profile.First, 900 * time.Millisecond: profile.First, 4 * time.Second: profile.Other, -time.Hour: profile.Other} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t, tradingsim.WithSkew(skew))
			p, _ := s.visit(Reads)
			r, _ := p.Result("A10", profile.Live)
			assert.Equal(t, want, r.Verdict, "%s: %s", skew, r.Why)
			r, _ = p.Result("A13", profile.Live)
			assert.Equal(t, profile.First, r.Verdict, "whatever the clocks: %s", r.Why)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.front = func(rt http.RoundTripper) http.RoundTripper {
			return tripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != "/v1/health" {
					return rt.RoundTrip(r)
				}
				resp := answer(r, 200, `{"ok":true,"status":"healthy","asOf":`+strconv.FormatInt(time.Now().Add(-9*time.Second).UnixMilli(), 10)+`}`)
				resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
				return resp, nil
			})
		}
		p, _ := s.visit(Reads)
		r, _ := p.Result("A13", profile.Live)
		assert.Equal(t, profile.Other, r.Verdict, r.Why)
	})
}

package observe

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
		s.q.Journal = path + ".none" // a name that is wrong knows of no pending write
		_, e = s.visit(Locked)
		assert.Contains(t, e.Ended, "the journal cannot be read")
		assert.Zero(t, e.Writes)
		s.q.Journal, s.q.StateDir = "", t.TempDir()
		_, e = s.visit(Locked)
		assert.Empty(t, e.Ended)
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

// A timer that was off for a day makes up for what it missed, as far as that can wait.
func TestVisitsThatAreAllDue(t *testing.T) {
	for _, off := range []time.Duration{23*time.Hour + 10*time.Minute, 26 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			p, _ := s.visit(Locked)
			time.Sleep(off)
			for n := 0; len(p.Begun) > 0 && n < 5; n++ {
				var e *Evidence
				p, e = s.visit(Locked)
				assert.Empty(t, e.Ended, "after %s", off)
				time.Sleep(2 * time.Hour)
			}
			assert.Empty(t, p.Begun)
			for _, number := range []string{"A1", "A2", "49", "A4", "A5", "A6", "A15"} {
				r, _ := p.Result(number, profile.Live)
				want := profile.First
				if (number == "A4" || number == "A15") && off > 24*time.Hour { // too late, and one visit is not enough
					want = profile.Unseen
				}
				assert.Equal(t, want, r.Verdict, "%s after %s: %s", number, off, r.Why)
			}
		})
	}
}

// Whoever asks again and again locks no address, where a path without a key counts as a failed authentication.
func TestReadsLockNoAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, readings(8)...)
		for range 4 {
			p, e := s.visit(Reads)
			require.Empty(t, e.Ended)
			r, _ := p.Result("8", profile.Live)
			assert.Equal(t, profile.Other, r.Verdict)
		}
		failed := 0
		for _, r := range s.sim.Requests() {
			if r.Status == http.StatusUnauthorized {
				failed++
			}
		}
		assert.Equal(t, readRounds, failed)
	})
}

func place(t *testing.T, s *service, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.q.BaseURL+path, strings.NewReader(body))
	require.NoError(t, err)
	if r.Header.Set("X-API-Key", s.q.LiveKey); strings.HasPrefix(path, "/sandbox") {
		r.Header.Set("X-API-Key", s.q.SandboxKey)
	}
	resp, err := s.sim.Transport().RoundTrip(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// trader is a service whose paper and trial accounts may be traded.
func trader(t *testing.T, opts ...tradingsim.Option) *service {
	s := newService(t, opts...)
	s.q.Symbol, s.q.TrialAccount, s.q.SecondSandboxKey = "BTC", "acc_trial", s.q.SandboxKey
	s.q.SandboxKey = s.sim.NewSandboxKey()
	s.q.Note = filepath.Join(t.TempDir(), "p.json.open")
	return s
}

// flat checks that nothing is left, on disk neither.
func (s *service) flat() {
	s.t.Helper()
	state := s.sim.State()
	for id, a := range state.Accounts {
		assert.Empty(s.t, a.Positions, id)
		assert.Empty(s.t, a.Orders, id)
		assert.Empty(s.t, a.Runs, id)
	}
	left, err := filepath.Glob(s.q.Note + "*")
	require.NoError(s.t, err)
	assert.Empty(s.t, left)
}

// asksTrading are the experiments that paper and trial decide.
var (
	asksPaper = []string{"15", "21", "25", "26", "27", "28p", "30", "31", "33", "57"}
	asksTrial = []string{"A1e", "A6e", "A9", "A11", "A12", "A16", "A17", "A19", "53", "28", "34", "35", "36", "39", "44", "45", "46", "54", "56"}
)

func TestPaperAndTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := trader(t), time.Now()
		p, e := s.visit(Trial, OnPaper)
		require.Empty(t, e.Ended)
		written := writesOf(trialScripts) + writesOf(paperScripts)
		assert.LessOrEqual(t, e.Trades, written+roundsOf(trialScripts)+roundsOf(paperScripts), "as it says before")
		assert.GreaterOrEqual(t, e.Trades, written)
		for env, numbers := range map[profile.Environment][]string{profile.Paper: asksPaper, profile.Live: asksTrial} {
			for _, number := range numbers {
				r, _ := p.Result(number, env)
				assert.Equal(t, profile.First, r.Verdict, "%s: %s %+v", number, r.Why, r)
				if _, questioned := asked[number]; questioned {
					assert.Equal(t, []int{enoughRounds, connections}, []int{r.N, r.Connections}, number)
				}
			}
		}
		assert.Less(t, time.Since(began), 45*time.Minute, "as docs/service-reference.md says")
		r, _ := p.Result("A1e", profile.Live)
		assert.Equal(t, 8, r.CountFirst)
		assert.Equal(t, "1", p.Measured.DefaultLeverage)
		assert.Equal(t, "0.00045", p.Measured.TakerFee)
		s.flat()
		for _, x := range s.sim.Ledger() {
			assert.NotEqual(t, "acc_1", x.Account)
		}
	})
}

// Under each other reading paper and trial find it, or say unseen, and leave the accounts flat.
func TestPaperAndTrialUnderEachReading(t *testing.T) {
	find := []int{4, 15, 21, 25, 26, 27, 28, 30, 31, 33, 34, 35, 36, 39, 43, 44, 45, 46, 53, 54, 56, 57}
	for n, i := range some(2) {
		const step = 4 // of those that it does not find; -observe.pairs takes all
		if !slices.Contains(find, i) && n%step > 0 && !*allPairs {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			s := trader(t, readings(i)...)
			p, e := s.visit(Trial, OnPaper)
			assert.Empty(t, e.Ended, "under %d", i)
			assert.Empty(t, wrong(p, i), "under %d", i)
			r, _ := p.Result(strconv.Itoa(i), environmentOfReading(i))
			if slices.Contains(find, i) {
				assert.Equal(t, profile.Other, r.Verdict, "%d: %s", i, r.Why)
			} else {
				assert.NotEqual(t, profile.First, r.Verdict, "%d", i)
			}
			s.flat()
		})
	}
}

// killed is what the network shows of a process that dies: from the n-th write on nothing is
// sent, or its answer is the first that is lost.
func killed(at int, executed bool) func(http.RoundTripper) http.RoundTripper {
	var sent atomic.Int64
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			n := int(sent.Add(1))
			if n < at {
				return rt.RoundTrip(r)
			}
			if n == at && executed {
				if resp, err := rt.RoundTrip(r); err == nil {
					_ = resp.Body.Close()
				}
			}
			return nil, errors.New("killed")
		})
	}
}

// kill -9 at each request of a run, before it left or before it was answered: the next run leaves the account
// flat, and nothing was traded twice. A sample takes one request in 160, TESTS=full one in 32, -observe.kills all.
func TestKilledAtEachRequest(t *testing.T) {
	for _, class := range []Class{OnPaper, Trial} {
		all := 0
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			s.visit(class)
			all = len(s.sim.Requests())
		})
		t.Logf("%s: %d requests", class, all)
		step := 32
		switch {
		case *allKills:
			step = 1
		case brief():
			step = rarer(160)
		}
		for at := 1; at <= all; at += step {
			for _, executed := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := trader(t)
					s.front = killed(at, executed)
					s.q.Classes = []Class{class}
					_, err := Ask(t.Context(), s.q)
					if _, open := os.Stat(s.q.noteOf(class)); open == nil {
						require.ErrorAs(t, err, new(*NotFlatError))
					}
					left, sent, keys := s.open(), len(s.sim.Ledger()), s.keysUsed()
					before := len(s.sim.Requests())
					s.front = nil
					s.q.Classes = []Class{Reads} // whatever is asked next
					e, err := Ask(t.Context(), s.q)
					require.NoError(t, err)
					require.Empty(t, e.Ended)
					s.flat()
					closed := decimal.Zero
					for _, x := range s.sim.Ledger()[sent:] {
						if x.Filled && x.Actor == "api" {
							closed = closed.Add(x.Size)
						}
					}
					for _, r := range s.sim.Requests()[before:] {
						assert.False(t, keys[r.Header.Get("Idempotency-Key")], "a write of the killed run is sent again")
						assert.NotEqual(t, "POST /orders", r.Operation)
					}
					if !left.running {
						assert.True(t, closed.Equal(left.size), "%s was open, and %s were traded (request %d)", left.size, closed, at)
					}
				})
			}
		}
	}
}

// left is what a killed run leaves open.
type left struct {
	size    decimal.Decimal
	running bool
}

func (s *service) open() (l left) {
	for _, a := range s.sim.State().Accounts {
		for _, p := range a.Positions {
			l.size = l.size.Add(p.Size)
		}
		l.running = l.running || len(a.Runs)+len(a.Orders) > 0
	}
	return l
}

func (s *service) keysUsed() map[string]bool {
	used := map[string]bool{}
	for _, r := range s.sim.Requests() {
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			used[key] = true
		}
	}
	return used
}

// An order that arrives late, after its answer was given up, does not stay: the run looks for long enough.
func TestAnOrderThatArrivesLate(t *testing.T) {
	for operation, class := range map[string]Class{"POST /orders": Trial, "POST /sandbox/orders": OnPaper} {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			s.sim.Fault(operation, tradingsim.Pass(), tradingsim.ArriveLate(17*time.Second))
			_, e := s.visit(class)
			assert.Contains(t, e.Ended, "no answer")
			time.Sleep(time.Minute)
			s.flat()
		})
	}
}

// What ends a run leaves the account flat, and is said where it cannot be.
func TestARunThatEndsIsFlat(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"429": tradingsim.RateLimit(20 * time.Second), "500 after the work": tradingsim.FailAfter(500, "internal_error"), "gateway after the work": tradingsim.GatewayErrorAfter(502),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			s.sim.Fault("POST /orders", fault)
			_, e := s.visit(Trial)
			assert.NotEmpty(t, e.Ended, name)
			s.flat()
		})
	}
	t.Run("a person interrupts", func(t *testing.T) {
		for _, after := range []time.Duration{1200 * time.Millisecond, 3 * time.Second, 8 * time.Second, 14 * time.Second, 21 * time.Second} { // within a script, and behind it
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				s.q.Classes = []Class{Trial}
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				_, err := Ask(ctx, s.q)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.False(t, errors.As(err, new(*NotFlatError)), "after %s: it is flat: %v", after, err)
				assert.NotEmpty(t, s.sim.Ledger())
				s.flat()
			})
		}
	})
	t.Run("the key is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			s.q.Classes = []Class{Trial}
			var n atomic.Int64
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return tripper(func(r *http.Request) (*http.Response, error) {
					if len(s.sim.Ledger()) > 0 && r.Header.Get("X-Api-Key") == s.q.LiveKey {
						n.Add(1)
						return answer(r, 401, `{"error":"revoked_api_key"}`), nil
					}
					return rt.RoundTrip(r)
				})
			}
			_, err := Ask(t.Context(), s.q)
			require.ErrorAs(t, err, new(*NotFlatError))
			assert.Contains(t, err.Error(), "account acc_trial may not be flat")
			assert.Less(t, n.Load(), int64(4), "a key that was refused is not sent again and again")
			s.front = nil
			_, err = Ask(t.Context(), s.q)
			require.NoError(t, err)
			s.flat()
		})
	})
}

// No run begins on an account that is none, that is no trial, or that has something.
func TestWhereNothingIsTraded(t *testing.T) {
	for name, c := range map[string]struct {
		class Class
		set   func(*testing.T, *service)
		says  string
	}{
		"no trial":   {Trial, func(_ *testing.T, s *service) { s.q.TrialAccount = "acc_1" }, "no trial"},
		"unknown":    {Trial, func(_ *testing.T, s *service) { s.q.TrialAccount = "acc_9" }, "no account"},
		"failed":     {Trial, func(_ *testing.T, s *service) { s.sim.SetStatus("acc_trial", "FAILED") }, "not active"},
		"a position": {Trial, func(_ *testing.T, s *service) { s.sim.Trade("acc_trial", "long", "1", "ETH") }, "has a position"},
		"an order": {Trial, func(t *testing.T, s *service) {
			place(t, s, `{"accountId":"acc_trial","symbol":"ETH","side":"long","size":1,"leverage":2,"limitPrice":1000}`)
		}, "has a position"},
		"no price":    {Trial, func(_ *testing.T, s *service) { s.sim.SetMark("BTC", "") }, "no price"},
		"no market":   {OnPaper, func(_ *testing.T, s *service) { s.q.Symbol = "NOPE" }, "no price"},
		"paper holds": {OnPaper, func(t *testing.T, s *service) { buyPaper(t, s) }, "has a position"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				c.set(t, s)
				n := len(s.sim.Ledger())
				_, e := s.visit(c.class)
				assert.Contains(t, e.Ended, c.says)
				assert.Len(t, s.sim.Ledger(), n)
			})
		})
	}
	for says, c := range map[string]struct {
		note, trades string
		class        Class
	}{
		"no note of a run":         {"hello", "", Trial},
		"does not call it a trial": {`{"class":"trial","account":"acc_1","symbol":"BTC","largest":"10"}`, "acc_1", Reads},
		"somebody else trades":     {`{"class":"trial","account":"acc_trial","symbol":"BTC","largest":"0.01"}`, "acc_trial", Reads},
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				require.NoError(t, os.WriteFile(s.q.noteOf(Trial), []byte(c.note), 0o600))
				if c.trades != "" {
					s.sim.Trade(c.trades, "long", "1", "BTC")
				}
				n := len(s.sim.Ledger())
				s.q.Classes = []Class{c.class}
				_, err := Ask(t.Context(), s.q)
				require.ErrorContains(t, err, says)
				assert.Len(t, s.sim.Ledger(), n)
			})
		})
	}
}

func buyPaper(t *testing.T, s *service) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.q.BaseURL+"/sandbox/orders", strings.NewReader(`{"symbol":"ETH","side":"long","size":1}`))
	require.NoError(t, err)
	r.Header.Set("X-API-Key", s.q.SandboxKey)
	resp, err := s.sim.Transport().RoundTrip(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// A round beside which health changes does not count, and ends the run on a flat account.
func TestHealthChangesBesideATrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trader(t)
		s.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "GET /sandbox/trades" { // the service says it when its assessment is five seconds old
				s.sim.SetHealth("degraded", "live")
				time.Sleep(6 * time.Second)
			}
			return nil
		})
		p, e := s.visit(OnPaper)
		assert.Contains(t, e.Ended, "GET /health answered 503")
		last := e.Rounds[len(e.Rounds)-1]
		assert.Equal(t, []string{scriptFee, "health changed"}, []string{last.Script, last.Void})
		r, _ := p.Result("21", profile.Paper)
		assert.Zero(t, r.N)
		s.flat()
	})
}

// What a run measures is within a tenth of what the service was set to: the lag of reads, and the times of answers.
func TestTrialMeasures(t *testing.T) {
	for _, lag := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t, tradingsim.WithLag(lag))
			s.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Delay(80 * time.Millisecond) })
			time.Sleep(time.Minute)
			p, e := s.visit(Trial)
			require.Empty(t, e.Ended)
			m := p.Measured
			assert.InDelta(t, float64(lag), float64(m.ReadLag.Median), float64(lag)/10+1)
			assert.InEpsilon(t, float64(80*time.Millisecond), float64(m.AnswerTime["POST /orders"].Median), 0.1)
			twins, _ := p.Result("A6e", profile.Live)
			assert.Equal(t, profile.First, twins.Verdict, twins.Why)
			assert.Equal(t, enoughRounds, twins.N, "a round is counted once")
			r, _ := p.Result("A9", profile.Live)
			want := profile.First
			if lag > 5*time.Second {
				want = profile.Other
			}
			assert.Equal(t, want, r.Verdict)
			s.flat()
		})
	}
}

// Reads that lag hide what a script has opened last: a run looks for longer than that.
func TestALagHidesNothing(t *testing.T) {
	for _, lag := range []time.Duration{4 * time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t, tradingsim.WithLag(lag))
			time.Sleep(time.Minute)
			_, e := s.visit(OnPaper, Trial)
			assert.Empty(t, e.Ended)
			s.flat()
		})
	}
}

// oneByOne takes one request at a time, and answers some time later.
func oneByOne(rt http.RoundTripper) http.RoundTripper {
	var mu sync.Mutex
	return tripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		resp, err := rt.RoundTrip(r)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		return resp, err
	})
}

// Equal orders at once that each run show by the position; those that something on the way joins do not look like it.
func TestEqualOrdersAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		front func(http.RoundTripper) http.RoundTripper
		want  profile.Verdict
	}{"one runs": {nil, profile.First}, "each runs": {besideEachOther(), profile.Other}, "they are joined": {joining, profile.Neither}, "one after another": {oneByOne, profile.First}} {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			if c.front != nil {
				one := c.front(s.sim.Transport())
				s.front = func(http.RoundTripper) http.RoundTripper { return one }
			}
			p, e := s.visit(Trial)
			assert.Empty(t, e.Ended)
			r, _ := p.Result("A6e", profile.Live)
			assert.Equal(t, c.want, r.Verdict, "%s: %s %+v", name, r.Why, r)
			s.flat()
		})
	}
}

// besideEachOther is a service that runs a request beside an equal one that is under way.
func besideEachOther() func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper {
		var mu sync.Mutex
		came, times := map[string]time.Time{}, map[string]int{}
		return tripper(func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key")
			mu.Lock()
			if came[key].IsZero() {
				came[key] = time.Now()
			}
			n := 0
			if time.Since(came[key]) < 50*time.Millisecond {
				n = times[key]
				times[key]++
			}
			mu.Unlock()
			if key != "" && n > 0 {
				r = r.Clone(r.Context())
				r.Header.Set("Idempotency-Key", fmt.Sprint(key, "-", n))
			}
			return rt.RoundTrip(r)
		})
	}
}

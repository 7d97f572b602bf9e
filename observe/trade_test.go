package observe

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// What ends a run leaves the account flat, and is said where it cannot be.
func TestARunThatEndsIsFlat(t *testing.T) {
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
	// A page of something in front says nothing of the key, and keeps nobody in the market.
	for name, page := range map[string]struct {
		status int
		body   string
	}{
		"a gateway asks for a log-in": {401, "<html>sign in</html>"},
		"a gateway's own JSON":        {401, `{"message":"Unauthorized"}`},
		"a gateway forbids":           {403, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				s.q.Classes = []Class{Trial}
				var n atomic.Int64
				s.front = func(rt http.RoundTripper) http.RoundTripper {
					return tripper(func(r *http.Request) (*http.Response, error) {
						if len(s.sim.Ledger()) > 0 && r.Header.Get("X-Api-Key") == s.q.LiveKey && n.Add(1) <= 3 {
							return answer(r, page.status, page.body), nil
						}
						return rt.RoundTrip(r)
					})
				}
				e, err := Ask(t.Context(), s.q)
				require.NoError(t, err)
				assert.Contains(t, e.Ended, "something in front of the service")
				s.flat()
			})
		})
	}
	t.Run("the key is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := trader(t)
			s.q.Classes = []Class{Trial}
			var n atomic.Int64
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return tripper(func(r *http.Request) (*http.Response, error) {
					if len(s.sim.Ledger()) > 0 && r.Header.Get("X-Api-Key") == s.q.LiveKey {
						n.Add(1)
						return answer(r, 401, `{"error":"revoked_api_key","message":"It was revoked."}`), nil
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

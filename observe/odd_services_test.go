package observe

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// sometimes answers the n-th of some live writes itself, and passes the others on.
func sometimes(when func(n int64, r *http.Request) bool, status int, body string) func(http.RoundTripper) http.RoundTripper {
	var n atomic.Int64
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost && when(n.Add(1), r) {
				return answer(r, status, body), nil
			}
			return rt.RoundTrip(r)
		})
	}
}

func every(m int64) func(int64, *http.Request) bool {
	return func(n int64, _ *http.Request) bool { return n%m == 0 }
}

// edited changes each answer.
func edited(change func(*http.Response, []byte) []byte) func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(change(resp, body)))
			return resp, err
		})
	}
}

// odd are services that answer in ways of their own. None of them has another reading than the
// simulator's that an answer of theirs shows.
var odd = map[string]func(http.RoundTripper) http.RoundTripper{
	"limits the rate by 403":      sometimes(every(3), 403, `{"error":"rate_limited","message":"slower"}`),
	"limits the rate by 403, too": sometimes(every(7), 403, `{"error":"too_many_requests","message":"slower"}`),
	"is closed for some seconds": sometimes(func(int64, *http.Request) bool { return time.Now().Second()%10 > 6 },
		403, `{"error":"market_closed","message":"come again"}`),
	"refuses by 400 at times": sometimes(every(5), 400, `{"error":"bad_request","message":"not now"}`),
	"says conflict for in flight": edited(func(r *http.Response, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(codeInFlight), []byte("request_in_progress"))
	}),
	"answers 200 with an error": edited(func(r *http.Response, body []byte) []byte {
		if r.Request.Method == http.MethodPost {
			r.StatusCode = 200
		}
		return body
	}),
	"marks every answer": edited(func(r *http.Response, body []byte) []byte {
		r.Header.Set("Idempotent-Replayed", "true")
		return body
	}),
	"marks by another name": edited(func(r *http.Response, body []byte) []byte {
		if v := r.Header.Get("Idempotent-Replayed"); v != "" {
			r.Header.Del("Idempotent-Replayed")
			r.Header.Set("X-Idempotent-Replay", v)
		}
		return body
	}),
	"redirects writes": sometimes(every(2), 307, ``),
	"says no date": edited(func(r *http.Response, body []byte) []byte {
		r.Header.Del("Date")
		return body
	}),
	"stamps each answer": func() func(http.RoundTripper) http.RoundTripper {
		var n atomic.Int64
		return edited(func(r *http.Response, body []byte) []byte {
			if rest, ok := strings.CutPrefix(string(body), "{"); ok && r.Request.Method == http.MethodPost && r.Header.Get("Idempotent-Replayed") == "" {
				return []byte(`{"requestId":` + string(rune('1'+n.Add(1)%9)) + `,` + rest)
			}
			return body
		})
	}(),
	"reads keys in lower case, and bodies without the space around": func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return rt.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = bytes.TrimSpace(body)
			copied := r.Clone(r.Context())
			copied.Body, copied.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			for i, key := range copied.Header["Idempotency-Key"] {
				copied.Header["Idempotency-Key"][i] = strings.ToLower(key)
			}
			return rt.RoundTrip(copied)
		})
	},
}

// Of odd services nothing is claimed that does not hold: their other answers are no other reading.
func TestASeriesOfOddServices(t *testing.T) {
	for name, front := range odd {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				s.front = shared(front)
				p := s.series()
				for _, r := range p.Results {
					if name != "stamps each answer" || r.Experiment != "A18" { // which is so
						assert.NotContains(t, []profile.Verdict{profile.Other, profile.Mixed}, r.Verdict, "%s: %+v", r.Experiment, r)
					}
				}
				if name == "marks by another name" || name == "marks every answer" || name == "answers 200 with an error" {
					r, _ := p.Result("A1", profile.Live)
					assert.NotEqual(t, profile.First, r.Verdict, r.Why)
				}
				if name == "says no date" {
					for _, number := range []string{"A10", "A13"} {
						r, _ := p.Result(number, profile.Live)
						assert.Equal(t, profile.Unseen, r.Verdict, number)
					}
				}
				assert.Empty(t, s.sim.Ledger())
			})
		})
	}
}

// The same by what a bot has recorded.
func TestARecordingOfOddServices(t *testing.T) {
	for name, front := range odd {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAsker(t)
				a.rt = front(a.rt)
				for range 5 {
					a.run()
				}
				want := map[string][]profile.Verdict{}
				if name == "marks by another name" { // as where the mark is stripped: A1 says no more than that
					want["A1"] = []profile.Verdict{profile.Other}
				}
				if name == "stamps each answer" {
					want["A18"] = []profile.Verdict{profile.Other}
				}
				claims(t, Judge(a.seen, about), want)
			})
		})
	}
}

// A bot's account that fails between two requests shows nothing of what is stored.
func TestAnAccountThatFailsMeanwhile(t *testing.T) {
	for _, after := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond, 3500 * time.Millisecond, 4500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			s.q.Tradeable = "acc_1"
			// The account is judged in front of the key.
			began := time.Now()
			s.front = shared(sometimes(func(int64, *http.Request) bool { return time.Since(began) > after }, 403, `{"error":"account_locked"}`))
			p, _ := s.visit(Locked)
			for _, r := range p.Results {
				assert.Zero(t, r.CountOther, "%s after %s", r.Experiment, after)
			}
		})
	}
}

// An account that was locked and trades again is named no more.
func TestALockedAccountThatTradesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_old", Status: "FAILED"}))
		began, late := time.Now(), 0
		nobody := sometimes(func(_ int64, r *http.Request) bool {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte("acc_old")) && time.Since(began) > 9*time.Second {
				late++
			}
			return bytes.Contains(body, []byte("nobody-"))
		}, 404, `{"error":"account_not_found"}`)
		s.front = shared(nobody)
		go func() {
			time.Sleep(9 * time.Second)
			s.sim.SetStatus("acc_old", "ACTIVE")
		}()
		_, e := s.visit(Locked)
		assert.Contains(t, e.Ended, "acc_old")
		assert.Less(t, late, 6, "the round that had begun is finished")
	})
}

// Two API keys are two, of one holder: else A15 and 30 are unseen.
func TestTheSecondKey(t *testing.T) {
	for name, second := range map[string]func(s *service) (live, sandbox string){
		"the same key":           func(s *service) (string, string) { return s.q.LiveKey, s.q.SandboxKey },
		"a key of another":       func(s *service) (string, string) { return s.sim.NewLiveKey(), s.sim.NewSandboxKey() },
		"no key of this service": func(*service) (string, string) { return "pk_live_other", "pk_test_other" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				s.q.SecondKey, s.q.SecondSandboxKey = second(s)
				if name == "a key of another" {
					mine := []string{s.q.LiveKey, s.q.SandboxKey}
					s.front = func(rt http.RoundTripper) http.RoundTripper {
						return tripper(func(r *http.Request) (*http.Response, error) {
							resp, err := rt.RoundTrip(r)
							if err == nil && strings.HasSuffix(r.URL.Path, "/me") && !slices.Contains(mine, r.Header.Get("X-Api-Key")) {
								body, err := io.ReadAll(resp.Body)
								resp.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), "user_1", "user_2")))
								return resp, err
							}
							return resp, err
						})
					}
				}
				s.q.Classes = []Class{Locked}
				_, err := Ask(t.Context(), s.q)
				require.ErrorContains(t, err, "second")
				assert.NotContains(t, err.Error(), "pk_")
				assert.Empty(t, s.sim.Ledger())
			})
		})
	}
}

// A trial that is none any more, or has failed, is traded no further, and is left flat.
func TestATrialThatIsNoneAnyMore(t *testing.T) {
	for name, change := range map[string]func(s *service){
		"it is no trial": func(s *service) {
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return rewriting(rt, "/accounts", func(body string) string {
					if len(s.sim.Ledger()) > 0 {
						body = strings.ReplaceAll(body, `"isTrial":true`, `"isTrial":false`)
					}
					return body
				})
			}
		},
		"it is gone": func(s *service) {
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return rewriting(rt, "/accounts", func(body string) string {
					if len(s.sim.Ledger()) > 0 {
						body = strings.ReplaceAll(body, `"acc_trial"`, `"acc_else"`)
					}
					return body
				})
			}
		},
		"it has failed": func(s *service) {
			go func() {
				for len(s.sim.Ledger()) < 2 {
					time.Sleep(time.Second)
				}
				s.sim.SetStatus("acc_trial", "FAILED")
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := trader(t)
				change(s)
				_, e := s.visit(Trial)
				assert.Contains(t, e.Ended, "acc_trial")
				assert.LessOrEqual(t, len(s.sim.Ledger()), 3, "more was traded")
				s.flat()
			})
		})
	}
}

// On paper, too, a 2xx with an error is no success.
func TestPaperThatAnswers200WithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trader(t)
		s.front = shared(odd["answers 200 with an error"])
		p, _ := s.visit(OnPaper)
		for _, r := range p.Results {
			assert.NotEqual(t, profile.Other, r.Verdict, r.Experiment)
		}
		s.flat()
	})
}

// An asOf behind the Date by a zone, or in front of it, is no young health.
func TestHealthOfAnotherZone(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			s.front = func(rt http.RoundTripper) http.RoundTripper {
				return rewriting(rt, "/health", func(body string) string { return shiftedAsOf(body, by) })
			}
			p, _ := s.visit(Reads)
			r, _ := p.Result("A13", profile.Live)
			want := profile.Other
			if by > 0 {
				want = profile.Neither
			}
			assert.Equal(t, want, r.Verdict, "asOf moved by %s", by)
		})
	}
}

// What stands in front of the service shows neither its clock nor where its legacy path leads.
func TestSomethingInFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.front = func(rt http.RoundTripper) http.RoundTripper {
			return tripper(func(r *http.Request) (*http.Response, error) {
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
			})
		}
		p, _ := s.visit(Reads)
		for number, want := range map[string]profile.Verdict{"47": profile.Neither, "A10": profile.Unseen, "A13": profile.Unseen} {
			r, _ := p.Result(number, profile.Live)
			assert.Equal(t, want, r.Verdict, "%s: %s", number, r.Why)
		}
	})
}

// A service that repeats an API key in its answers brings it into no output.
func TestAServiceThatRepeatsTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.front = shared(edited(func(r *http.Response, body []byte) []byte {
			if r.Request.Method == http.MethodPost {
				r.StatusCode = 404
				return []byte(`{"error":"` + r.Request.Header.Get("X-Api-Key") + `","symbol":"` + r.Request.Header.Get("X-Api-Key") + `"}`)
			}
			return body
		}))
		p, _ := s.visit(Locked)
		_, err := p.Encode()
		assert.NoError(t, err, "the profile can be written")
		s.q.Before = nil
		s.front = shared(edited(func(r *http.Response, body []byte) []byte {
			if r.Request.Method == http.MethodPost {
				r.StatusCode = 401
				return []byte(`{"error":"` + r.Request.Header.Get("X-Api-Key") + `"}`)
			}
			return body
		}))
		_, e := s.visit(Locked)
		assert.Contains(t, e.Ended, "refused")
		assert.NotContains(t, e.Ended, "pk_live_")
	})
}

// A service that streams without an end ends the visit, in time.
func TestAnAnswerThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.front = func(rt http.RoundTripper) http.RoundTripper {
			return tripper(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPost {
					return rt.RoundTrip(r)
				}
				x := answer(r, 404, "")
				x.Body = drip{r}
				return x, nil
			})
		}
		began := time.Now()
		_, e := s.visit(Locked)
		assert.Contains(t, e.Ended, "no answer")
		assert.Less(t, time.Since(began), 15*time.Second)
	})
}

// drip is a body of one byte a second, until its request has ended.
type drip struct{ of *http.Request }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.of.Context().Done():
		return 0, d.of.Context().Err()
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	}
}

func (drip) Close() error { return nil }

// shiftedAsOf moves the time of a health.
func shiftedAsOf(body string, by time.Duration) string {
	was := number(member([]byte(body), "asOf"))
	at, ok := unixTime(was)
	if !ok { // the legacy path redirects
		return body
	}
	return strings.Replace(body, was, strconv.FormatInt(at.Add(by).UnixMilli(), 10), 1)
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

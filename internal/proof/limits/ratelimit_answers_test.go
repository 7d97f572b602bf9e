package limits

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

const rateLimitedBody = `{"error":"rate_limited","message":"slow down"}`

// limitHeader has the X-RateLimit headers, with a window that ends in so long, and what
// else is given in pairs.
func limitHeader(limit string, ends time.Duration, more ...string) http.Header {
	h := http.Header{}
	h.Set("X-RateLimit-Limit", limit)
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(ends).Unix(), 10))
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// liveKeyUsage is the usage of the live key.
func liveKeyUsage(t *testing.T, r rig.Rig) ratelimit.Usage {
	t.Helper()
	usages, err := r.RateLimitUsage(t.Context())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(usages[1].Bucket.Name, "key/live/"))
	return usages[1]
}

// A limit that the service names holds until its window ends, for a minute at the most,
// and then exits find their room again.
func TestALimitOfTheServiceEndsWithItsWindow(t *testing.T) {
	for _, row := range []struct {
		name              string
		ends, retry, want time.Duration
	}{
		{"its window", 30 * time.Second, 10 * time.Second, 30 * time.Second},
		{"a window of an hour", time.Hour, 10 * time.Second, time.Minute},
		{"a window that is over", -time.Hour, 10 * time.Second, 10 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil)
				began := time.Now()
				r.Sim.Fault("GET /trades", tradingsim.Raw(429, limitHeader("1", row.ends,
					"Retry-After", strconv.Itoa(int(row.retry/time.Second))), rateLimitedBody))
				_, err := r.Account().Trades(t.Context(), trading.FailFast())
				require.ErrorIs(t, err, trading.CodeRateLimited)
				if row.ends > 0 {
					assert.Equal(t, 1, liveKeyUsage(t, r).Bucket.Limit)
				}
				time.Sleep(row.want - time.Since(began))
				assert.Equal(t, 600, liveKeyUsage(t, r).Bucket.Limit)
				r.Exits(20)
			})
		})
	}
}

// T90: a Retry-After closes a limit for a minute at the most, in both of its forms, for those who
// come later and for those who wait already. The call itself waits in full or not at all: it
// ends where its TTL does not last that long, or, without a deadline, where that is longer
// than a minute.
func TestRetryAfterClosesForAMinuteAtTheMost(t *testing.T) {
	for name, retryAfter := range map[string]string{
		"seconds": "3600", "a number without end": "99999999999999", "a date": "Fri, 31 Dec 2100 23:59:59 GMT",
	} {
		for _, op := range []string{"POST /positions/close", "GET /trades"} {
			t.Run(name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rig.New(t, nil)
					began := time.Now()
					fault := tradingsim.Raw(429, http.Header{"Retry-After": {retryAfter}}, rateLimitedBody)
					if op == "GET /trades" {
						fault = tradingsim.Raw(429, limitHeader("600", time.Hour, "Retry-After", retryAfter), rateLimitedBody)
					}
					r.Sim.Fault(op, fault)
					first := make(chan error, 1)
					go func() {
						var err error
						if op == "GET /trades" {
							_, err = r.Account().Trades(t.Context())
						} else {
							_, err = r.Account().ClosePosition(t.Context(), "BTC", trading.All)
						}
						first <- err
					}()
					synctest.Wait()
					_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All, trading.FailFast())
					require.ErrorIs(t, err, trading.CodeRateLimited)
					assert.True(t, rig.RefusalOf(t, err).Local)
					wait, _ := trading.RetryAfter(err)
					assert.Equal(t, time.Minute, wait)
					require.ErrorIs(t, <-first, trading.CodeRateLimited)
					assert.Zero(t, time.Since(began), "the call itself")
					time.Sleep(time.Minute)
					r.Exits(1)
				})
			})
		}
	}
}

// D 25, T90: one rule for the Retry-After of a 429 or 503, the service's own or of something in
// front, for reads and writes: waited for in full, unless the caller's deadline or the send
// TTL comes first, or, for a read without a deadline, a minute. Then the call ends at once.
func TestEdge25_RetryAfterIsWaitedForInFullOrNotAtAll(t *testing.T) {
	const page = "<html>busy</html>"
	answers := []struct {
		name   string
		status int
		body   string
	}{
		{"own 429", 429, rateLimitedBody},
		{"own 503", 503, `{"error":"no_price","message":"no"}`},
		{"a gateway's 429", 429, page},
		{"a gateway's 503", 503, page},
	}
	for _, row := range []struct {
		name          string
		seconds       int
		deadline, ttl time.Duration
		read, waits   bool
	}{
		{"an exit", 40, 0, 2 * time.Minute, false, true},
		{"an exit asked for more than a minute", 90, 0, 2 * time.Minute, false, true},
		{"an exit until right before its TTL", 119, 0, 2 * time.Minute, false, true},
		{"an exit until its TTL", 120, 0, 2 * time.Minute, false, false},
		{"an exit beyond its TTL", 130, 0, 2 * time.Minute, false, false},
		{"an exit beyond its deadline", 40, 30 * time.Second, 2 * time.Minute, false, false},
		{"an exit until its deadline", 30, 30 * time.Second, 2 * time.Minute, false, false},
		{"an exit that may not wait", 40, 0, 0, false, false},
		{"a read", 40, 0, 0, true, true},
		{"a read with a deadline", 90, 5 * time.Minute, 0, true, true},
		{"a read beyond its deadline", 40, 30 * time.Second, 0, true, false},
		{"a read of a window without a deadline", 60, 0, 0, true, true},
		{"a read without a deadline", 90, 0, 0, true, false},
	} {
		for _, answer := range answers {
			if row.read && strings.Contains(answer.body, "no_price") {
				continue // no answer to it
			}
			t.Run(row.name+", "+answer.name, func(t *testing.T) {
				rig.LiveTest(t, nil, []trading.Option{trading.WithResolveTimeout(0)}, func(r rig.Rig) {
					ctx := r.T.Context()
					if row.deadline > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, row.deadline)
						defer cancel()
					}
					op := trading.OpClose
					if row.read {
						op = trading.OpTrades
					} else {
						r.Open(rig.Buy("0.4"))
					}
					header := http.Header{"Retry-After": {strconv.Itoa(row.seconds)}}
					r.Sim.Fault(string(op), tradingsim.Raw(answer.status, header, answer.body))
					began := time.Now()
					var err error
					if row.read {
						_, err = r.Account().Trades(ctx)
					} else {
						_, err = r.Account().ClosePosition(ctx, "BTC", trading.All, trading.WithSendTTL(row.ttl))
					}
					if row.waits {
						require.NoError(r.T, err)
						assert.Equal(r.T, time.Duration(row.seconds)*time.Second, time.Since(began))
						return
					}
					require.Error(r.T, err)
					assert.Zero(r.T, time.Since(began))
					wait, ok := trading.RetryAfter(err)
					assert.True(r.T, ok)
					assert.Equal(r.T, time.Duration(row.seconds)*time.Second, wait)
				})
			})
		}
	}
}

// D 48, T92: only the service's own rate_limited with the key's headers closes the key, and no other
// answer's X-RateLimit headers change its limit. Whatever else answers a read or an exit, the next
// exit goes out at once.
func TestEdge48_AGatewaysRateLimitHoldsNoExitUp(t *testing.T) {
	const slowDown = `{"error":"slow_down","message":"no"}`
	for name, row := range map[string]struct {
		status  int
		headers bool // those of the key's limit
		body    string
	}{
		"the code without headers":     {429, false, rateLimitedBody},
		"another code":                 {429, true, slowDown},
		"an empty code":                {429, true, `{"error":"","message":"no"}`},
		"success false":                {429, true, `{"success":false,"error":"rate_limited","message":"no"}`},
		"the code with another status": {422, true, rateLimitedBody},
		"a page":                       {429, true, "<html>Too Many Requests</html>"},
		"a page of a gateway":          {502, true, "<html>Bad Gateway</html>"},
		"a page that is a success":     {200, true, "<html>Welcome</html>"},
		"JSON of something in front":   {429, true, `{"detail":"too many requests"}`},
		"another refusal":              {404, true, `{"error":"account_not_found","message":"no such account"}`},
		"the service's success":        {200, true, `[]`},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				header := http.Header{"Via": {"1.1 proxy"}}
				if row.headers {
					header = limitHeader("1", time.Hour)
				}
				r.Sim.Fault("GET /trades", tradingsim.Raw(row.status, header, row.body))
				_, _ = r.Account().Trades(r.T.Context(), trading.FailFast())
				assert.Equal(r.T, 600, liveKeyUsage(t, r).Bucket.Limit)
				assert.Zero(r.T, liveKeyUsage(t, r).Closed)
				r.Exits(20)
				if !row.headers {
					return // to an exit it names the class of exits
				}
				r.Sim.Fault("POST /positions/close", tradingsim.Raw(row.status, header, row.body))
				_, _ = r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, trading.FailFast(), trading.WithSendTTL(0), trading.WithResolveTimeout(0))
				r.Exits(3)
			})
		})
	}
}

// Every limit of the contract has a name that tells sandbox from live and the classes
// from each other, and no key is in it.
func TestRateLimitUsageNamesEveryLimit(t *testing.T) {
	for _, row := range []struct {
		owner, user string
		opts        []trading.Option
	}{
		{"", "user/", nil},
		{"desk", "user/desk/", []trading.Option{trading.WithRateLimits(trading.RateLimits{Owner: "desk"})}},
	} {
		r := rig.New(t, nil, row.opts...)
		usages, err := r.RateLimitUsage(t.Context())
		require.NoError(t, err)
		limits := map[string]int{}
		for i, u := range usages {
			assert.Equal(t, time.Minute, u.Bucket.Window)
			assert.Equal(t, u.Bucket.Limit, u.Left)
			name := u.Bucket.Name
			if i < 2 {
				require.Regexp(t, "^key/(sandbox|live)/[0-9a-f]{8}$", name)
				name = name[:len(name)-9]
			}
			limits[strings.TrimPrefix(name, row.user)] = u.Bucket.Limit
		}
		assert.Equal(t, map[string]int{
			"key/sandbox": 600, "key/live": 600,
			"market-orders": 150, "resting-limits": 150, "closes": 150, "cancels": 150, "tpsl-changes": 150, "run-changes": 150,
			"conditional": 20, "ladder": 20, "twap": 20, "chase": 20, "chase-twap": 20, "swarm": 20,
		}, limits)
	}
}

// A source of keys that calls the client does not lock it.
func TestRateLimitUsageHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r rig.Rig
		looking := make(chan struct{})
		r = rig.New(t, nil, trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) {
			<-looking
			r.Exits(1)
			return r.Sim.SandboxKey(), nil
		}))
		looked := make(chan error, 1)
		go func() {
			_, err := r.RateLimitUsage(t.Context())
			looked <- err
		}()
		synctest.Wait()
		r.Exits(1)
		close(looking)
		require.NoError(t, <-looked)
	})
}

// failingStore is a shared store that cannot be reached.
type failingStore struct{ ratelimit.Store }

func (failingStore) Take(context.Context, string, []ratelimit.Need, time.Duration) (ratelimit.Grant, error) {
	return ratelimit.Grant{}, errors.New("no connection")
}

// A store that fails holds no exit up, and the log says that it does.
func TestAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{Store: failingStore{ratelimit.NewMemoryStore()}, Owner: "desk"}),
			trading.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		r.Exits(1)
		require.NoError(t, r.Close())
		assert.Contains(t, logged.String(), "no connection")
	})
}

// slowStore is a shared store that takes a while.
type slowStore struct{ ratelimit.Store }

func (s slowStore) Take(ctx context.Context, owner string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	time.Sleep(10 * time.Millisecond)
	return s.Store.Take(ctx, owner, needs, hold)
}

// holdingStore notes how long the slots may be held that it is asked for.
type holdingStore struct {
	ratelimit.Store
	holds *[]time.Duration
}

func (s holdingStore) Take(ctx context.Context, owner string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	*s.holds = append(*s.holds, hold)
	return s.Store.Take(ctx, owner, needs, hold)
}

// A slot is held while the guards read the health, and then while the request is under way: a store frees none
// of a request that may still leave.
func TestASlotIsHeldWhileItsRequestCanBeUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var holds []time.Duration
		r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{Store: holdingStore{ratelimit.NewMemoryStore(), &holds}, Owner: "desk"}))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All, trading.WithAttemptTimeout(3*time.Second))
		require.ErrorIs(t, err, trading.CodeNoPosition)
		assert.Equal(t, []time.Duration{6 * time.Second}, holds)
	})
}

// What may be sent once, and not wait for room, waits until the store has said whether there is any.
func TestAStoreThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{Store: slowStore{ratelimit.NewMemoryStore()}, Owner: "desk"}))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All, trading.WithSendTTL(0))
		require.ErrorIs(t, err, trading.CodeNoPosition)
		assert.False(t, rig.RefusalOf(t, err).Local)
	})
}

// Where the service closes a limit while a guard is asked, the call waits for it, and the guard is asked again.
func TestALimitThatClosesWhileAGuardIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, disk := 0, rig.NewDisk()
		var r rig.Rig
		r = rig.New(t, nil, trading.WithJournal(disk.Open()), trading.WithGuard(func(ctx context.Context, _ trading.Write) error {
			if asked++; asked == 1 {
				r.Sim.Fault("GET /trades", tradingsim.Raw(429, limitHeader("600", time.Minute, "Retry-After", "20"), rateLimitedBody))
				_, err := r.Account().Trades(ctx, trading.FailFast())
				require.ErrorIs(t, err, trading.CodeRateLimited)
			}
			return nil
		}))
		began := time.Now()
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All)
		require.ErrorIs(t, err, trading.CodeNoPosition)
		assert.Equal(t, 20*time.Second, time.Since(began))
		assert.Equal(t, 2, asked)
		assert.Empty(t, disk.Appended("fact"), "the journal has one send, and no second")
		usages, err := r.RateLimitUsage(t.Context())
		require.NoError(t, err)
		for _, u := range usages {
			if strings.HasSuffix(u.Bucket.Name, "/closes") {
				assert.Equal(t, 1, u.Used)
			}
		}
	})
}

// A guard that refuses meanwhile is not asked again.
func TestALimitThatClosesWhileAGuardRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var r rig.Rig
		r = rig.New(t, nil, trading.WithGuard(func(ctx context.Context, _ trading.Write) error {
			asked++
			r.Sim.Fault("GET /trades", tradingsim.Raw(429, limitHeader("600", time.Minute, "Retry-After", "20"), rateLimitedBody))
			_, _ = r.Account().Trades(ctx, trading.FailFast())
			return errors.New("not today")
		}))
		began := time.Now()
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All)
		require.ErrorIs(t, err, trading.ErrGuard)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, 1, asked)
	})
}

// What finds no place in the time in which it may be sent is refused at once, with the wait. That time is of its
// decision, whatever has taken some of it since: here the function of the key.
func TestAPlaceBehindTheTimeOfAWrite(t *testing.T) {
	for name, row := range map[string]struct {
		ttl, key time.Duration
		waits    bool
	}{
		"in time":                     {2 * time.Minute, 0, true},
		"too late":                    {30 * time.Second, 0, false},
		"in time behind the key":      {2 * time.Minute, 20 * time.Second, true},
		"too late because of the key": {50 * time.Second, 20 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim, asked := tradingsim.New(), 0
				r := rig.Join(t, sim, trading.WithRateLimits(trading.RateLimits{PerClass: 1, ReservePct: -1}),
					trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
						if asked++; asked > 1 {
							time.Sleep(row.key)
						}
						return sim.LiveKey(), nil
					}))
				began := time.Now()
				r.Exits(1)
				_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All, trading.WithSendTTL(row.ttl))
				if row.waits {
					require.ErrorIs(t, err, trading.CodeNoPosition)
					assert.Equal(t, time.Minute, time.Since(began))
					return
				}
				require.ErrorIs(t, err, trading.CodeRateLimited)
				assert.True(t, rig.RefusalOf(t, err).Local)
				wait, _ := trading.RetryAfter(err)
				assert.Equal(t, time.Minute-row.key, wait)
				assert.Equal(t, row.key, time.Since(began))
			})
		})
	}
}

// A 429 that names no wait is one of a whole window, also to who does not wait.
func TestARateLimitWithoutAWait(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Minute} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Sim.Fault(string(trading.OpClose), tradingsim.Raw(429, nil, rateLimitedBody))
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, trading.WithSendTTL(ttl))
			require.ErrorIs(r.T, err, trading.CodeRateLimited)
			wait, asked := trading.RetryAfter(err)
			assert.True(r.T, asked)
			assert.Equal(r.T, time.Minute, wait)
		})
	}
}

package doctor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var update = flag.Bool("update", false, "write testdata/broken.txt anew")

func TestSound(t *testing.T) {
	r, sent := diagnose(t, nil, func(s *setup) {
		require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, "keys"), []byte("x"), 0o600))
		s.o.KeyFile = filepath.Join(s.folder, "keys")
	})
	assert.False(t, r.Failed(), r.String())
	for _, l := range r.Lines {
		if l.Status == Warn {
			assert.Equal(t, "protection", l.Check, "%s", l)
		}
	}
	of := map[string]int{}
	for _, q := range sent {
		assert.NotContains(t, []string{"GET /sandbox/account", "GET /sandbox/positions"}, q.Operation)
		u, err := url.Parse(q.Path)
		require.NoError(t, err)
		of[accountOf(u.Path, u.Query())]++
	}
	assert.Len(t, sent, r.Requests)
	assert.LessOrEqual(t, of[""], maxService)
	assert.GreaterOrEqual(t, r.Measured.Clocks, 10)
	assert.LessOrEqual(t, of["acc_1"], maxAccount)
	assert.Zero(t, of["acc_old"], "an archived account is not asked about")
	assert.Less(t, r.Measured.AnswerTime, time.Millisecond)
}

// Each set-up is broken in one way, and testdata/broken.txt has what the doctor says of it beyond what is
// said of a sound one: -update writes it.
func TestBrokenSetups(t *testing.T) {
	sound, _ := diagnose(t, nil, nil)
	says := map[string]string{}
	for name, c := range map[string]struct{ before, after func(*setup) }{
		"no version in the base URL": {nil, func(s *setup) { s.o.BaseURL.Value = "https://api.example.com" }},
		"the legacy base URL":        {nil, func(s *setup) { s.o.BaseURL.Value = "https://api.example.com/api/v1" }},
		"no base URL":                {nil, func(s *setup) { s.o.BaseURL = Setting{} }},
		"http over the network":      {nil, func(s *setup) { s.o.BaseURL.Value, s.o.Transport = "http://api.example.com/v1", nil }},
		"a password in the URL":      {nil, func(s *setup) { s.o.BaseURL.Value = "https://u:pk_live_stolen@api.example.com/v1" }},
		"no key":                     {nil, func(s *setup) { s.o.LiveKey, s.o.SandboxKey = Setting{}, Setting{} }},
		"keys swapped":               {nil, func(s *setup) { s.o.LiveKey.Value = s.sim.SandboxKey() }},
		"a line end in a key":        {nil, func(s *setup) { s.o.LiveKey.Value += "\n" }},
		"no prefix":                  {nil, func(s *setup) { s.o.SandboxKey.Value = "secret" }},
		"a variable is empty":        {nil, func(s *setup) { s.o.Environ = append(s.o.Environ, "TRADING_ACCOUNT= ") }},
		"a key file for all": {nil, func(s *setup) {
			s.o.KeyFile = filepath.Join(s.folder, "keys")
			require.NoError(s.t, os.WriteFile(s.o.KeyFile, []byte("x"), 0o600))
			require.NoError(s.t, os.Chmod(s.o.KeyFile, 0o644))
		}},
		"a proxy":          {nil, func(s *setup) { s.o.Environ = append(s.o.Environ, "HTTPS_PROXY=http://u:secret@10.0.0.1:3128") }},
		"a revoked key":    {nil, func(s *setup) { s.sim.RevokeKey(s.sim.LiveKey()) }},
		"an unknown key":   {nil, func(s *setup) { s.o.SandboxKey.Value = "pk_test_stolen" }},
		"access withdrawn": {nil, func(s *setup) { s.sim.SetAccess(false) }},
		"keys of two users": {func(s *setup) {
			s.change = func(r *http.Response) {
				if r.Request.Header.Get("X-API-Key") == s.sim.SandboxKey() {
					rewrite(r, replaced(`"userId":"`, `"userId":"other_`))
				}
			}
		}, nil},
		"not healthy":        {nil, func(s *setup) { s.sim.SetHealth("degraded", "stale") }},
		"health in seconds":  {func(s *setup) { s.change = func(r *http.Response) { asOfInSeconds(r) } }, nil},
		"health of a minute": {func(s *setup) { s.change = func(r *http.Response) { shiftAsOf(r, -time.Minute) } }, nil},
		"a clock behind":     {func(s *setup) { s.opts = append(s.opts, tradingsim.WithSkew(-3*time.Second)) }, nil},
		"a clock ahead":      {func(s *setup) { s.opts = append(s.opts, tradingsim.WithSkew(time.Hour)) }, nil},
		"clocks that disagree": {func(s *setup) {
			n := 0
			s.change = func(r *http.Response) {
				if n++; n%2 == 0 {
					shiftDate(r, 4*time.Second)
				}
			}
		}, nil},
		"slow answers": {nil, func(s *setup) {
			s.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Delay(3 * time.Second) })
		}},
		"no answers": {nil, func(s *setup) {
			s.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.DropRequest() })
		}},
		// An answer ends with its last byte: headers that come at once say nothing of it.
		"a slow body": {func(s *setup) {
			s.change = func(r *http.Response) { r.Body = &trickle{r.Body, 3 * time.Second} }
		}, nil},
		"a body that does not come": {func(s *setup) {
			s.change = func(r *http.Response) { r.Body = &trickle{r.Body, time.Minute} }
		}, nil},
		// By a clock in another zone or of another instance: its age is not known.
		"health of the future": {func(s *setup) { s.change = func(r *http.Response) { shiftAsOf(r, time.Hour) } }, nil},
		"health in whole seconds": {func(s *setup) {
			s.change = func(r *http.Response) { assessment(r, func(asOf int64) int64 { return asOf / 1000 * 1000 }) }
		}, nil},
		// What something on the way has kept says nothing of the clock.
		"a cached date": {func(s *setup) {
			s.opts = append(s.opts, tradingsim.WithSkew(-time.Hour))
			s.change = func(r *http.Response) { r.Header.Set("Age", "7") }
		}, nil},
		"another description": {func(s *setup) {
			s.change = func(r *http.Response) {
				if strings.HasSuffix(r.Request.URL.Path, "/openapi.json") {
					rewrite(r, replaced(`"/positions/close"`, `"/positions/shut"`))
				}
			}
		}, nil},
		"no such account":  {nil, func(s *setup) { s.o.Accounts = []trading.AccountID{"acc_9"} }},
		"a failed account": {nil, func(s *setup) { s.o.Accounts = []trading.AccountID{"acc_old"} }},
		"at the floor": {func(s *setup) {
			s.opts = append(s.opts, tradingsim.WithAccount(tradingsim.Account{ID: "acc_2", Balance: "90000", GlobalLossFloor: "90000", DailyLossFloor: "80000"}))
		}, func(s *setup) { s.o.Accounts = []trading.AccountID{"acc_2"} }},
		"no stop":            {nil, func(s *setup) { s.sim.Trade("acc_1", "long", "0.1", "BTC") }},
		"a strange order":    {nil, func(s *setup) { rest(s) }},
		"an order too small": {nil, func(s *setup) { s.o.SmallestOrder = decimal.NewFromInt(9) }},
		"little room": {func(s *setup) {
			s.opts = append(s.opts, tradingsim.WithAccount(tradingsim.Account{ID: "acc_2", Balance: "90500", GlobalLossFloor: "90000", DailyLossFloor: "80000"}))
		}, func(s *setup) { s.o.Accounts = []trading.AccountID{"acc_2"} }},
		"a run that may be the stop": {nil, func(s *setup) {
			s.sim.Trade("acc_1", "long", "0.1", "BTC")
			_, err := s.sim.Terminal("POST /orders/conditional", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.1,"leverage":2,"triggerPrice":60000,"reduceOnly":true}`)
			require.NoError(s.t, err)
		}},
		"an order too large":       {nil, func(s *setup) { s.o.SmallestOrder = decimal.NewFromInt(600_000) }},
		"a market without a price": {nil, func(s *setup) { s.sim.SetMark("DARK", "") }},
		"a halt in force": {nil, func(s *setup) {
			p, _ := protectedBy(s)
			require.NoError(s.t, p.Halt("acc_1", "a test"))
			time.Sleep(time.Minute)
		}},
		"a protection that has ended": {nil, func(s *setup) {
			_, end := protectedBy(s)
			end()
			time.Sleep(time.Hour)
		}},
		"no protection in the folder": {nil, func(s *setup) { s.o.StateDir = s.folder }},
		"no folder for the journal":   {nil, func(s *setup) { s.o.Journal = filepath.Join(s.folder, "no", "bot.journal") }},
		"a lost journal":              {nil, func(s *setup) { require.NoError(s.t, os.Remove(s.o.Journal)) }},
		"a damaged journal": {nil, func(s *setup) {
			require.NoError(s.t, os.WriteFile(s.o.Journal, []byte("not a journal, and longer than any header is"), 0o600))
		}},
		"a journal in memory":    {nil, func(s *setup) { s.h.place = onPlace("tmpfs", inMemory, 40<<30) }},
		"a journal in the layer": {nil, func(s *setup) { s.h.place = onPlace("overlayfs", ownLayer, 40<<30) }},
		"a journal on a network": {nil, func(s *setup) { s.h.place = onPlace("nfs", onNetwork, 40<<30) }},
		"a full disk":            {nil, func(s *setup) { s.h.place = onPlace("ext", "", 1<<20) }},
		"syncs that lie": {nil, func(s *setup) {
			s.h.sync = func(_ string, n int) ([]time.Duration, error) {
				return slices.Repeat([]time.Duration{10 * time.Microsecond}, n), nil
			}
		}},
		"no room to write": {nil, func(s *setup) {
			s.h.sync = func(string, int) ([]time.Duration, error) { return nil, errors.New("read-only file system") }
		}},
		"a pending write":      {nil, pendingWrite},
		"an old pending write": {nil, func(s *setup) { pendingWrite(s); time.Sleep(time.Hour) }},
		"a gap":                {nil, func(s *setup) { require.NoError(s.t, os.WriteFile(s.o.Journal+".gap", nil, 0o600)) }},
		"a clock nobody sets":  {nil, func(s *setup) { s.h.synchronised = func() (bool, error) { return false, nil } }},
		"a suspend": {nil, func(s *setup) {
			s.h.since = func(time.Time) (wall, mono time.Duration) { return time.Hour, time.Minute }
		}},
		"a short grace": {nil, func(s *setup) { s.o.StopGrace = 2 * time.Second }},
		"a short grace of the unit": {nil, func(s *setup) {
			s.o.StopGrace, s.o.Process = 0, &Process{PID: 7, UID: 1000, Unit: "bot.service"}
			s.h.stopGrace = func(*Process) (time.Duration, string) { return time.Second, "TimeoutStopSec of bot.service" }
		}},
		"an alert that is lost":               {nil, func(s *setup) { s.o.Alert = func(string) error { return errors.New("502 of pk_live_stolen") } }},
		"an old program":                      {nil, func(s *setup) { s.o.Built = time.Now().AddDate(-1, 0, 0) }},
		"an old profile":                      {nil, func(s *setup) { s.o.Profiled = time.Now().AddDate(0, -2, 0) }},
		"keys that are refused are sent once": {nil, func(s *setup) { s.sim.RevokeKey(s.sim.LiveKey()); s.sim.RevokeKey(s.sim.SandboxKey()) }},
		"a journal that the bot has":          {nil, heldBy(7)},
		"a journal that another has":          {nil, heldBy(8)},
		// What a service does not show is no FAIL; one that answers oddly is no reason to send more, or to print a key.
		"no Date":                {changed(func(r *http.Response) { r.Header.Del("Date") }), nil},
		"a Date in another zone": {changed(func(r *http.Response) { r.Header.Set("Date", "Mon, 23 Nov 2026 13:00:00 CET") }), nil},
		"null for each level": {changed(func(r *http.Response) {
			rewrite(r, func(body string) string { return levels.ReplaceAllString(body, `"$1":null`) })
		}), nil},
		"a limit of the rate by 403": {answers(403, `{"error":"rate_limited","message":"slower"}`), nil},
		"200 with an error":          {answers(200, `{"error":"internal","message":"@key"}`), nil},
		"a refusal with the key":     {answers(401, `{"error":"@key","message":"no such key: @key"}`), nil},
		"redirects":                  {answers(307, ``), nil},
		"answers of nothing":         {answers(200, ``), nil},
		"answers of a list":          {answers(200, `[]`), nil},
		"answers of a page":          {answers(200, `<html>@key</html>`), nil},
		"answers of null":            {answers(200, `null`), nil},
		"redirects to the key": {changed(func(r *http.Response) {
			r.StatusCode = 302
			r.Header.Set("Location", "https://example.com/"+r.Request.Header.Get("X-Api-Key"))
		}), nil},
		"a bot of root": {nil, func(s *setup) { s.o.Process = &Process{PID: 7, OpenFiles: 1024} }},
		"few files":     {nil, func(s *setup) { s.o.Process = &Process{PID: 7, UID: 1000, OpenFiles: 64} }},
	} {
		var folder string
		broken, _ := diagnose(t, c.before, func(s *setup) {
			if folder = s.folder; c.after != nil {
				c.after(s)
			}
		})
		for _, l := range broken.Lines {
			if !slices.ContainsFunc(sound.Lines, func(known Line) bool { return known.Check == l.Check && known.Status == l.Status }) {
				says[name] += strings.ReplaceAll(l.String(), folder, "$DIR") + "\n"
			}
		}
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(says)) {
		fmt.Fprintf(&all, "== %s\n%s\n", name, says[name])
	}
	const file = "testdata/broken.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String(), "go test . -run BrokenSetups -update writes it anew")
}

func find(r *Report, check string, status Status) (Line, bool) {
	for _, l := range r.Lines {
		if l.Check == check && l.Status == status {
			return l, true
		}
	}
	return Line{}, false
}

// Of many accounts those that are archived are looked at last, and no more than twenty.
func TestArchivedAccountsComeLast(t *testing.T) {
	r, sent := diagnose(t, func(s *setup) {
		for i := range 2 * maxAccounts {
			s.opts = append(s.opts, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprint("acc_a", i), Archived: i%2 == 0}))
		}
	}, nil)
	for _, q := range sent {
		var i int
		if _, err := fmt.Sscanf(q.Path, "/accounts/acc_a%d", &i); err == nil {
			assert.Equal(t, 1, i%2, q.Path)
		}
	}
	l, _ := r.Line("more-accounts")
	assert.Equal(t, Skipped, l.Status)
}

// What was set in the simulation is measured within a tenth.
func TestMeasured(t *testing.T) {
	for _, c := range []struct{ delay, skew time.Duration }{
		{20 * time.Millisecond, time.Second}, {100 * time.Millisecond, -2 * time.Second}, {400 * time.Millisecond, 7 * time.Second}, {50 * time.Millisecond, -time.Minute},
	} {
		r, _ := diagnose(t, func(s *setup) { s.opts = append(s.opts, tradingsim.WithSkew(c.skew)) }, func(s *setup) {
			s.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Delay(c.delay) })
		})
		m := r.Measured
		assert.InEpsilon(t, float64(c.delay), float64(m.AnswerTime), 0.1)
		assert.InEpsilon(t, float64(c.skew), float64((m.ClockAtLeast+m.ClockAtMost)/2), 0.1, "%s to %s", m.ClockAtLeast, m.ClockAtMost)
		assert.LessOrEqual(t, m.ClockAtLeast, c.skew)
		assert.GreaterOrEqual(t, m.ClockAtMost, c.skew)
	}
}

// The transport refuses what is no read, what fires triggers, and what is too much.
func TestGuard(t *testing.T) {
	sim := tradingsim.New()
	defer sim.Close()
	m := &meter{next: sim.Transport(), root: "/v1", accounts: map[string]int{}}
	try := func(method, path string) error {
		r, err := http.NewRequestWithContext(t.Context(), method, sim.URL()+path, http.NoBody)
		require.NoError(t, err)
		resp, err := m.RoundTrip(r)
		if err == nil {
			require.NoError(t, resp.Body.Close())
		}
		return err
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "HEAD", "get"} {
		require.Error(t, try(method, "/orders"), method)
	}
	require.Error(t, try("GET", "/sandbox/account"))
	require.Error(t, try("GET", "/sandbox/positions"))
	for range maxAccount {
		require.NoError(t, try("GET", "/positions?accountId=a"))
	}
	require.ErrorIs(t, try("GET", "/accounts/a/orders"), errTooMany)
	for range maxService {
		require.NoError(t, try("GET", "/health"))
	}
	require.ErrorIs(t, try("GET", "/me"), errTooMany)
	require.Len(t, sim.Requests(), maxAccount+maxService)
}

// The paper account is read only where that was asked for.
func TestPaper(t *testing.T) {
	r, sent := diagnose(t, nil, func(s *setup) { s.o.Paper = true })
	assert.False(t, r.Failed(), r.String())
	assert.Equal(t, 2, counted(sent, func(q tradingsim.Request) bool {
		return q.Operation == "GET /sandbox/account" || q.Operation == "GET /sandbox/positions"
	}))
}

// A journal knows its named orders, and a person declares others.
func TestKnownOrders(t *testing.T) {
	place := func(s *setup) {
		client, done := s.client()
		defer done()
		_, err := client.Live.Account("acc_1").PlaceLimit(s.t.Context(), trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"), LimitPrice: trading.At(trading.Dec("60000")),
		}, trading.WithClientOrderID("one"))
		require.NoError(s.t, err)
	}
	r, _ := diagnose(t, nil, place)
	l, _ := r.Line("resting")
	assert.Equal(t, OK, l.Status, "%s", r)
	assert.Contains(t, l.Saw, "1 rest or run")

	r, _ = diagnose(t, nil, func(s *setup) {
		rest(s)
		s.o.Known = []string{s.sim.State().Accounts[0].Orders[0].ID}
	})
	l, _ = r.Line("resting")
	assert.Equal(t, OK, l.Status, "%s", r)
}

func TestChanged(t *testing.T) {
	before, _ := diagnose(t, nil, nil)
	now, _ := diagnose(t, nil, func(s *setup) { s.sim.Trade("acc_1", "long", "0.1", "BTC") })
	assert.Empty(t, Changed(before, before))
	lines := Changed(before, now)
	require.NotEmpty(t, lines)
	assert.Equal(t, "stops", lines[0].Check)
	assert.Len(t, Changed(now, before), len(lines))
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &setup{t: t, h: soundHost(), folder: t.TempDir()}
		s.start()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		Run(ctx, s.o)
		assert.Less(t, time.Since(began), time.Second)
	})
}

// What a service writes into ids reaches no terminal as it is, and an account that is listed twice is looked at once.
func TestAnOddListOfAccounts(t *testing.T) {
	r, sent := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) {
			switch {
			case strings.HasSuffix(r.Request.URL.Path, "/accounts"):
				rewrite(r, func(body string) string {
					list, _ := strings.CutPrefix(body, `{"accounts":[`)
					rows, rest, _ := strings.Cut(list, "]")
					first, _, _ := strings.Cut(rows, "}")
					odd := strings.Replace(first, `"id":"`, `"id":"acc_\u001b[31m`, 1)
					return `{"accounts":[` + odd + "}," + rows + "," + rows + "]" + rest
				})
			case strings.HasSuffix(r.Request.URL.Path, "/me"):
				rewrite(r, replaced("user_1", "user_\\u001b[31m"))
			}
		}
	}, nil)
	assert.Contains(t, r.String(), "acc_")
	for _, l := range r.Lines {
		assert.Equal(t, -1, strings.IndexFunc(l.String(), unicode.IsControl), "%q", l.String())
		assert.NotContains(t, l.Saw, errTooMany.Error())
	}
	assert.Contains(t, r.String(), "account acc_1 is listed twice")
	assert.Equal(t, 3, counted(sent, func(q tradingsim.Request) bool { return strings.Contains(q.Path, "acc_1") }), "%s", r)
}

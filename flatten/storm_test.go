package flatten_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	storms = flag.Int("storms", 120, "how many random schedules an account is flattened against")
	first  = flag.Uint64("storms.from", 0, "the seed of the first schedule")
)

// stormMarkets are in a fixed order, so that a seed means the same each time.
var stormMarkets = []struct {
	symbol string
	price  int64
	size   string // of what rests
}{{"BTC", 64000, "0.1"}, {"ETH", 3200, "1"}, {"SOL", 150, "20"}}

// adversary plays the market, the terminal, another program and the network
// against one flattening.
type adversary struct {
	rng     *rand.Rand
	sim     *tradingsim.Sim
	until   time.Time // it is quiet afterwards
	faults  int       // percent of the calls that go wrong
	trades  bool      // somebody trades meanwhile
	hostile bool      // codes too that no retry can help
	ambush  bool      // the market comes to all limits as the first look begins

	mu       sync.Mutex
	unpriced map[string]bool
}

// choose is asked about each call as it arrives, which is also the moment to move.
func (a *adversary) choose(operation string) tradingsim.Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().After(a.until) {
		return nil
	}
	if a.ambush && operation == string(trading.OpOpenOrders) {
		a.ambush = false
		for _, m := range stormMarkets {
			a.sim.SetMark(m.symbol, fmt.Sprint(m.price*97/100))
		}
		return nil
	}
	switch trading.Operation(operation) {
	case trading.OpOpenOrders, trading.OpPositions, trading.OpState:
		if a.rng.IntN(4) == 0 {
			a.move()
		}
		return a.pick(a.readFaults())
	case trading.OpCancelOrder, trading.OpCancelRun, trading.OpClose:
		if a.rng.IntN(2) == 0 {
			a.move()
		}
		return a.pick(a.writeFaults())
	default: // what the other program places
		return nil
	}
}

func (a *adversary) pick(faults []tradingsim.Fault) tradingsim.Fault {
	if a.rng.IntN(100) >= a.faults {
		return nil
	}
	return faults[a.rng.IntN(len(faults))]
}

func (a *adversary) some(most time.Duration) time.Duration {
	return time.Duration(a.rng.Int64N(int64(most)))
}

func (a *adversary) readFaults() []tradingsim.Fault {
	faults := []tradingsim.Fault{
		tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(), tradingsim.RefuseConnection(),
		tradingsim.GatewayError(200), tradingsim.GatewayError(403), tradingsim.GatewayErrorAfter(502), tradingsim.Raw(200, nil, "{}"),
		tradingsim.Delay(a.some(8 * time.Second)), tradingsim.DelayResponse(a.some(8 * time.Second)),
		tradingsim.Fail(500, "internal_error"), tradingsim.Fail(503, "unavailable"),
		tradingsim.RateLimit(a.some(30 * time.Second)),
	}
	if a.hostile {
		faults = append(faults, tradingsim.Fail(404, "account_not_found"), tradingsim.Fail(403, "api_access_denied"))
	}
	return faults
}

func (a *adversary) writeFaults() []tradingsim.Fault {
	faults := append(a.readFaults(),
		tradingsim.FailAfter(500, "internal_error"), tradingsim.GatewayErrorAfter(200), tradingsim.Crash(), tradingsim.CrashAfter(),
		tradingsim.ArriveLate(a.some(20*time.Second)), tradingsim.LateCopy(a.some(20*time.Second)), tradingsim.Repeat(),
		tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()),
		tradingsim.Fail(409, "STALE_PRICE"), tradingsim.Fail(503, "no_price"), tradingsim.Fail(409, "idempotency_in_flight"),
		tradingsim.Fail(404, "no_position"), tradingsim.Fail(404, "order_not_found"))
	if a.hostile {
		faults = append(faults, tradingsim.Fail(403, "account_locked"), tradingsim.Fail(400, "bad_request"))
	}
	return faults
}

// move does one thing to the market or the account. Its lock is held.
func (a *adversary) move() {
	for _, m := range stormMarkets {
		symbol := m.symbol
		switch a.rng.IntN(6) {
		case 0: // up to 3 percent away, which is where the limits rest
			a.sim.SetMark(symbol, decimal.NewFromInt(m.price).Mul(decimal.NewFromInt(int64(9700+a.rng.IntN(600)))).Div(decimal.NewFromInt(10_000)).String())
			a.unpriced[symbol] = false
		case 1:
			if a.rng.IntN(8) == 0 {
				a.sim.SetMark(symbol, "")
				a.unpriced[symbol] = true
			}
		case 2:
			if a.trades && !a.unpriced[symbol] {
				a.sim.Trade("acc_1", []string{"long", "short"}[a.rng.IntN(2)], "1", symbol)
			}
		case 3:
			a.sim.SetFillError(symbol, []string{"", "", "NO_PRICE", "STALE_PRICE"}[a.rng.IntN(4)])
		case 4:
			a.sim.SetHealth([]string{"healthy", "degraded", "unavailable"}[a.rng.IntN(3)], "stale")
		}
	}
}

// play moves at times of its own, and lets the other program leave orders.
func (a *adversary) play(ctx context.Context, account *trading.Account) {
	for ctx.Err() == nil {
		a.mu.Lock()
		over := !time.Now().Before(a.until)
		if !over {
			a.move()
		}
		market, what, nap := a.rng.IntN(3), a.rng.IntN(3), a.some(6*time.Second)
		a.mu.Unlock()
		if over {
			return
		}
		if a.trades {
			leave(ctx, account, market, what)
		}
		time.Sleep(nap)
	}
}

// leave places something that waits. Whether it is taken is no matter.
func leave(ctx context.Context, account *trading.Account, market, what int) {
	m := stormMarkets[market]
	symbol, size := m.symbol, m.size
	below := decimal.NewFromInt(m.price).Mul(trading.Dec("0.985"))
	switch what {
	case 0:
		_, _ = account.PlaceLimit(ctx, limit(trading.Long, size, symbol, below.String()), trading.SkipHealthGate(), trading.AllowPending())
	case 1:
		_, _ = account.PlacePro(ctx, order(trading.Short, size+"0", symbol), trading.TWAP{Duration: 10 * time.Minute}, trading.SkipHealthGate(), trading.AllowPending())
	}
}

// calm ends whatever the adversary did to the market.
func (a *adversary) calm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = time.Time{}
	a.sim.FaultEach(nil)
	for _, m := range stormMarkets {
		a.sim.SetFillError(m.symbol, "")
		a.sim.SetMark(m.symbol, fmt.Sprint(m.price))
		a.unpriced[m.symbol] = false
	}
}

// Random accounts are flattened against random adversaries. Flat is claimed only
// of an account that was flat, by what the simulation knows, and every flattening
// ends: with proof where the storm passes, and with its context where not.
func TestStormsNeverClaimFlatFalsely(t *testing.T) {
	var results sync.Map
	count := func(what string) {
		n, _ := results.LoadOrStore(what, new(int))
		*n.(*int)++
	}
	for seed := *first; seed < *first+uint64(*storms); seed++ {
		synctest.Test(t, func(t *testing.T) { flattenInAStorm(t, seed, count) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	told := map[string]int{}
	results.Range(func(what, n any) bool {
		told[what.(string)] = *n.(*int)
		return true
	})
	t.Logf("%v", told)
	assert.Greater(t, told["flat"], *storms/4)
	assert.Greater(t, told["flat, and nobody traded since"], *storms/5)
	assert.Positive(t, told["not flat"])
}

func flattenInAStorm(t *testing.T, seed uint64, count func(string)) {
	defer func() {
		if t.Failed() {
			t.Logf("-storms.from %d -storms 1", seed)
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 95))
	lag := time.Duration(rng.IntN(4700)) * time.Millisecond
	options := []tradingsim.Option{
		tradingsim.WithLag(lag),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "1000000000", DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "9000000000"}),
	}
	for _, m := range stormMarkets {
		options = append(options, tradingsim.WithMark(m.symbol, fmt.Sprint(m.price)))
	}
	for _, number := range slices.Sorted(maps.Keys(tradingsim.Interpretations())) {
		if rng.IntN(4) == 0 {
			options = append(options, tradingsim.WithInterpretation(number))
		}
	}
	if rng.IntN(4) == 0 {
		options = append(options, tradingsim.WithUserLimits(5+rng.IntN(20), 20), tradingsim.WithKeyLimit(60+rng.IntN(200)))
	}
	sim := tradingsim.New(options...)
	other := join(t, sim)
	ambush := rng.IntN(4) == 0 // nothing is held yet, and something is about to be
	for _, m := range stormMarkets {
		if !ambush && rng.IntN(2) == 0 {
			sim.Trade("acc_1", []string{"long", "short"}[rng.IntN(2)], "1", m.symbol)
		}
	}

	a := &adversary{rng: rng, sim: sim, unpriced: map[string]bool{}, faults: rng.IntN(60), hostile: rng.IntN(5) == 0, ambush: ambush}
	for market := range stormMarkets {
		for range rng.IntN(3) {
			what := rng.IntN(3)
			if ambush {
				what = 0
			}
			leave(t.Context(), other.account, market, what)
		}
	}
	if ambush {
		time.Sleep(6 * time.Second) // until what rests shows
	}
	a.trades = rng.IntN(3) > 0
	within := 6*time.Minute + a.some(4*time.Minute)
	storm := a.some(2 * time.Minute)
	endless := rng.IntN(5) == 0
	if endless {
		storm = time.Hour
	}
	a.until = time.Now().Add(storm)
	sim.FaultEach(a.choose)
	status := ""
	if rng.IntN(8) == 0 {
		status = []string{"FAILED", "PASSED", "EXPIRED"}[rng.IntN(3)]
		time.AfterFunc(a.some(30*time.Second), func() { sim.SetStatus("acc_1", status) })
	}

	transport := sim.Transport()
	if skew := a.some(max(1, 4800*time.Millisecond-lag)); rng.IntN(3) == 0 {
		lag += skew
		transport = skewed(transport, sim, lag)
	}
	if rng.IntN(4) == 0 {
		transport = idsAlone(transport)
	}
	r := join(t, sim, trading.WithTransport(transport))
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var players sync.WaitGroup
	players.Go(func() { a.play(ctx, other.account) })
	if !endless {
		time.AfterFunc(storm, a.calm)
	}

	began := time.Now()
	report, err := flatten.Account(ctx, r.account, flatten.Options{Halt: r.Client})
	r.consistent(report, err, flatten.Options{})
	assert.LessOrEqual(t, time.Since(began), within, "it ends")
	cancel()
	players.Wait()

	switch {
	case err == nil:
		count("flat")
		if claimHolds(t, r, a, report, lag) {
			count("flat, and nobody traded since")
		}
	case errors.Is(err, flatten.ErrStuck):
		count("stuck")
		assert.True(t, a.hostile || status != "", "seed %d gave up: %v", seed, err)
	default:
		count("not flat")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		// A last minute without a 429 of the service's own is enough for an
		// account that takes closes.
		if !endless && status == "" {
			t.Errorf("seed %d: the storm was over after %s, and it was not flat after %s: %v\n%v", seed, storm, within, err, report.Steps[max(0, len(report.Steps)-10):])
		}
	}
	a.calm()
	time.Sleep(time.Minute) // until what was late has been
}

// claimHolds compares a claim with what really was, and reports whether it could
// be compared in full: nobody placed or traded anything since the proof began.
func claimHolds(t *testing.T, r rig, a *adversary, report *flatten.Report, lag time.Duration) bool {
	first, second, _ := report.Proof()
	// The second look read the positions at some moment. They were flat at one that
	// it can have seen.
	assert.True(t, wasFlat(r.sim.Ledger(), second.Began.Add(-lag), second.Ended.Add(-lag)), "flat at no moment of the last look, with reads %s behind: %s\n%v", lag, report, r.sim.Ledger())
	for _, e := range r.sim.Ledger() {
		placed := e.Actor == "terminal" || e.Actor == "api" && !e.Filled && !strings.Contains(e.Operation, "cancel")
		if placed && !e.At.Before(first.Began.Add(-lag)) {
			return false
		}
	}
	a.calm()
	for range 3 {
		for _, m := range stormMarkets {
			assert.True(t, r.sim.Position("acc_1", m.symbol).IsZero(), "%s: %s", m.symbol, report)
			r.sim.SetMark(m.symbol, fmt.Sprint(m.price*9/10)) // whatever rests would fill
		}
		time.Sleep(time.Minute) // whatever runs would trade
	}
	after := join(t, r.sim).account
	open, err := after.OpenOrders(t.Context())
	for err != nil {
		time.Sleep(time.Minute)
		open, err = after.OpenOrders(t.Context())
	}
	assert.Empty(t, open.Limits)
	assert.Empty(t, open.Runs)
	return true
}

// wasFlat tells from what was executed whether there was a moment without any
// position, from one time to another.
func wasFlat(ledger []tradingsim.Execution, from, to time.Time) bool {
	held := map[string]decimal.Decimal{}
	flat := func() bool {
		for _, size := range held {
			if !size.IsZero() {
				return false
			}
		}
		return true
	}
	flatNow := true
	for _, e := range ledger {
		if !e.Filled {
			continue
		}
		if e.At.After(to) {
			break
		}
		// Flat until just before this, which is within the time or after its begin.
		if flatNow && e.At.After(from) {
			return true
		}
		held[e.Symbol] = held[e.Symbol].Add(signed(e))
		flatNow = flat()
	}
	return flatNow
}

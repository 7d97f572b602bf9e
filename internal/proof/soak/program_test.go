package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A program is a sequence of steps, four bytes each: what to do, and three numbers
// that say how. Every sequence of bytes is one.
const stepSize = 4

// maxSteps bounds a program of the fuzzer's, so that one does not take all its time.
const maxSteps = 60

type step struct{ op, a, b, c byte }

func (s step) symbol() string {
	if s.a%2 == 0 {
		return "BTC"
	}
	return "ETH"
}

func (s step) side() trading.Side {
	if s.a/2%2 == 0 {
		return trading.Long
	}
	return trading.Short
}

// size is worth from nearly nothing to several times what an account may hold.
func (s step) size() decimal.Decimal {
	exp := int32(-5) + int32(s.c%6)
	return decimal.New(1+int64(s.b)+int64(s.c/6)*7, exp)
}

func (s step) price() decimal.Decimal {
	base := map[string]int64{"BTC": 64000, "ETH": 3200}[s.symbol()]
	return decimal.New(base*(70+int64(s.b%60)), -2).Add(decimal.New(int64(s.c), -2))
}

func (s step) levels() trading.TPSL {
	at := func(n byte) trading.Level {
		if n%5 == 0 {
			return trading.Clear
		}
		return trading.At(step{a: s.a, b: n}.price())
	}
	return trading.TPSL{TakeProfit: at(s.b), StopLoss: at(s.c)}
}

func (s step) part() trading.Part {
	return trading.Percent(decimal.New(100+int64(s.b)*39+int64(s.c), -2))
}

func (s step) order() trading.Order {
	return trading.Order{Symbol: s.symbol(), Side: s.side(), Size: s.size(), Leverage: decimal.NewFromInt(1 + int64(s.c%9))}
}

// machine runs a program through a client against a simulation, and holds both
// against sums of its own.
type machine struct {
	t       *testing.T
	sim     *tradingsim.Sim
	client  *trading.Client
	books   []*ledgerBook
	keys    []keyed
	resting []trading.OrderID
	runs    []trading.RunID
	now     int // the step
	done    map[string]int
}

// keyed is an order that was sent under a key of the program's own.
type keyed struct {
	key      trading.Key
	order    trading.Order
	outcome  trading.Outcome
	answered time.Time
}

const liveAccount = trading.AccountID("acc_1")

func newMachine(t *testing.T) *machine {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200.07"),
		tradingsim.WithAccount(tradingsim.Account{ID: string(liveAccount), DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}),
		tradingsim.WithSandbox(tradingsim.Sandbox{DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}))
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()), trading.WithExclusiveAccounts(liveAccount))
	require.NoError(t, err)
	return &machine{t: t, sim: sim, client: client, done: map[string]int{},
		books: []*ledgerBook{newLedgerBook(client.Sandbox, ""), newLedgerBook(client.Live.Account(liveAccount), liveAccount)}}
}

// run runs a program, and checks everything after each step.
func run(t *testing.T, program []byte) (done map[string]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		for ; len(program) >= stepSize && !t.Failed(); program = program[stepSize:] {
			m.now++
			m.step(step{program[0], program[1], program[2], program[3]})
			m.check()
		}
		require.NoError(t, m.client.Close())
		done = m.done
	})
	return done
}

func (m *machine) step(s step) {
	ctx, account := m.t.Context(), m.client.Live.Account(liveAccount)
	// Some steps follow at once, and before some the readings have settled.
	time.Sleep(time.Duration(s.op/20) * time.Second)
	switch s.op % 20 {
	case 0, 1:
		_, _ = m.place(m.books[0], trading.OpSandboxOrder, s.order())
	case 2:
		m.close(m.books[0], s)
	case 3:
		_, err := m.client.Sandbox.SetTPSL(ctx, s.symbol(), s.levels())
		m.told(trading.OpSandboxTPSL, err)
	case 4:
		if s.b%4 == 0 {
			_, err := m.client.Sandbox.Reset(ctx)
			m.told(trading.OpSandboxReset, err)
		}
	case 5, 6:
		_, _ = m.place(m.books[1], trading.OpOrder, s.order())
	case 7:
		m.close(m.books[1], s)
	case 8:
		_, err := account.SetTPSL(ctx, s.symbol(), s.levels())
		m.told(trading.OpTPSL, err)
	case 9:
		o := s.order()
		o.LimitPrice = trading.At(s.price())
		placed, err := account.PlaceLimit(ctx, o)
		if m.told(trading.OpLimit, err) {
			m.resting = append(m.resting, placed.Order.ID)
		}
	case 10:
		if n := len(m.resting); n > 0 {
			_, err := account.CancelOrder(ctx, m.resting[int(s.a)%n])
			m.told(trading.OpCancelOrder, err)
		}
	case 11:
		o := s.order()
		placed, err := account.PlaceTWAP(ctx, o, trading.TWAP{Duration: time.Duration(1+s.b%5) * time.Minute})
		if m.told(trading.OpTWAP, err) {
			m.runs = append(m.runs, placed.ID)
		}
	case 12:
		if n := len(m.runs); n > 0 {
			_, err := account.CancelRun(ctx, m.runs[int(s.a)%n])
			m.told(trading.OpCancelRun, err)
		}
	case 13:
		m.sendKeyed(s)
	case 14:
		m.sendAgain(s)
	case 15:
		m.breakNext(s)
	case 16:
		amount := decimal.New(int64(s.b)-128, -3)
		m.sim.PayFunding(string(liveAccount), s.symbol(), amount.String())
		m.books[1].funding = m.books[1].funding.Add(amount)
	case 17:
		time.Sleep(time.Duration(s.b) * 300 * time.Millisecond)
	case 18:
		m.sim.SetMark(s.symbol(), "")
	default:
		m.sim.SetMark(s.symbol(), s.price().String())
	}
}

// told judges how a write ended, and reports whether it was answered.
func (m *machine) told(op trading.Operation, err error) (answered bool) {
	m.t.Helper()
	m.done[fmt.Sprintf("%s: %s", op, trading.OutcomeOf(err))]++
	if err == nil {
		return true
	}
	if failed := (*trading.WriteError)(nil); !errors.As(err, &failed) || failed.Operation != op {
		m.t.Errorf("step %d: %s: %T %v", m.now, op, err, err)
	}
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) && !refusal.Local {
		assert.NotEqual(m.t, 429, refusal.Status, "step %d: beyond the rate limit", m.now)
		assert.NotEqual(m.t, trading.CodeInvalidJSON, refusal.Code, "step %d", m.now)
	}
	if trading.OutcomeOf(err) == trading.Unknown {
		m.resolve(op, err)
	}
	return false
}

// resolve finds out about a write whose answer a fault has taken, and holds the
// resolution against the ledger.
func (m *machine) resolve(op trading.Operation, cause error) {
	m.t.Helper()
	failed := (*trading.WriteError)(nil)
	if !errors.As(cause, &failed) || failed.Intent == "" {
		return // of no consequence to a position, or of the sandbox
	}
	v, err := m.client.Live.Account(liveAccount).Resolve(m.t.Context(), cause)
	if v == nil {
		m.t.Errorf("step %d: no resolution: %v", m.now, err)
		return
	}
	byKey, _ := executions(m.sim.Ledger())
	executed := byKey[string(v.Intent.Key)]
	m.done[fmt.Sprintf("resolved: %s by %s", v.Outcome, v.Evidence)]++
	switch {
	case v.Outcome == trading.Applied && executed != 1, v.Outcome == trading.NotApplied && executed != 0:
		m.t.Errorf("step %d: %s is %s by %s, and was executed %d times", m.now, op, v.Outcome, v.Evidence, executed)
	case v.Outcome == trading.Unknown:
		found := trading.NotApplied
		if executed > 0 {
			found = trading.Applied
		}
		require.NoError(m.t, m.client.Acknowledge(m.t.Context(), v.Intent.ID, found, "looked at the ledger"))
	}
}

// place places an order, and compares what it is told with what was executed, and
// with the caps.
func (m *machine) place(b *ledgerBook, op trading.Operation, o trading.Order, opts ...trading.CallOption) (result *trading.OrderResult, err error) {
	m.t.Helper()
	before := b.held(m.sim, o.Symbol)
	executed := len(m.sim.Ledger())
	result, err = b.trader.PlaceOrder(m.t.Context(), o, opts...)
	if !m.told(op, err) {
		return nil, err
	}
	if result.Meta.Replayed {
		return result, nil
	}
	e := m.executed(executed, op)
	signed := o.Size
	if o.Side == trading.Short {
		signed = signed.Neg()
	}
	after := before.Add(signed)
	m.equal(o.Size, e.Size, "the size of the execution")
	m.equal(e.Price, result.Fill.Price, "the price of the fill")
	m.equal(after, b.held(m.sim, o.Symbol), "the position")
	if size, ok := result.Fill.Size.Get(); ok {
		m.equal(e.Size, size, "the size of the fill")
	}
	if fee, ok := result.Fill.Fee.Get(); ok {
		m.equal(e.Size.Mul(e.Price).Mul(takerRate), fee, "the fee of the fill")
	}
	position, open := result.Position.Get()
	if assert.Equal(m.t, !after.IsZero(), open, "step %d: a position afterwards", m.now) && open {
		m.equal(after, position.Signed(), "the position that the order tells of")
	}
	if after.Abs().GreaterThan(before.Abs()) || after.Sign()*before.Sign() < 0 {
		m.withinCaps(b, o.Symbol, after, e.Price, position)
	}
	return result, nil
}

// executed is the one execution since n, of an operation that was applied.
func (m *machine) executed(n int, op trading.Operation) tradingsim.Execution {
	m.t.Helper()
	var found []tradingsim.Execution
	for _, e := range m.sim.Ledger()[n:] {
		if e.Operation == string(op) && e.Actor == "api" {
			found = append(found, e)
		}
	}
	require.Len(m.t, found, 1, "step %d: executions of %s", m.now, op)
	return found[0]
}

// withinCaps: an order that adds leaves nothing beyond the caps. The equity is that
// of before; the fee has only made it less.
func (m *machine) withinCaps(b *ledgerBook, symbol string, after, price decimal.Decimal, p trading.Position) {
	m.t.Helper()
	if leverage, ok := p.Leverage.Get(); ok && leverage.GreaterThan(decimal.NewFromInt(5)) {
		m.t.Errorf("step %d: %s has leverage %s", m.now, symbol, leverage)
	}
	e, known := b.equity.Get()
	if known && after.Abs().Mul(price).GreaterThan(e.Mul(decimal.NewFromInt(5)).Add(decimal.NewFromInt(1))) {
		m.t.Errorf("step %d: %s of %s at %s is beyond five times the equity of %s", m.now, after, symbol, price, e)
	}
	margin := decimal.Zero
	positions, err := b.trader.Positions(m.t.Context())
	require.NoError(m.t, err)
	for _, p := range positions {
		bound, _ := p.Margin.Get()
		margin = margin.Add(bound)
	}
	if known && margin.GreaterThan(e.Add(decimal.NewFromInt(1))) {
		m.t.Errorf("step %d: the positions bind %s of an equity of %s", m.now, margin, e)
	}
}

func (m *machine) close(b *ledgerBook, s step) {
	m.t.Helper()
	op := trading.OpClose
	if b.account == "" {
		op = trading.OpSandboxClose
	}
	executed := len(m.sim.Ledger())
	closed, err := b.trader.ClosePosition(m.t.Context(), s.symbol(), s.part())
	if !m.told(op, err) {
		return
	}
	e := m.executed(executed, op)
	trades, err := b.trader.Trades(m.t.Context())
	require.NoError(m.t, err)
	require.NotEmpty(m.t, trades, "step %d", m.now)
	m.equal(e.Price, trades[0].ExitPrice, "the price of the close")
	m.equal(trades[0].GrossPnL.Round(2), closed.PnL.Round(2), "the PnL of the close")
	m.equal(trades[0].RoundTripFee.Round(2), closed.Fee.Round(2), "the fee of the close")
	if size, ok := trades[0].Size.Get(); ok {
		m.equal(e.Size, size, "the size of the close")
	}
}

// sendKeyed places a live order under a key of the program's own.
func (m *machine) sendKeyed(s step) {
	m.t.Helper()
	k := keyed{key: trading.Key(fmt.Sprintf("program-%d", len(m.keys))), order: s.order()}
	_, err := m.place(m.books[1], trading.OpOrder, k.order, trading.WithIdempotencyKey(k.key))
	k.outcome, k.answered = trading.OutcomeOf(err), time.Now()
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) && (refusal.Local || refusal.Status >= 500) {
		return // not stored
	}
	if guard := (*trading.GuardError)(nil); errors.As(err, &guard) {
		return // not sent
	}
	m.keys = append(m.keys, k)
}

// sendAgain sends an order again under its key, or another one under it.
func (m *machine) sendAgain(s step) {
	m.t.Helper()
	if len(m.keys) == 0 {
		return
	}
	k := m.keys[int(s.a)%len(m.keys)]
	if k.outcome == trading.Unknown {
		return // may have been resolved by a fence, which has taken the key
	}
	o := k.order
	other := s.b%2 == 0
	if other {
		o.Size = o.Size.Add(decimal.New(1, -6))
	}
	executed := len(m.sim.Ledger())
	result, err := m.client.Live.Account(liveAccount).PlaceOrder(m.t.Context(), o, trading.WithIdempotencyKey(k.key))
	m.done["sent again: "+trading.OutcomeOf(err).String()]++
	for _, e := range m.sim.Ledger()[executed:] {
		assert.NotEqual(m.t, string(k.key), e.Key, "step %d: executed again", m.now)
	}
	if guard := (*trading.GuardError)(nil); errors.As(err, &guard) {
		return
	}
	switch {
	case other:
		assert.ErrorIs(m.t, err, trading.CodeIdempotencyKeyReused, "step %d", m.now)
	case k.outcome == trading.Applied && err == nil:
		assert.True(m.t, result.Meta.Replayed, "step %d", m.now)
	case k.outcome == trading.Applied:
		m.t.Errorf("step %d: an order that was executed is not replayed: %v", m.now, err)
	default:
		assert.Error(m.t, err, "step %d: an order that was refused", m.now)
	}
}

// breakNext plans a fault for the next write of a kind. The sandbox is spared those
// that leave a write unknown: it has no keys to find out by.
func (m *machine) breakNext(s step) {
	faults := []tradingsim.Fault{
		tradingsim.RefuseConnection(), tradingsim.GatewayError(502), tradingsim.Fail(409, "STALE_PRICE"),
		tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(), tradingsim.Delay(2 * time.Second),
		tradingsim.DelayResponse(8 * time.Second), tradingsim.GatewayErrorAfter(502), tradingsim.Fail(500, "internal_error"),
		tradingsim.FailAfter(500, "internal_error"), tradingsim.Crash(), tradingsim.CrashAfter(), tradingsim.Repeat(),
		tradingsim.Fail(409, "idempotency_in_flight"), tradingsim.Fail(503, "idempotency_unavailable"),
	}
	ops := []string{"POST /orders", "POST /positions/close", "POST /orders/limit", "POST /orders/twap"}
	m.sim.ClearFaults()
	m.sim.Fault(ops[int(s.a)%len(ops)], faults[int(s.b)%len(faults)])
}

// check reads both accounts, and adds up.
func (m *machine) check() {
	m.t.Helper()
	for _, b := range m.books {
		b.check(m)
	}
	byKey, _ := executions(m.sim.Ledger())
	for key, n := range byKey {
		assert.Equal(m.t, 1, n, "step %d: executions under %s", m.now, key)
	}
}

func (m *machine) equal(want, got decimal.Decimal, what string) {
	m.t.Helper()
	if !want.Equal(got) {
		m.t.Errorf("step %d: %s is %s, and should be %s", m.now, what, got, want)
	}
}

// FuzzProgram runs programs of the fuzzer's.
func FuzzProgram(f *testing.F) {
	f.Fuzz(func(t *testing.T, program []byte) {
		run(t, program[:min(len(program), maxSteps*stepSize)])
	})
}

// TestPrograms runs programs of the dice's: thousands of steps.
func TestPrograms(t *testing.T) {
	programs, steps := 20, 150
	if *full {
		programs = 400
	}
	done := map[string]int{}
	for i := range programs {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		program := make([]byte, steps*stepSize)
		for n := range program {
			program[n] = byte(r.UintN(256))
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for what, n := range run(t, program) {
				done[what] += n
			}
		})
	}
	for _, what := range []string{
		"POST /sandbox/orders: applied", "POST /sandbox/positions/close: applied", "POST /sandbox/positions/tpsl: applied",
		"POST /sandbox/reset: applied", "POST /orders: applied", "POST /orders: not applied", "POST /orders: unknown",
		"POST /positions/close: applied", "POST /orders/limit: applied", "POST /orders/cancel: applied",
		"POST /orders/twap: applied", "POST /runs/cancel: applied", "sent again: applied", "sent again: not applied",
	} {
		assert.NotZero(t, done[what], "no program came to %s", what)
	}
	t.Log(done)
}

package protect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
)

// watcher watches one account. Its goroutine is the only one that acts on the account;
// guards judge and reserve beside it, under its lock.
type watcher struct {
	p       *Protection
	id      trading.AccountID
	account *trading.Account
	wake    chan struct{} // holds one if the account is to be looked at now
	turn    chan struct{} // holds one while an entry waits for reads

	mu       sync.Mutex
	record   record
	look     *look
	goodAt   instant // when the last good look began
	reserved claims.Set[terms]
	early    map[trading.IntentID]trading.Resolution // of writes whose calls have not ended
	followed []string
	known    Status // the figures of the last judgment
	keep     decimal.Decimal
	// refusedAt is when a refused entry was last reported, and untold how many came since.
	refusedAt instant
	untold    int

	// What follows is the goroutine's own.
	running   bool
	interval  time.Duration
	calmSince instant
	beat      instant
	done      map[string]bool // requests that could not be removed; the listener's own
	vanished  bool            // a floor is not shown any more
	serviceAt instant         // when the service said that it was serviceNow
	serviceIs time.Time
}

func newWatcher(p *Protection, id trading.AccountID) *watcher {
	w := &watcher{
		p: p, id: id, account: p.client.Live.Account(id),
		wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), reserved: claims.Set[terms]{Elsewhere: elsewhere}, done: map[string]bool{}, interval: shortest,
	}
	before, err := load(p.store.dir, id, trusted)
	switch {
	case err != nil:
		w.record = record{Account: id, State: SoftHalt, Manual: true, Since: p.now().wall, Reason: err.Error()}
	case before == nil:
		w.record = record{Account: id, State: Starting, Since: p.now().wall}
	default:
		w.record = *before
		w.record.Blind, w.record.Broken = false, ""
		if w.record.State == OK || w.record.State == Warned {
			w.record.State, w.record.Reason = Starting, ""
		}
	}
	if own, ok := p.options.Floors[id]; ok {
		w.record.Floors.Own = trading.Some(own)
	}
	w.recall()
	return w
}

// run is the account's goroutine.
func (w *watcher) run(ctx context.Context) error {
	if err := w.start(ctx); err != nil {
		return err
	}
	for {
		wait := w.safely(ctx)
		if ctx.Err() != nil {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// start waits for the first look, and refuses an account that cannot be protected.
func (w *watcher) start(ctx context.Context) error {
	for {
		err := w.first(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, ErrNoFloor) || errors.Is(err, trading.CodeAccountNotFound) || errors.Is(err, trading.ErrKeyRefused) {
			w.alert(err.Error())
			return err
		}
		w.blind()
		select {
		case <-time.After(shortest):
		case <-ctx.Done():
			return nil
		}
	}
}

// first reads what does not change, and looks.
func (w *watcher) first(ctx context.Context) error {
	accounts, err := w.p.client.Live.Accounts(ctx, reading()...)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(accounts, func(a trading.AccountInfo) bool { return a.ID == w.id })
	if i < 0 {
		return fmt.Errorf("protect: account %s: %w", w.id, trading.CodeAccountNotFound)
	}
	if err := w.observe(ctx, true); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.record
	if !r.Starting.IsPositive() {
		r.Starting = accounts[i].StartingBalance
	}
	if r.Floors.Opening.IsZero() {
		r.Floors.Opening = trading.Some(r.Starting)
	}
	w.keep = w.p.options.Limits.Keep.Mul(r.Starting)
	if _, known := r.Floors.highest(); !known && !w.p.options.WithoutFloors {
		return fmt.Errorf("account %s: %w: name one, or say that there is none", w.id, ErrNoFloor)
	}
	w.running = true
	return nil
}

// safely is one step. A panic in it refuses entries, and the next step is made all the
// same.
func (w *watcher) safely(ctx context.Context) (wait time.Duration) {
	defer func() {
		if fault := recover(); fault != nil {
			w.broken(fmt.Sprintf("a computation failed: %v", fault))
			wait = shortest
		}
	}()
	return w.step(ctx)
}

// step looks and acts once, and says when to do so again.
func (w *watcher) step(ctx context.Context) time.Duration {
	if state := w.state(); state == Flattening || state == Stuck {
		return w.flatten(ctx)
	}
	full := w.due()
	err := w.observe(ctx, full)
	if err != nil && !full { // there are marks in the positions too
		full = true
		err = w.observe(ctx, true)
	}
	if ctx.Err() != nil {
		return 0
	}
	again := err == nil && full && w.isTorn()
	if again { // at once
		err = w.observe(ctx, true)
	}
	if err != nil {
		w.blind()
		return w.overdue()
	}
	m, ok := w.measure()
	if !ok {
		return shortest
	}
	found := levelOf(m, w.p.options.Limits)
	if found >= levelFlatten && !again {
		if m, found, ok = w.confirm(ctx, m, found, full); !ok {
			return time.Second
		}
	}
	if w.p.options.WithoutFlatten && (found == levelFlatten || found == levelUrgent) {
		found = levelSoft
	}
	w.act(m, found)
	if w.state() == Flattening {
		return w.flatten(ctx)
	}
	return w.pause()
}

// confirmWithin is how long a flattening that cannot wait waits for its second reading.
const confirmWithin = time.Second

// confirm takes a second reading of what one has shown. Where that fails, nothing is
// done, unless the room was far too small by a reading of the whole account.
func (w *watcher) confirm(ctx context.Context, m measure, found level, full bool) (measure, level, bool) {
	if found == levelUrgent && full {
		within, cancel := context.WithTimeout(ctx, confirmWithin)
		defer cancel()
		ctx = within
	}
	if err := w.observe(ctx, true); err != nil {
		w.blind()
		return m, found, found == levelUrgent && full
	}
	m, ok := w.measure()
	return m, levelOf(m, w.p.options.Limits), ok
}

// observe reads the marks, and the account too if a full look is wanted, side by side.
func (w *watcher) observe(ctx context.Context, full bool) error {
	if !full && !w.exposed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*readWithin)
	defer cancel()
	marks := make(chan error, 1)
	go func() { marks <- w.p.market.refresh(ctx, shortest/2) }()
	var l *look
	var err error
	if full {
		l, err = w.read(ctx)
	}
	noMarks := <-marks
	if l == nil {
		return errors.Join(err, noMarks)
	}
	w.take(l)
	w.learn(l, noMarks == nil)
	return nil // without marks those of the positions count
}

// learn keeps what a look says of the account itself.
func (w *watcher) learn(l *look, marked bool) {
	now := w.p.now()
	w.mu.Lock()
	good, why := w.good(l, now)
	if !marked && len(l.positions) > 0 {
		good, why = false, "the marks could not be read"
	}
	if saysTime(l.health, now) {
		w.serviceAt, w.serviceIs = l.began, l.health.AsOf
	}
	day := "" // by no clock of this machine, which may be wrong
	if !w.serviceAt.unset() {
		day = w.p.options.Rollover.day(w.serviceNow(now))
	}
	r := w.record
	vanished := w.vanished
	w.vanished = !r.Floors.Daily.IsZero() && l.state.DailyLossFloor.IsZero() ||
		!r.Floors.Global.IsZero() && l.state.GlobalLossFloor.IsZero()
	newDay := r.Day != "" && day > r.Day // an assessment may be older than the one before: no day begins twice
	r.Floors = r.Floors.seen(l.state, newDay)
	r.Day = max(r.Day, day)
	w.record = r
	if good {
		w.goodAt = l.began
	}
	w.mu.Unlock()

	if w.vanished && !vanished {
		w.alert("a loss floor is not shown any more: the last known one counts")
	}
	if good {
		w.sighted()
	} else {
		w.blindAs(why)
	}
	if newDay {
		w.nextDay()
	}
}

const (
	farApart = 48 * time.Hour  // of the service's time and this machine's: more says that one of them is no time
	uneven   = 3 * time.Second // what the service's own clocks may differ by
)

// saysTime reports whether an assessment says what time it is at the service. A day that begins lets a
// held account trade, so one that cannot be of now says nothing, by its answer's Date or by years.
func saysTime(h *trading.Health, now instant) bool {
	if h == nil || h.AsOf.IsZero() || h.Old() || now.wall.Sub(h.AsOf).Abs() > farApart {
		return false
	}
	age, known := h.Age.Get()
	return !known || age >= -uneven
}

// serviceNow is the service's time, so that a clock that jumps here moves no day. The
// lock is held.
func (w *watcher) serviceNow(now instant) time.Time {
	if w.serviceAt.unset() {
		return now.wall
	}
	return w.serviceIs.Add(now.mono - w.serviceAt.mono)
}

// due reports whether the next look at the account is due.
func (w *watcher) due() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.look == nil || w.p.now().since(w.look.began) >= w.pace() || w.look.torn {
		return true
	}
	return w.reserved.Due(w.p.now().mono) // an answer is looked for at once, and when every read shows it
}

// pace is the interval, but no shorter than half of the key's limit allows. The lock is
// held.
func (w *watcher) pace() time.Duration {
	const requests = 3 // of a look
	return max(w.interval, time.Duration(len(w.p.watchers)*requests)*time.Minute/300)
}

// pause is how long until the next step.
func (w *watcher) pause() time.Duration {
	exposed := w.exposed()
	w.mu.Lock()
	defer w.mu.Unlock()
	if exposed || w.look == nil {
		return shortest
	}
	return max(w.pace()-w.p.now().since(w.look.began), time.Second/2)
}

// exposed reports whether anything is held, waits, or may be on its way.
func (w *watcher) exposed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look != nil && (len(w.look.positions) > 0 || len(w.look.open.Limits)+len(w.look.open.Runs) > 0 || len(w.reserved.All()) > 0)
}

func (w *watcher) isTorn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look != nil && w.look.torn || w.p.market.waits()
}

// measure judges the newest look at the marks of now.
func (w *watcher) measure() (m measure, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.p.now()
	held, _ := w.holdings(now)
	gross := grossOf(held)
	computed := computedEquity(w.look.state.Balance, held)
	difference := w.look.state.Equity.Sub(w.look.computed)
	equity := computed.Add(decimal.Min(difference, decimal.Zero))
	floor, known := w.floor(now)
	if !known {
		w.known = Status{Equity: trading.Some(equity)}
		return m, false
	}
	value := make(map[string]decimal.Decimal, len(held))
	for _, h := range held {
		value[h.symbol] = h.size.Mul(h.mark)
	}
	variance, shocks := w.p.market.variance(value), shocksOf(held)
	need := func(interval time.Duration) decimal.Decimal { return needOf(gross, shocks, variance, interval) }
	m = measure{
		room: equity.Sub(floor), cost: closingCost(gross), keep: w.keep, held: len(held) > 0,
		better: computed.Add(decimal.Max(difference, decimal.Zero)).Sub(floor),
	}
	waiting := len(w.look.positions)+len(w.look.open.Limits)+len(w.look.open.Runs)+len(w.reserved.All()) > 0
	w.interval = intervalOf(m.room, waiting, need)
	m.need = need(min(w.interval, longest))
	w.known = Status{
		Equity: trading.Some(equity), Floor: trading.Some(floor), Room: trading.Some(m.room), Need: trading.Some(m.need),
	}
	return m, true
}

// beforeRollover is how long before a rollover the floor of the next day counts.
const beforeRollover = 10 * time.Minute

// floor is the one that counts now. The lock is held.
func (w *watcher) floor(now instant) (decimal.Decimal, bool) {
	service := w.serviceNow(now)
	if w.p.options.Rollover.next(service).Sub(service) <= beforeRollover {
		return w.record.Floors.predicted(w.look.state.Balance)
	}
	return w.record.Floors.highest()
}

// act takes the account to the state that a level asks for.
func (w *watcher) act(m measure, found level) {
	now := w.p.now()
	w.mu.Lock()
	if !calm(m, w.p.options.Limits) {
		w.calmSince = instant{}
	} else if w.calmSince.unset() {
		w.calmSince = now
	}
	calmed := !w.calmSince.unset() && now.since(w.calmSince) >= calmAfter
	status, locked := w.look.state.Status, w.look.state.Locked
	exposure := len(w.look.positions)+len(w.look.open.Limits)+len(w.look.open.Runs) > 0
	good := w.goodAt == w.look.began
	r := w.record
	w.mu.Unlock()

	switch {
	case !status.AllowsExit() || locked:
		w.become(Lost, fmt.Sprintf("the account is %s", status))
	case status == trading.StatusPassed:
		w.become(Passed, "the account has passed")
	case r.State == Held && exposure && r.Again < mostAgain:
		w.foundAgain()
	case r.State == Held && exposure && (found == levelFlatten || found == levelTooLate && w.p.options.CloseTooLate):
		w.become(Flattening, reasonOf(Flattening, m))
	case r.State == Starting && !good && found < levelFlatten:
		// the first good look decides
	default:
		if to := r.State.next(found, calmed, r.Manual, w.p.options.CloseTooLate); to != r.State {
			w.change(func(now *record) {
				if now.State == r.State && now.Manual == r.Manual { // nobody has asked for another meanwhile
					now.State, now.Reason = to, reasonOf(to, m)
				}
			})
		}
	}
	w.keepAlive(now)
}

func reasonOf(to State, m measure) string {
	room, need := m.room.StringFixed(2), m.need.StringFixed(2)
	switch to {
	case Flattening:
		return fmt.Sprintf("room is $%s, and the positions need $%s", room, need)
	case TooLate:
		return fmt.Sprintf("room is $%s: closing would cost $%s, and reach the floor; nothing is sent", room, m.cost.StringFixed(2))
	case SoftHalt:
		return fmt.Sprintf("room is $%s, and the positions need $%s; $%s is kept", room, need, m.keep.StringFixed(2))
	default:
		return ""
	}
}

// mostAgain is how often an account that is held is flattened at once. A bot that does not know of
// the protection enters again after each, and every round costs fees: after that only the line is
// kept at which closing becomes urgent.
const mostAgain = 3

// foundAgain flattens an account on which something was found after it had been flat.
func (w *watcher) foundAgain() {
	w.mu.Lock()
	w.record.Again++
	again := w.record.Again
	w.mu.Unlock()
	reason := fmt.Sprintf("exposure was found while the account was held (number %d)", again)
	switch {
	case again < mostAgain:
		w.alert(reason + ": stop the bot that trades it")
	case again == mostAgain:
		w.alert(reason + ": stop the bot that trades it, or revoke its API key; from now on entries are given up, and the account is flattened only when it is urgent")
	}
	w.become(Flattening, reason)
}

// overdue flattens an account that has been blind too long, if that is wanted.
func (w *watcher) overdue() time.Duration {
	w.mu.Lock()
	now := w.p.now()
	since, wanted := w.goodAt, w.p.options.FlattenBlind
	open := w.look != nil && len(w.look.positions) > 0
	state := w.record.State
	w.mu.Unlock()
	if wanted > 0 && open && !since.unset() && now.since(since) >= wanted && !state.ended() && state != TooLate {
		w.become(Flattening, fmt.Sprintf("blind with positions for %s", now.since(since).Round(time.Second)))
		return 0
	}
	return time.Second
}

package mcp

import (
	"context"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

type phase string

const (
	open    phase = "open"     // it can be executed
	waiting phase = "approval" // a person has it
	used    phase = "used"     // it was consumed
	ended   phase = "ended"    // it never will be
)

const (
	executeWithin = time.Minute
	approveWithin = 5 * time.Minute
	mostWaiting   = 3
	answerWithin  = 20 * time.Second
)

// mostMoved is how far the mark may move from a preview, in percent.
var mostMoved = decimal.NewFromInt(1)

// ticket is bound to all that its preview judged.
type ticket struct {
	id      string
	write   *write
	digest  string // of the action
	policy  string // its digest
	state   string // of an entry
	addsTo  string
	mark    trading.Mark
	held    decimal.Decimal // the position in its market, with its sign
	loosens bool
	tick    uint64 // of the last write in its market; of a change
	issued  Moment
	handed  Moment // to a person
	phase   phase
	why     string // it ended
}

func (t *ticket) end(why string) {
	if t.phase == open || t.phase == waiting {
		t.phase, t.why = ended, why
	}
}

func (t *ticket) expired(now Moment) bool {
	from, within := t.issued, executeWithin
	if t.phase == waiting {
		from, within = t.handed, approveWithin
	}
	_, most := now.since(from)
	return most > within
}

// needsPerson reports whether a ticket waits for a person.
func (e *Engine) needsPerson(t *ticket) bool {
	return e.config.Approve == ApproveEntries && (t.write.Action.entry() || t.loosens)
}

// preview judges a request, and makes a ticket of it.
func (e *Engine) preview(ctx context.Context, a action, stateToken, addsTo string) (*ticket, *risk.Report, *refusal) {
	if r := e.limit("previews", previewsAMinute); r != nil {
		return nil, nil, r
	}
	p, err := readPolicy(e.config.Policy, e.config.Mode)
	if err != nil {
		return nil, nil, breaks("file", "The policy file cannot be used.")
	}
	t := &ticket{
		id: ticketID(e.now()), write: &write{Action: a}, policy: p.digest, state: stateToken, addsTo: addsTo, phase: open,
	}
	t.write.ID = t.id
	j, r := e.judge(ctx, t, p, true)
	if r != nil {
		return nil, nil, r
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.closedToEntries(&a); r != nil {
		return nil, nil, r
	}
	t.digest, t.issued = t.write.Action.digest(), e.now()
	e.keep(t.issued)
	e.tickets[t.id] = t
	return t, j, nil
}

// closedToEntries judges what stands in the way of all entries. The caller has the lock.
func (e *Engine) closedToEntries(a *action) *refusal {
	switch {
	case e.closed:
		return refuse("closed", "The engine ends. Call again in some seconds.")
	case !a.entry():
		return nil
	case e.halted:
		return refuse("halted", "Entries are halted. Only the operator resumes them. Exits go out.")
	}
	return nil
}

// judge judges a ticket by everything as it is now. At the preview it also learns what the ticket
// is bound to. Of what is no entry only the policy is judged.
func (e *Engine) judge(ctx context.Context, t *ticket, p *policy, first bool) (*risk.Report, *refusal) {
	a := &t.write.Action
	if r := p.allows(a); r != nil {
		return nil, r
	}
	if !a.entry() {
		return nil, e.loosening(ctx, t, first)
	}
	e.mu.Lock()
	r := e.mayRest(t)
	e.mu.Unlock()
	if r != nil {
		return nil, r
	}
	l, err := e.read(ctx, a.Account)
	if err != nil {
		return nil, unread(err)
	}
	mark, err := e.client.Sandbox.Price(ctx, a.Symbol)
	if err != nil {
		mark = trading.Mark{} // an entry that needs one is refused below
	}
	price, priced := a.price(mark)
	if !priced {
		return nil, refuse("no_mark", "The market has no price now, so nothing judges this order. Without a sandbox key no order at the market is possible: use type limit or resting, with a limit_price.")
	}
	market, r := e.market(ctx, a.Symbol)
	if r != nil {
		return nil, r
	}
	j := risk.Preview(*a.Order, risk.Inputs{Environment: environment(a.Account), Method: a.method(), Market: market, Mark: mark, State: l.state, Positions: trading.Some(l.positions)})
	for _, problem := range j.Problems {
		if problem.Fatal && problem.Code != "" {
			return nil, refuse(name(string(problem.Code)), "The service would refuse this order. Call explain_code, and change the order.")
		} else if problem.Fatal {
			return nil, refuse("bad_order", "This order loses on every outcome: change its size or its levels.")
		}
	}
	held := decimal.Zero
	if pos, open := l.positions.In(a.Symbol); open {
		held = pos.Signed()
	}
	w := t.write
	w.Notional = a.Order.Size.Mul(price)
	w.Risk = lossAt(a.Order.Side, price, a.Order.Size, a.Order.StopLoss)
	w.Adds = j.Effect == risk.Opens || j.Effect == risk.Adds
	switch {
	case first:
		t.mark, t.held = mark, held
	case moved(t.mark, mark):
		return nil, refuse("mark_moved", "The mark moved more than one percent since the preview. Call account, and decide anew.")
	case !t.held.Equal(held):
		return nil, refuse("position_changed", "The position in this market changed since the preview. Call account, and decide anew.")
	}
	return &j, e.capped(t, p, l, price)
}

// moved reports whether a mark is too far from what it was, or has come or gone.
func moved(was, is trading.Mark) bool {
	before, had := was.Price()
	now, has := is.Price()
	if had != has {
		return true
	}
	return had && now.Sub(before).Abs().Mul(decimal.NewFromInt(100)).GreaterThan(before.Mul(mostMoved))
}

// mayRest judges a ticket by what was sent before. The caller has the lock.
func (e *Engine) mayRest(t *ticket) *refusal {
	a := &t.write.Action
	if r := e.closedToEntries(a); r != nil || !a.entry() {
		return r
	}
	if r := e.covers(a, t.state); r != nil {
		return r
	}
	return e.repeats(a, t.addsTo)
}

// capped judges an entry by the caps of the policy.
func (e *Engine) capped(t *ticket, p *policy, l *look, price decimal.Decimal) *refusal {
	fall, known := decimal.Zero, true
	if p.Drawdown != nil {
		fall, known = e.fall(t.write.Action.Account, l.state.Equity)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a, now := &t.write.Action, e.now()
	sized := e.seen(a.Account, l)
	day, hour := e.counted(a.Account, now)
	for _, c := range []struct {
		rule  string
		limit *dollars
		comes decimal.Decimal
	}{
		{"max_order_notional", p.OrderNotional, t.write.Notional},
		{"max_position_notional", p.PositionSize, e.claimsOf(a.Account).Largest(a.Symbol, a.Order.Side).Add(a.Order.Size).Mul(price)},
		{"max_day_notional", p.DayNotional, day.Add(t.write.Notional)},
		{"max_open_risk", p.OpenRisk, e.openRisk(a.Account).Add(t.write.Risk)},
		{"max_drawdown", p.Drawdown, fall},
	} {
		if !c.limit.within(c.comes) {
			return breaks(c.rule, "It would come to "+c.comes.StringFixed(2)+", and the limit is "+c.limit.String()+".")
		}
	}
	steady := e.began // and the time of today, had nobody set the wall clock
	steady.Wall = steady.Wall.Add(now.Up - e.began.Up)
	switch {
	case !sized && (p.PositionSize != nil || p.OpenRisk != nil):
		return breaks("max_position_notional", "The account has a resting order or a run that is not of this engine, so how large the position can get is not known.")
	case !known:
		return breaks("max_drawdown", "The highest equity cannot be noted.")
	case p.EntriesPerHour != nil && hour >= *p.EntriesPerHour:
		return breaks("entries_per_hour", "The limit is "+strconv.Itoa(*p.EntriesPerHour)+" an hour.")
	case !p.open(now) || !p.open(steady):
		return breaks("hours", "Entries are allowed at "+p.Hours+" UTC.")
	}
	return nil
}

// execute consumes a ticket and sends it, or hands it to a person. It answers within twenty seconds.
func (e *Engine) execute(ctx context.Context, _ trading.AccountID, args arguments) (any, *refusal) {
	t, r := e.find(args["ticket"])
	if r != nil {
		return nil, r
	}
	e.mu.Lock()
	view, person := e.view(t), e.needsPerson(t)
	if t.phase == open && person {
		r = e.hand(t)
		view = e.view(t)
	}
	phase := t.phase
	if r == nil && phase == ended {
		r = e.dead(t)
	}
	e.mu.Unlock()
	if r != nil {
		return nil, r
	}
	if phase != open {
		return view, r // a used ticket is shown, and never sent again
	}
	return e.send(ctx, t)
}

// hand lets a person have a ticket. The caller has the lock.
func (e *Engine) hand(t *ticket) *refusal {
	switch {
	case len(e.waiting()) >= mostWaiting:
		return refuse("too_many_waiting", "Three tickets wait for a person. Wait until they are decided.").of(t.id)
	case e.page == "":
		return refuse("nobody_approves", "Nothing asks a person for approval here.").of(t.id)
	}
	t.phase, t.handed = waiting, e.now()
	return nil
}

// dead says why a ticket cannot be executed. The caller has the lock.
func (e *Engine) dead(t *ticket) *refusal {
	return refuse(t.why, "The ticket has ended, and nothing was sent. Call account, and decide anew.").of(t.id)
}

// find is a ticket by its id.
func (e *Engine) find(id string) (*ticket, *refusal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.tickets[id]; t != nil {
		return t, nil
	}
	for _, w := range e.writes { // of an earlier process, or an exit
		if w.ID == id {
			return &ticket{id: id, write: w, phase: used, issued: w.Consumed}, nil
		}
	}
	if e.forgotten(id) {
		r := refuse("ticket_too_old", "The ticket is older than a day, so it is not known whether it was executed. Call account and history.").of(id)
		r.Outcome = "unknown"
		return nil, r
	}
	return nil, refuse("unknown_ticket", "No such ticket was executed: nothing was sent for it. Tickets that were not executed do not outlive the engine.").of(id)
}

// send runs all checks again under the account's lock, consumes the ticket, and sends it.
func (e *Engine) send(ctx context.Context, t *ticket) (*ticketView, *refusal) {
	a := &t.write.Action
	patience, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	w, r := e.consume(patience, t)
	if r != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if t.phase == used { // another call was first
			return e.view(t), nil
		}
		if a.entry() && r.Code != "busy" {
			t.end(r.Code)
		}
		return nil, r.of(t.id)
	}
	e.await(patience, w)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view(t), nil
}

// await waits until the call of a write has ended, or a caller's patience.
func (e *Engine) await(ctx context.Context, w *write) (ended bool) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	select {
	case <-w.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// consume is everything from the checks to the first byte.
func (e *Engine) consume(ctx context.Context, t *ticket) (*write, *refusal) {
	a := &t.write.Action
	if a.entry() {
		release, ok := e.turn(ctx, a.Account)
		if !ok {
			return nil, refuse("busy", "Another entry on this account is judged. Execute the ticket again.")
		}
		defer release()
	}
	w, r := e.take(ctx, t)
	if r != nil {
		return nil, r
	}
	err := e.facts.note(factConsumed, w)
	if err == nil {
		err = e.facts.note(factSent, w)
	}
	if err != nil {
		e.config.Logger.Error("a ticket cannot be noted", "err", err)
		e.finish(w, trading.NotApplied, "not_durable", nil)
		w.drop()
		close(w.done)
		return w, nil
	}
	e.carry(w, a.send)
	return w, nil
}

// take judges a ticket once more, and makes it a write under way.
func (e *Engine) take(ctx context.Context, t *ticket) (*write, *refusal) {
	a, w := &t.write.Action, t.write
	p, err := readPolicy(e.config.Policy, e.config.Mode)
	if err != nil || p.digest != t.policy {
		return nil, refuse("policy_changed", "The policy changed since the preview. Preview anew.")
	}
	if _, r := e.judge(ctx, t, p, false); r != nil {
		return nil, r
	}
	if e.locks != nil && a.entry() {
		if err := e.locks.Take(e.lockName(a.Account)); err != nil {
			return nil, refuse("account_locked", "Another process trades this account.")
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t.phase != open && t.phase != waiting || t.expired(e.now()) { // a halt, or another call, while it was judged
		t.end("ticket_expired")
		return nil, e.dead(t)
	}
	if r := e.mayRest(t); r != nil {
		return nil, r
	}
	t.phase = used
	e.register(w)
	return w, nil
}

// register makes a write one that is under way: every state is old from now on. The caller has the
// lock.
func (e *Engine) register(w *write) {
	now := e.now()
	w.Consumed, w.Sent, w.done = now, &now, make(chan struct{})
	w.ctx, w.drop = context.WithCancel(context.Background())
	e.writes = append(e.writes, w)
	e.begins(w)
	e.changed(w)
	e.keep(now)
}

// carry sends a write whose call nobody's patience ends.
func (e *Engine) carry(w *write, send func(context.Context, *trading.Client, string) (*answer, error)) {
	e.work.Go(func() {
		defer close(w.done)
		defer w.drop()
		id := w.ID
		if !isTicket(id) {
			id = ""
		}
		a, err := send(w.ctx, e.client, id)
		outcome, code := trading.OutcomeOf(err), codeOf(err)
		if outcome == trading.NotApplied && w.ctx.Err() != nil {
			code = flattening
		}
		if w.Action.Kind == "flatten" {
			if outcome, code = trading.Applied, ""; err != nil { // what is left, a look shows
				outcome, code = trading.NotApplied, "not_flat"
			}
		}
		e.finish(w, outcome, code, a)
		if intent := intentOf(err); outcome == trading.Unknown && intent != "" {
			e.background(func(ctx context.Context) { e.resolve(ctx, w, intent) })
		}
	})
}

// fall is how far the equity is below its highest, which is noted durably.
func (e *Engine) fall(account trading.AccountID, equity decimal.Decimal) (fall decimal.Decimal, known bool) {
	e.peakMu.Lock()
	defer e.peakMu.Unlock()
	if peak, is := e.peaks[account]; !is || equity.GreaterThan(peak) {
		e.peaks[account] = equity
		if err := e.savePeaks(); err != nil {
			return decimal.Zero, false
		}
	}
	return e.peaks[account].Sub(equity), true
}

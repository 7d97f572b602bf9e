package backtest

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// curvePoints is how many stretches a curve has: as many as a picture has room for.
const curvePoints = 480

const day = 24 * time.Hour

// walk goes through a run once more, second by second while something is held, and judges
// the equity. The service judges it only when it is asked.
type walk struct {
	terms    Terms
	from, to time.Time
	book     book
	balance  decimal.Decimal

	at         time.Time // how far it has come
	daily      decimal.Decimal
	floor      decimal.Decimal
	equity     decimal.NullDecimal
	unrealized decimal.NullDecimal
	value      decimal.Decimal // of all positions

	verdict Verdict
	decided time.Time
	room    decimal.Decimal
	roomAt  time.Time

	peak      decimal.Decimal
	peakAt    time.Time
	low       decimal.Decimal // since the peak
	worst     Drawdown
	worstPeak decimal.Decimal
	leverage  Leverage
	levered   [curvePoints]float64 // the leverage at the last look in each stretch
	exposed   time.Duration
	under     time.Duration
	unpriced  time.Duration

	days       []Day
	parts      []Day // that are not complete
	dayOpening decimal.NullDecimal
	dayBalance decimal.Decimal // at the first midnight, as the two beside it
	dayFlat    bool
	lastDay    decimal.NullDecimal
	dayRoom    decimal.Decimal // the least of the day so far
	dayTrips   int             // round trips until its beginning
	begun      bool            // a midnight has passed
	funding    decimal.Decimal
	payments   []tradingsim.FundingPayment // not made yet
	extremes   extremes
	largest    decimal.Decimal // notional of the day so far
	held       bool            // something was, on the day so far

	steps stepping

	width time.Duration
	curve []CurvePoint
	seen  [curvePoints]bool // somebody looked in this stretch
}

func newWalk(p plan, a tradingsim.AccountReport, ledger []tradingsim.Execution, end time.Time) *walk {
	w := &walk{
		terms: p.terms, from: p.From, to: end, at: p.From,
		balance: p.terms.Opening, daily: p.terms.DailyLossFloor, verdict: Open,
		peak: p.terms.Opening, peakAt: p.From, low: p.terms.Opening, roomAt: p.From,
		width: max(1, (end.Sub(p.From)+curvePoints-1)/curvePoints), payments: a.Payments,
	}
	w.floor = w.terms.floor(w.daily)
	w.room = w.balance.Sub(w.floor)
	w.dayRoom = w.room
	w.equity = decimal.NewNullDecimal(w.balance)
	w.extremes.see(w.balance)
	w.unrealized = decimal.NewNullDecimal(decimal.Zero)
	w.book = book{markets: map[string]*holding{}, rows: a.Trades, takerFee: p.terms.feeRate(), cost: p.spread}
	for _, s := range p.Data.series {
		w.book.markets[s.symbol] = &holding{feed: s.feed(p.in, nil)}
		w.book.markets[s.symbol].feed.looked = p.drawn[s.symbol]
		w.book.order = append(w.book.order, s.symbol)
	}
	for _, e := range ledger {
		if e.Filled && e.Account == p.terms.ID {
			w.book.fills = append(w.book.fills, e)
		}
	}
	for at := p.From.Add(w.width); len(w.curve) < curvePoints; at = at.Add(w.width) {
		if at.After(end) {
			at = end
		}
		w.curve = append(w.curve, CurvePoint{At: at})
		if !at.Before(end) {
			break
		}
	}
	return w
}

// run goes from change to change. At each the equity by the fills and the prices must be
// the service's.
func (w *walk) run(points []tradingsim.Point, reported time.Time, equity decimal.NullDecimal) error {
	if isMidnight(w.at) {
		w.midnight()
	}
	w.see()
	for _, c := range points {
		if !c.Changed {
			continue
		}
		if err := w.change(c); err != nil {
			return err
		}
		if err := w.compare(c.Equity); err != nil {
			return err
		}
	}
	if len(w.book.fills) > 0 || len(w.book.rows) > 0 {
		return fmt.Errorf("backtest: the result does not add up: %d fills and %d trades are left", len(w.book.fills), len(w.book.rows))
	}
	w.walkTo(reported)
	w.look()
	if err := w.compare(equity); err != nil {
		return err
	}
	w.end()
	return nil
}

// change brings the account to its next change.
func (w *walk) change(c tradingsim.Point) error {
	w.walkTo(c.At)
	w.book.inside = w.steps.insideOne(c.At)
	if err := w.book.apply(c.At); err != nil {
		return err
	}
	for len(w.payments) > 0 && !w.payments[0].At.After(c.At) {
		w.funding = w.funding.Add(w.payments[0].Amount)
		w.payments = w.payments[1:]
	}
	w.balance = c.Balance
	w.inStep(w.at)
	w.exposure()
	w.look()
	w.lever(true)
	return nil
}

// again goes as far as its end, which is before that of the run, over changes that were checked.
func (w *walk) again(points []tradingsim.Point) error {
	if isMidnight(w.at) {
		w.midnight()
	}
	w.see()
	for _, c := range points {
		if !c.Changed || c.At.After(w.to) {
			continue
		}
		if err := w.change(c); err != nil {
			return err
		}
	}
	w.end()
	return nil
}

func (w *walk) end() {
	w.walkTo(w.to)
	if w.inStep(w.to) && w.to.After(w.steps.from) {
		w.step(w.to)
	}
	if !isMidnight(w.to) {
		w.part(w.to.Truncate(day))
	}
	if w.equity.Valid && w.equity.Decimal.LessThan(w.peak) {
		w.worst.Longest = max(w.worst.Longest, w.to.Sub(w.peakAt))
	}
}

// compare holds the equity against the service's at the same moment.
func (w *walk) compare(service decimal.NullDecimal) error {
	if w.equity.Valid != service.Valid || w.equity.Valid && apart(w.equity.Decimal, service.Decimal) {
		return fmt.Errorf("backtest: the result does not add up: at %s the equity is %s by the fills and the prices, and %s by the service", w.at.Format(time.DateTime), dollars(w.equity), dollars(service))
	}
	return nil
}

// walkTo judges every whole second until a time, and the time itself, while something is
// held; else nothing can change but the day. Of candles it judges only what can decide or is an
// extreme: see [walk.moment].
func (w *walk) walkTo(until time.Time) {
	w.stepTo(until)
	candles, flat := w.book.enter(), w.book.flat()
	for w.at.Before(until) {
		next := w.at.Truncate(time.Second).Add(time.Second)
		switch {
		case flat:
			next = w.at.Truncate(day).Add(day)
		case candles:
			next = w.moment(until, next)
		}
		if next.After(until) {
			next = until
		}
		w.pass(next, flat)
		if isMidnight(next) {
			w.look()
			w.midnight()
		}
		if !flat || isMidnight(next) {
			w.look()
		}
		if !flat {
			w.skip(until, candles)
		}
	}
}

// moment is the next that is worth a look where candles are held: when one of them closes, is at its
// high or at its low, a stretch of the curve or a day ends, or the equity comes to a floor or to the
// target. A candle that stays off all that decides is not drawn but for the times of its extremes.
func (w *walk) moment(until, second time.Time) time.Time {
	if !w.at.Equal(w.at.Truncate(time.Second)) {
		return second
	}
	end := earlier(earlier(until, w.curve[w.stretchAfter()].At.Truncate(time.Second)), w.at.Truncate(day).Add(day))
	if !end.After(w.at) {
		return second
	}
	at := w.book.moment(w.at.UnixNano(), end.UnixNano())
	if !w.equity.Valid || w.verdict != Open {
		return at
	}
	return w.at.Add(w.book.within(w.floor.Sub(w.balance), w.terms.ProfitTarget.Sub(w.balance), w.at, at.Add(-1)) + time.Second)
}

// stretchAfter is the stretch of the curve that the next moment is in.
func (w *walk) stretchAfter() int {
	return min(int(w.at.Sub(w.from)/w.width), len(w.curve)-1)
}

// skip passes the whole seconds after a look in which another look would note nothing but
// the time and the equity: it stays below the peak and off every other bound. Nearly all of
// them are such.
func (w *walk) skip(until time.Time, candles bool) {
	if !w.equity.Valid || !w.at.Equal(w.at.Truncate(time.Second)) {
		return
	}
	c := w.curve[w.stretch()]
	low := decimal.Max(w.low, c.Low.Decimal, w.floor, w.floor.Add(w.room), w.floor.Add(w.dayRoom), w.extremes.low)
	high := decimal.Min(w.peak, c.High.Decimal, w.extremes.high)
	if w.verdict == Open {
		high = decimal.Min(high, w.terms.ProfitTarget)
	}
	end := earlier(earlier(until, c.At), w.at.Truncate(day).Add(day-time.Second))
	look := w.book.within
	if candles {
		look = w.book.outside
	}
	passed := look(low.Sub(w.balance), high.Sub(w.balance), w.at, end)
	if passed == 0 {
		return
	}
	w.pass(w.at.Add(time.Second), false) // as what the last look saw; after it, below the peak
	more := passed - time.Second
	w.at, w.exposed, w.under = w.at.Add(more), w.exposed+more, w.under+more
	w.look()
}

func isMidnight(t time.Time) bool { return t.Equal(t.Truncate(day)) }

// pass counts the time until the next look as what it was at the last.
func (w *walk) pass(next time.Time, flat bool) {
	d := next.Sub(w.at)
	if !flat {
		w.exposed += d
	}
	switch {
	case !w.equity.Valid:
		w.unpriced += d
	case w.equity.Decimal.LessThan(w.peak):
		w.under += d
	}
	w.at = next
}

// look values the account and judges it.
func (w *walk) look() {
	unrealized, held, ok := w.book.value(w.at)
	w.value = held
	w.unrealized = decimal.NullDecimal{Decimal: unrealized, Valid: ok}
	w.equity = decimal.NullDecimal{Decimal: w.balance.Add(unrealized), Valid: ok}
	if !ok {
		w.mark()
		return
	}
	w.see()
	if w.verdict != Open {
		return
	}
	switch equity := w.equity.Decimal; {
	case equity.LessThanOrEqual(w.floor):
		w.verdict, w.decided = Failed, w.at
	case equity.GreaterThanOrEqual(w.terms.ProfitTarget) && equity.Sub(w.book.exitFees(w.at)).GreaterThanOrEqual(w.terms.ProfitTarget):
		w.verdict, w.decided = Passed, w.at
	}
}

// see notes a known equity.
func (w *walk) see() {
	equity := w.equity.Decimal
	room := equity.Sub(w.floor)
	if room.LessThan(w.room) {
		w.room, w.roomAt = room, w.at
	}
	w.dayRoom = decimal.Min(w.dayRoom, room)
	w.extremes.see(equity)
	w.lever(w.mark())
	if equity.GreaterThanOrEqual(w.peak) {
		if w.low.LessThan(w.peak) {
			w.worst.Longest = max(w.worst.Longest, w.at.Sub(w.peakAt))
		}
		w.peak, w.peakAt, w.low = equity, w.at, equity
		return
	}
	if !equity.LessThan(w.low) {
		return
	}
	w.low = equity
	fall := w.peak.Sub(equity)
	// fall / peak > the worst / its peak, without a quotient.
	if w.worst.To.IsZero() || fall.Mul(w.worstPeak).GreaterThan(w.worst.Amount.Mul(w.peak)) {
		w.worst.Amount, w.worstPeak = fall, w.peak
		w.worst.From, w.worst.To = w.peakAt, w.at
	}
}

// stretch is the stretch of the curve that the present moment is in.
func (w *walk) stretch() int {
	return max(0, min(int((w.at.Sub(w.from)-1)/w.width), len(w.curve)-1))
}

// mark draws the equity into the curve, and reports whether it is an extreme of its stretch.
func (w *walk) mark() (extreme bool) {
	i := w.stretch()
	c := &w.curve[i]
	w.seen[i] = true
	if !w.equity.Valid {
		c.Last = decimal.NullDecimal{}
		return false
	}
	if !c.Low.Valid || w.equity.Decimal.LessThan(c.Low.Decimal) {
		c.Low, extreme = w.equity, true
	}
	if !c.High.Valid || w.equity.Decimal.GreaterThan(c.High.Decimal) {
		c.High, extreme = w.equity, true
	}
	c.Last, c.Floor = w.equity, w.floor
	return extreme
}

// lever notes the leverage, of which only extremes of the equity and fills count: between them one
// second that nobody looks at may have more.
func (w *walk) lever(extreme bool) {
	i, v := w.stretch(), 0.0
	if w.value.IsPositive() && w.equity.Decimal.IsPositive() {
		v = w.value.InexactFloat64() / w.equity.Decimal.InexactFloat64()
	}
	w.levered[i] = v
	if !extreme || !w.equity.Valid {
		return
	}
	if most, _ := w.leverage.Most.Value(); v > most {
		w.leverage = Leverage{figure(v), w.at}
	}
	c := &w.curve[i]
	if most, _ := c.Leverage.Value(); v > most {
		c.Leverage = figure(v)
	}
}

// midnight ends a day and begins the next.
func (w *walk) midnight() {
	if w.begun {
		d := Day{Date: w.at.Add(-day), Equity: w.equity, Return: none("the equity is not known"), LowestRoom: w.dayRoom, Floor: w.floor, Trips: len(w.book.trips) - w.dayTrips}
		d.Balance, d.Flat, d.Traded, d.Largest, d.Extremes = w.balance, w.book.flat(), w.held || d.Trips > 0, w.largest, w.extremes.list
		if w.equity.Valid && w.lastDay.Valid {
			profit := w.equity.Decimal.Sub(w.lastDay.Decimal)
			d.Profit = decimal.NewNullDecimal(profit)
			d.Return = ratio(profit.InexactFloat64(), w.lastDay.Decimal.InexactFloat64(), "the equity is 0")
		}
		w.days = append(w.days, d)
	} else {
		if w.at.After(w.from) {
			w.part(w.at.Add(-day))
		}
		w.begun, w.dayOpening, w.dayBalance, w.dayFlat = true, w.equity, w.balance, w.book.flat()
	}
	w.extremes = extremes{}
	if w.equity.Valid {
		w.extremes.see(w.equity.Decimal)
	}
	w.largest, w.held = decimal.Zero, false
	w.exposure()
	if w.equity.Valid {
		w.lastDay = w.equity
	}
	w.dayTrips = len(w.book.trips)
	if w.terms.DailyFloor != FixedFloor {
		w.daily = protect.MovedFloor(w.terms.DailyLossFloor, w.terms.Opening, w.balance)
		if w.terms.DailyFloor == BothFloors { // who is above the higher is above either
			w.daily = decimal.Max(w.daily, w.terms.DailyLossFloor)
		}
		w.floor = w.terms.floor(w.daily)
	}
	w.dayRoom = w.terms.Opening
	if w.equity.Valid {
		w.dayRoom = w.equity.Decimal.Sub(w.floor)
	}
}

// part notes a day that is not complete.
func (w *walk) part(date time.Time) {
	w.parts = append(w.parts, Day{
		Date: date, Return: none("the day is not complete"), LowestRoom: w.dayRoom, Floor: w.floor, Trips: len(w.book.trips) - w.dayTrips,
	})
}

// into writes what was seen into the path.
func (w *walk) into(p *Path, cost spread) {
	p.Continuous, p.Decided = w.verdict, w.decided
	p.Equity, p.Unrealized = w.equity, w.unrealized
	p.LowestRoom, p.LowestRoomAt = w.room, w.roomAt
	p.Drawdown, p.Leverage = w.worst, w.leverage
	p.Drawdown.Share = figure(0)
	if w.worst.Amount.IsPositive() {
		p.Drawdown.Share = ratio(w.worst.Amount.InexactFloat64(), w.worstPeak.InexactFloat64(), "the peak is 0")
	}
	total := w.to.Sub(w.from).Seconds()
	p.Exposure = figure(w.exposed.Seconds() / total)
	p.Drawdown.UnderWater = figure(w.under.Seconds() / total)
	p.Unpriced = w.unpriced
	p.PartDays = w.parts
	p.Days, p.DayOpening, p.DayBalance, p.DayFlat = w.days, w.dayOpening, w.dayBalance, w.dayFlat
	p.Until = w.to
	p.Trips, p.Fills = w.book.trips, w.book.applied
	p.Balance, p.Gross, p.Funding = w.balance, w.book.gross.Round(6), w.funding
	p.Fees = p.Gross.Add(w.funding).Sub(w.balance.Sub(w.terms.Opening))
	p.OpenValue, p.ExitFees = w.book.leaving(w.to, cost)
	p.Turnover, p.Took = w.book.turnover, w.book.took
	for _, symbol := range w.book.order {
		if h := w.book.markets[symbol]; !h.size.IsZero() {
			p.StillOpen = append(p.StillOpen, symbol)
		}
	}
	p.Curve = w.smooth()
}

// smooth gives stretches in which nobody looked, since nothing was held, the equity before.
func (w *walk) smooth() []CurvePoint {
	last := CurvePoint{Last: decimal.NewNullDecimal(w.terms.Opening), Floor: w.terms.floor(w.terms.DailyLossFloor)}
	levered := 0.0
	for i := range w.curve {
		c := &w.curve[i]
		if !w.seen[i] {
			c.Low, c.High, c.Last = last.Last, last.Last, last.Last
			w.levered[i] = levered
		}
		if most, _ := c.Leverage.Value(); levered > most { // it begins with what was held before
			c.Leverage = figure(levered)
		}
		levered = w.levered[i]
		if !c.Low.Valid || !w.seen[i] {
			c.Floor = last.Floor
		}
		last = *c
	}
	return w.curve
}

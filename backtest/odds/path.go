package odds

import (
	"math"
	"math/rand/v2"
)

// result is how a path ended.
type result uint8

const (
	undecided result = iota
	passed
	lost
	held // flattened by a protection that nobody resumes
)

// ending is how and when a path ended.
type ending struct {
	result result
	day    int32   // the first is 0; of one that did not end, how many there were
	equity float64 // then
}

// tracks are the days that one path takes, drawn as they are asked for, so that every rule and
// every size is judged on the same ones.
type tracks struct {
	stroll
	seen  []int32
	jumps []bool
	rate  float64 // how likely a jump is on a day
	next  int     // days until the next jump
	jump  *rand.PCG
	drift float64 // added to each day with trades
	swing float64 // what deviations are multiplied by
	worse *worseDays
}

// worseDays are those that no history has seen, as one of its paths has them.
type worseDays struct {
	worst  float64 // the worst that was seen, below the mean
	mean   float64
	rate   float64 // how likely one is on a day
	rng    *rand.PCG
	losses []float64 // by day of the path; 0 is none
}

// on is what a day of a path loses; 0 where it is as it was seen.
func (w *worseDays) on(i int) float64 {
	for len(w.losses) <= i {
		loss := 0.0
		if unit(w.rng) < w.rate {
			loss = max(0, w.worst*math.Pow(1-unit(w.rng), -1.0/3)-w.mean)
		}
		w.losses = append(w.losses, loss)
	}
	return w.losses[i]
}

// begin forgets the path before.
func (t *tracks) begin() {
	t.seen, t.jumps = t.seen[:0], t.jumps[:0]
	if t.worse != nil {
		t.worse.losses = t.worse.losses[:0]
	}
	t.reset()
	t.wait()
}

// wait draws when the next jump is.
func (t *tracks) wait() {
	t.next = math.MaxInt
	if t.rate > 0 {
		t.next = int(math.Log(1-unit(t.jump)) / math.Log1p(-t.rate))
	}
}

// on is the day of a path, and whether a jump happens on it.
func (t *tracks) on(i int) (d *day, jump bool) {
	for len(t.seen) <= i {
		t.seen = append(t.seen, t.stroll.day())
		jumps := t.next == 0
		if jumps {
			t.wait()
		} else if t.next != math.MaxInt {
			t.next--
		}
		t.jumps = append(t.jumps, jumps)
	}
	return &t.days[t.seen[i]], t.jumps[i]
}

// walker is an account that goes along a path.
type walker struct {
	*rule
	equity float64
	daily  float64
	traded int     // days with trades
	best   float64 // the profit of the best day so far
	rest   int     // days until a protection that flattened is resumed
	curve  []float64
}

// run goes on until the account is decided, or days are over.
func (w *walker) run(t *tracks, days int) ending {
	w.equity, w.daily = w.start, w.rule.daily
	w.traded, w.best, w.rest = 0, 0, 0
	for i := range days {
		d, jump := t.on(i)
		if end := w.day(t, i, d, jump); end != undecided {
			return ending{end, int32(i), w.equity}
		}
		if w.curve != nil {
			w.curve[i] = w.equity
		}
	}
	return ending{undecided, int32(days), w.equity}
}

// day goes through one, from midnight to midnight.
func (w *walker) day(t *tracks, i int, d *day, jump bool) result {
	floor := max(w.global, w.daily)
	if w.equity <= floor {
		return lost
	}
	if w.guard != nil && w.refused(d, floor) {
		w.midnight(w.equity, w.equity)
		return undecided
	}
	began, scale := w.equity, w.scale*t.swing
	extremes := t.extremes[d.from:d.to]
	if d.traded && t.worse != nil {
		if loss := t.worse.on(i); loss > 0 {
			d, scale, extremes = &day{end: -loss, low: -loss, gross: d.gross, traded: true}, w.scale, []float64{-loss}
		}
	}
	if d.traded {
		w.traded++
		w.equity += w.scale * t.drift
	}
	if jump && d.gross > 0 {
		w.equity -= w.shock * d.gross * w.scale
		if w.equity <= floor {
			return lost
		}
	}
	line := floor
	if w.guard != nil {
		line += w.guard.line * d.gross * w.scale
	}
	leave := w.fee * d.gross * w.scale
	if w.equity+scale*d.low <= line || w.equity+scale*d.high-leave >= w.target {
		if end := w.within(extremes, scale, line, leave, began, d.gross); end != undecided {
			return end
		}
		if w.rest > 0 { // flattened, to go on later
			w.midnight(w.equity, w.equity)
			return undecided
		}
	}
	w.equity += scale * d.end
	w.best = max(w.best, w.equity-began)
	w.midnight(w.equity-scale*d.unrealized, w.equity)
	return undecided
}

// within goes through the extremes of a day.
func (w *walker) within(extremes []float64, scale, line, leave, began, gross float64) result {
	if w.equity <= line {
		return w.under(w.equity, gross)
	}
	if w.passes(began, w.equity, leave) {
		return passed
	}
	for _, x := range extremes {
		at := w.equity + scale*x
		if at <= line {
			return w.under(line, gross)
		}
		if w.passes(began, at, leave) {
			return passed
		}
	}
	return undecided
}

// under is what being at the line means: the account is lost, or a protection flattens it.
func (w *walker) under(line, gross float64) result {
	if w.guard == nil {
		w.equity = line
		return lost
	}
	w.equity = line - w.guard.cost*gross*w.scale
	if w.equity <= max(w.global, w.daily) {
		return lost
	}
	if w.guard.days == 0 {
		return held
	}
	w.rest = w.guard.days
	return undecided
}

// refused reports whether the protection takes no entries this day.
func (w *walker) refused(d *day, floor float64) bool {
	if w.rest > 1 {
		w.rest--
		return true
	}
	w.rest = 0
	room, gross := w.equity-floor, d.gross*w.scale
	return gross > 0 && (room < w.guard.keep || room-w.fee*gross < w.guard.entry*gross)
}

// passes reports whether the account passes on the way to an equity, and leaves it at the lowest at
// which it does.
func (w *walker) passes(began, at, leave float64) bool {
	if at-leave < w.target || w.traded < w.minDays {
		return false
	}
	lowest := max(w.equity, w.target+leave)
	if w.share > 0 {
		lowest = max(lowest, w.origin+w.best/w.share)
		if lowest > at || lowest-began > w.share*(lowest-w.origin) {
			return false
		}
	}
	w.equity = lowest - leave
	return true
}

// midnight moves the daily floor.
func (w *walker) midnight(balance, equity float64) {
	switch w.anchor {
	case AtBalance:
		w.daily = w.moves * balance
	case AtEquity:
		w.daily = w.moves * equity
	case AtHigher:
		w.daily = w.moves * max(balance, equity)
	}
}

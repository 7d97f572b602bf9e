package protect

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// floors are what is known of the loss floors of an account.
type floors struct {
	// Daily and Global are the service's, as last known: one that vanishes stays.
	Daily, Global trading.Opt[decimal.Decimal]
	// Own is the program's.
	Own trading.Opt[decimal.Decimal] `json:"-"`
	// Opening is the balance that the present daily floor belongs to.
	Opening trading.Opt[decimal.Decimal]
}

// highest is the floor that counts; ok is false if none is known.
func (f floors) highest() (floor decimal.Decimal, ok bool) {
	for _, one := range []trading.Opt[decimal.Decimal]{f.Daily, f.Global, f.Own} {
		if level, known := one.Get(); known && (!ok || level.GreaterThan(floor)) {
			floor, ok = level, true
		}
	}
	return floor, ok
}

// predicted is the highest floor as it may be after the next rollover, when the daily
// floor moves with the balance.
func (f floors) predicted(balance decimal.Decimal) (floor decimal.Decimal, ok bool) {
	floor, ok = f.highest()
	daily, known := f.Daily.Get()
	opening, opened := f.Opening.Get()
	if !known || !opened || !opening.IsPositive() {
		return floor, ok
	}
	return decimal.Max(floor, MovedFloor(daily, opening, balance)), ok
}

// seen notes what a read says. A day that begins, or a daily floor that moves, makes its
// balance the one that the daily floor belongs to.
func (f floors) seen(state *trading.AccountState, newDay bool) floors {
	daily, known := state.DailyLossFloor.Get()
	before, had := f.Daily.Get()
	moved := known && had && !daily.Equal(before)
	if moved || newDay {
		f.Opening = trading.Some(state.Balance)
	}
	if known {
		f.Daily = state.DailyLossFloor
	}
	if !state.GlobalLossFloor.IsZero() {
		f.Global = state.GlobalLossFloor
	}
	return f
}

// Rollover is when the service begins a new day, by which the daily loss floor is
// counted. The contract does not show it.
type Rollover struct {
	// Hour and Minute are the time of day.
	Hour, Minute int
	// Location is whose; UTC if nil. Days of 23 and of 25 hours are counted as what they are.
	Location *time.Location
}

// day names the service's day that a moment is in.
func (r Rollover) day(t time.Time) string {
	return r.began(t).Format(time.DateOnly)
}

// began is when that day began.
func (r Rollover) began(t time.Time) time.Time {
	t = t.In(r.location())
	y, m, d := t.Date()
	begin := time.Date(y, m, d, r.Hour, r.Minute, 0, 0, r.location())
	if begin.After(t) {
		begin = time.Date(y, m, d-1, r.Hour, r.Minute, 0, 0, r.location())
	}
	return begin
}

// next is when the day after it begins.
func (r Rollover) next(t time.Time) time.Time {
	y, m, d := r.began(t).Date()
	return time.Date(y, m, d+1, r.Hour, r.Minute, 0, 0, r.location())
}

func (r Rollover) location() *time.Location {
	if r.Location == nil {
		return time.UTC
	}
	return r.Location
}

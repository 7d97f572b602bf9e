package odds

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

const aDay = 24 * time.Hour

// History is what accounts of one bot have done, day by day.
type History struct {
	// Accounts are whose days these are, in the order of their days.
	Accounts []Source
	// Days are complete UTC days, days without trades among them, in order of time within each
	// account.
	Days []Day
	// Notes say what the days leave out, a sentence each.
	Notes []string
}

// Source is an account that days come from.
type Source struct {
	// Name is that of the account or the run.
	Name string
	// End is what became of it, such as "active", "passed" or "failed"; empty if that is not known.
	End string
	// Opening is the balance that it began with, in dollars.
	Opening decimal.Decimal
	// Days are how many of the history's days are its.
	Days int
}

// Day is one UTC day of an account. Amounts are in dollars.
type Day struct {
	// Date is its beginning.
	Date time.Time
	// Begin and End are the account at its two midnights.
	Begin, End Midnight
	// Extremes are the equities in between that were lower or higher than all before them that
	// day, in order. Of several lows in a row the last is enough, and so with highs.
	Extremes []decimal.Decimal
	// Largest is the largest notional value that was held.
	Largest decimal.Decimal
	// Traded reports whether a position was opened or closed.
	Traded bool
}

// Midnight is an account when a day begins or ends.
type Midnight struct {
	Balance, Equity decimal.Decimal // in dollars
	// Flat reports whether nothing was held.
	Flat bool
}

// profit is what the day made of the equity.
func (d Day) profit() float64 { return d.End.Equity.Sub(d.Begin.Equity).InexactFloat64() }

// dates counts the different days.
func (h History) dates() int {
	seen := map[time.Time]bool{}
	for _, d := range h.Days {
		seen[d.Date] = true
	}
	return len(seen)
}

// check says what is wrong with a history.
func (h History) check() error {
	if len(h.Accounts) == 0 || len(h.Days) == 0 {
		return errors.New("odds: the history has no days")
	}
	at := 0
	for _, a := range h.Accounts {
		if a.Days < 0 || at+a.Days > len(h.Days) {
			return fmt.Errorf("odds: account %q has %d days, and the history has %d in all", a.Name, a.Days, len(h.Days))
		}
		if !a.Opening.IsPositive() {
			return fmt.Errorf("odds: account %q began with %s: it must be greater than 0", a.Name, a.Opening)
		}
		if err := checkDays(h.Days[at : at+a.Days]); err != nil {
			return fmt.Errorf("odds: account %q: %w", a.Name, err)
		}
		at += a.Days
	}
	if at != len(h.Days) {
		return fmt.Errorf("odds: the accounts have %d days, and the history has %d", at, len(h.Days))
	}
	return nil
}

func checkDays(days []Day) error {
	for i, d := range days {
		switch {
		case !d.Date.Equal(d.Date.Truncate(aDay)):
			return fmt.Errorf("a day begins at %s: it must be midnight UTC", d.Date.Format(time.RFC3339))
		case i > 0 && !d.Date.After(days[i-1].Date):
			return fmt.Errorf("the day %s does not come after %s", d.Date.Format(time.DateOnly), days[i-1].Date.Format(time.DateOnly))
		case d.Largest.IsNegative():
			return fmt.Errorf("on %s the largest notional is %s: it must not be less than 0", d.Date.Format(time.DateOnly), d.Largest)
		}
	}
	return nil
}

// Join makes one history of several accounts of a bot, which must have begun with the same
// balance: an account that failed belongs in as much as one that lives. On a date that several
// accounts have, a path takes the day of one of them, so the date counts once.
func Join(histories ...History) (History, error) {
	var all History
	var wrong []error
	for _, h := range histories {
		wrong = append(wrong, h.check())
		all.Accounts = append(all.Accounts, h.Accounts...)
		all.Days = append(all.Days, h.Days...)
		for _, note := range h.Notes {
			if !slices.Contains(all.Notes, note) {
				all.Notes = append(all.Notes, note)
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return History{}, err
	}
	names := map[string]bool{}
	for _, a := range all.Accounts {
		if first := all.Accounts[0]; !a.Opening.Equal(first.Opening) {
			return History{}, fmt.Errorf("odds: account %q began with %s and %q with %s: dollars of accounts of different sizes are not joined", first.Name, first.Opening, a.Name, a.Opening)
		}
		if names[a.Name] {
			return History{}, fmt.Errorf("odds: account %q is there twice", a.Name)
		}
		names[a.Name] = true
	}
	return all, all.check()
}

// order is the index of each day, by date; days of the same date stand together.
func (h History) order() []int {
	list := make([]int, len(h.Days))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(h.Days[a].Date.Unix(), h.Days[b].Date.Unix()) })
	return list
}

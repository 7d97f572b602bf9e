package backtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// FillTimes are when and at what prices the fills of a path happened.
type FillTimes struct {
	// Inside are the fills inside candles, neither at an opening nor at a level that was set
	// before the candle: their prices are drawn, and no market's. Of is the number of fills.
	Inside, Of int
	// Apart is how many of Inside are in other markets than most of them are. The paths of two
	// markets are drawn apart, though their prices move together.
	Apart int
	// MedianAge and OldestAge are how old the marks were that fills happened at.
	MedianAge, OldestAge time.Duration
	// Limits is how old a mark may be that a fill happens at, in each market.
	Limits map[string]time.Duration
}

// text says it for the box of assumptions.
func (f FillTimes) text() string {
	var list []string
	for _, symbol := range slices.Sorted(maps.Keys(f.Limits)) {
		text := f.Limits[symbol].String()
		if len(f.Limits) > 1 {
			text += " in " + symbol
		}
		list = append(list, text)
	}
	limit := "any mark: each is of its second"
	if len(list) > 0 {
		limit = "one younger than " + strings.Join(list, " and ")
	}
	return fmt.Sprintf("a fill takes %s; at fills %s in the median, %s at most", limit, f.MedianAge.Round(time.Millisecond), f.OldestAge.Round(time.Millisecond))
}

// fillTimes looks at the fills of the account until a time.
func (p plan) fillTimes(ledger []tradingsim.Execution, until time.Time) (f FillTimes) {
	feeds := p.feeds()
	set := map[string]time.Time{} // when something was last ordered in a market
	inside := map[string]int{}
	var ages []time.Duration
	for _, e := range ledger {
		if e.At.After(until) || e.Account != p.terms.ID {
			continue
		}
		s := feeds[e.Symbol]
		bySelf := e.Actor == "service" || strings.HasPrefix(e.Operation, "GET ")
		if e.Filled && s != nil {
			f.Of++
			ages = append(ages, s.Age(e.At))
			if s.interval > 0 {
				opened := s.opening(e.At)
				level := bySelf && set[e.Symbol].Before(opened)
				if !level && e.At.Sub(opened) >= time.Second {
					f.Inside++
					inside[e.Symbol]++
				}
			}
		}
		if !bySelf {
			set[e.Symbol] = e.At
		}
	}
	most := 0
	for _, n := range inside {
		most = max(most, n)
	}
	f.Apart = f.Inside - most
	p.limitAges(slices.Collect(maps.Values(feeds)))
	f.Limits = map[string]time.Duration{}
	for symbol, s := range feeds {
		if s.walk == nil { // which has a mark of each second
			f.Limits[symbol] = s.oldest.Round(time.Millisecond)
		}
	}
	if len(ages) > 0 {
		slices.Sort(ages)
		f.MedianAge, f.OldestAge = ages[len(ages)/2], ages[len(ages)-1]
	}
	return f
}

// opening is when the candle of a time opened, or the time that no candle is of.
func (f *feed) opening(t time.Time) time.Time {
	if at := t.UnixNano(); f.seek(at) {
		opened := f.rows[f.row].at
		if length := f.length(f.row); at >= opened+length { // of the next, which is missing
			opened += length
		}
		return time.Unix(0, opened)
	}
	return t
}

// Age is how old the mark at a time is.
func (f *feed) Age(t time.Time) time.Duration {
	at := t.UnixNano()
	switch {
	case f.walk != nil:
		return time.Duration(at % int64(time.Second))
	case !f.seek(at):
		return 0
	case f.interval == 0:
		return time.Duration(at - f.rows[f.row].at)
	}
	if late := at - f.rows[f.row].at - f.length(f.row); late >= 0 {
		return time.Duration(late) + time.Second // since its last second
	}
	return time.Duration(at % int64(time.Second))
}

// Stale reports whether the mark at a time is too old to fill at: the service refuses to.
func (f *feed) Stale(t time.Time) bool { return f.walk == nil && f.Age(t) >= f.oldest }

// freshness is how old a mark may be that fills happen at. The contract refuses old marks and
// has no number for it.
const freshness = 10 * time.Second

// limitAges says of each feed how old its marks may be. Beside a market that is recorded more
// often, an old mark is a price that everybody knows to be wrong: there it may be no older than
// the marks of that market are apart.
func (p plan) limitAges(feeds []*feed) {
	finest := freshness
	for _, f := range feeds {
		finest = min(finest, f.cadence())
	}
	for _, f := range feeds {
		switch {
		case f.maxAge > 0:
			f.oldest = f.maxAge + 1
		case f.cadence() > 2*finest:
			f.oldest = finest
		default:
			f.oldest = freshness
		}
	}
}

// cadence is how far apart marks usually are.
func (s *series) cadence() time.Duration {
	if s.interval > 0 || s.walk != nil {
		return time.Second
	}
	usual, _ := s.apart()
	return usual
}

// distances are how far marks are apart: usually, and at most.
func (s *series) distances() (usual, most time.Duration) {
	var list []int64
	for i := 1; i < len(s.rows); i++ {
		list = append(list, s.rows[i].at-s.rows[i-1].at)
	}
	if len(list) == 0 {
		return freshness, freshness
	}
	slices.Sort(list)
	return time.Duration(list[len(list)/2]), time.Duration(list[len(list)-1])
}

// ends is until when the last mark holds: for as long as the marks of the file have been apart. After
// that the market has no price, for nobody knows that it still is.
func (s *series) ends() int64 {
	_, most := s.apart()
	return s.rows[len(s.rows)-1].at + int64(max(most, freshness))
}

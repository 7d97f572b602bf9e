package odds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Trade is a closed trade as a history takes it. What is none or the zero time is not known, and
// then no history can be made of it.
type Trade struct {
	Symbol         string    // the market
	Opened, Closed time.Time // when
	// Net is what the trade earned, after the fees of the round trip, in dollars.
	Net decimal.Decimal
	// Notional is what was opened, in dollars.
	Notional trading.Opt[decimal.Decimal]
	// Worst and Best are the lowest and the highest profit while it was open, before fees: the
	// maximum adverse excursion, 0 or less, and the maximum favourable one, 0 or more.
	Worst, Best trading.Opt[decimal.Decimal]
}

// TradesOf are trades as an account lists them. The contract has no excursions, so a bot adds
// those that it has noted itself before [FromTrades].
func TradesOf(list []trading.Trade) []Trade {
	all := make([]Trade, len(list))
	for i, t := range list {
		all[i] = Trade{Symbol: t.Symbol, Opened: t.OpenedAt, Closed: t.ClosedAt, Net: t.NetPnL()}
		size, ok := t.Size.Get()
		entry, okToo := t.EntryPrice.Get()
		if ok && okToo {
			all[i].Notional = trading.Some(size.Mul(entry).Abs())
		}
	}
	return all
}

// TradesOptions say what the trades are of. Account, Opening and Balance are required.
type TradesOptions struct {
	// Account names the account, and End says what became of it.
	Account, End string
	// Opening is the balance that the account began with, and Balance the one that it had after
	// the last trade: where the trades do not explain the difference, the list was cut.
	Opening, Balance trading.Opt[decimal.Decimal]
	// From and To are when the account began and when the list was read: days without trades
	// count. Unless set they are those of the first and the last trade.
	From, To time.Time
}

// FromTrades makes a history of trades. What is missing is named all at once.
func FromTrades(trades []Trade, o TradesOptions) (History, error) {
	trades = slices.Clone(trades)
	slices.SortStableFunc(trades, func(a, b Trade) int { return a.Closed.Compare(b.Closed) })
	if err := o.complete(trades); err != nil {
		return History{}, err
	}
	opening, _ := o.Opening.Get()
	from, to := o.From, o.To
	if from.IsZero() {
		from = slices.MinFunc(trades, func(a, b Trade) int { return a.Opened.Compare(b.Opened) }).Opened.Truncate(aDay)
	}
	if to.IsZero() {
		to = trades[len(trades)-1].Closed.Truncate(aDay).Add(aDay)
	}
	first, end := from.UTC().Add(aDay-1).Truncate(aDay), to.UTC().Truncate(aDay)
	h := History{}
	h.overlaps(trades)
	balance := opening
	for len(trades) > 0 && trades[0].Closed.Before(first) {
		balance, trades = balance.Add(trades[0].Net), trades[1:]
	}
	for date := first; date.Before(end); date = date.Add(aDay) {
		n := 0
		for n < len(trades) && trades[n].Closed.Before(date.Add(aDay)) {
			n++
		}
		d := dayOf(date, balance, trades[:n])
		h.Days = append(h.Days, d)
		balance, trades = d.End.Balance, trades[n:]
	}
	h.Accounts = []Source{{Name: o.Account, End: o.End, Opening: opening, Days: len(h.Days)}}
	if len(h.Days) == 0 {
		return History{}, fmt.Errorf("odds: account %q: no complete UTC day between %s and %s", o.Account, from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	return h, nil
}

// complete says what is missing.
func (o TradesOptions) complete(trades []Trade) error {
	var wrong []string
	missing := func(what string, lacks func(Trade) bool) {
		n := 0
		for _, t := range trades {
			if lacks(t) {
				n++
			}
		}
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d of %d trades have %s", n, len(trades), what))
		}
	}
	missing("no time of opening", func(t Trade) bool { return t.Opened.IsZero() })
	missing("no time of closing", func(t Trade) bool { return t.Closed.IsZero() })
	missing("no MAE (the worst profit while open)", func(t Trade) bool { _, ok := t.Worst.Get(); return !ok })
	missing("no MFE (the best profit while open)", func(t Trade) bool { _, ok := t.Best.Get(); return !ok })
	missing("no notional value", func(t Trade) bool { _, ok := t.Notional.Get(); return !ok })
	missing("an MAE greater than 0 or an MFE less than 0", func(t Trade) bool {
		worst, _ := t.Worst.Get()
		best, _ := t.Best.Get()
		return worst.IsPositive() || best.IsNegative()
	})
	missing("a close before the opening", func(t Trade) bool { return t.Closed.Before(t.Opened) && !t.Closed.IsZero() })
	if len(wrong) == 0 {
		missing("a midnight UTC between opening and close, and rows alone do not say what they were worth then: take a backtest.Result",
			func(t Trade) bool { return !t.Opened.Truncate(aDay).Equal(t.Closed.Truncate(aDay)) })
	}
	wrong = append(wrong, o.whole(trades)...)
	if len(wrong) > 0 {
		return errors.New("odds: no history of account " + fmt.Sprintf("%q", o.Account) + ": " + strings.Join(wrong, "; "))
	}
	return nil
}

// whole says whether the list is: its trades explain the balance.
func (o TradesOptions) whole(trades []Trade) (wrong []string) {
	opening, ok := o.Opening.Get()
	balance, okToo := o.Balance.Get()
	switch {
	case o.Account == "":
		wrong = append(wrong, "the account has no name")
	case len(trades) == 0:
		wrong = append(wrong, "there is no trade")
	case !ok || !okToo || !opening.IsPositive():
		wrong = append(wrong, "the balance that it began with, or the one after the last trade, is missing: only both show whether the list was cut")
	default:
		sum := decimal.Zero
		for _, t := range trades {
			sum = sum.Add(t.Net)
		}
		bound := decimal.New(1, -2).Mul(decimal.NewFromInt(int64(len(trades))))
		if gap := balance.Sub(opening).Sub(sum); gap.Abs().GreaterThan(bound) {
			wrong = append(wrong, fmt.Sprintf("the list was cut, or funding or payouts are not in it: its trades earned %s, and the balance went from %s to %s", money(sum), money(opening), money(balance)))
		}
	}
	return wrong
}

// overlaps notes trades that were open together.
func (h *History) overlaps(trades []Trade) {
	list, n := slices.SortedFunc(slices.Values(trades), func(a, b Trade) int { return a.Opened.Compare(b.Opened) }), 0
	var until time.Time
	for _, t := range list {
		if t.Opened.Before(until) {
			n++
		}
		if t.Closed.After(until) {
			until = t.Closed
		}
	}
	h.Notes = append(h.Notes, "within a trade the worst moment is taken to come before the best: rows do not say which came first")
	if n > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d trades were open beside others: their worst moments are taken to be one moment, which is the worst that may have been", n))
	}
}

// dayOf goes through the trades of a day, which all begin and end on it.
func dayOf(date time.Time, balance decimal.Decimal, trades []Trade) Day {
	d := Day{Date: date, Traded: len(trades) > 0}
	d.Begin = Midnight{Balance: balance, Equity: balance, Flat: true}
	for _, e := range eventsOf(trades) {
		if e.closes {
			balance = balance.Add(trades[e.trade].Net)
		}
		low, high, notional := together(trades, e)
		d.Extremes = append(d.Extremes, balance.Add(low), balance.Add(high))
		d.Largest = decimal.Max(d.Largest, notional)
	}
	d.End = Midnight{Balance: balance, Equity: balance, Flat: true}
	return d
}

// event is that a trade opens or closes.
type event struct {
	at     time.Time
	trade  int
	closes bool
}

// eventsOf are in order; at the same moment what was open closes first.
func eventsOf(trades []Trade) (list []event) {
	for i, t := range trades {
		list = append(list, event{t.Opened, i, false}, event{t.Closed, i, true})
	}
	slices.SortStableFunc(list, func(a, b event) int {
		if c := a.at.Compare(b.at); c != 0 || a.trade == b.trade {
			return c
		}
		return rank(b.closes) - rank(a.closes)
	})
	return list
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// together is what the trades that are open after an event may come to: all at their worst, and
// one at its best beside the others at their worst.
func together(trades []Trade, e event) (low, high, notional decimal.Decimal) {
	gain := decimal.Zero
	for i, t := range trades {
		opens := i == e.trade && !e.closes // one that opens and closes at one moment is open in between
		if !opens && (t.Opened.After(e.at) || !t.Closed.After(e.at)) {
			continue
		}
		worst, _ := t.Worst.Get()
		best, _ := t.Best.Get()
		size, _ := t.Notional.Get()
		low, notional, gain = low.Add(worst), notional.Add(size), decimal.Max(gain, best.Sub(worst))
	}
	return low, low.Add(gain), notional
}

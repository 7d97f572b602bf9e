package watch

import (
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Trades have no ids, their list may be cut, and reads of it may lag and even go back.
// So they are counted: of equal ones as many are new as the list has more than were
// delivered.

// ledger knows which trades have been delivered.
type ledger struct {
	begun     bool
	at        time.Time       // when the list was last read
	last      []trading.Trade // the list
	keys      []string        // of its trades
	shown     []trading.Trade // the list, or a longer one read shortly before
	shownAt   time.Time
	delivered map[string]entry
}

// entry is a number of equal trades, and when the list last had so many.
type entry struct {
	n    int
	seen time.Time
}

// forget is how long a trade that the list does not show any more counts as delivered:
// while an older copy of the list may still be read.
const forget = time.Minute

// freshTrades is what a list shows that has not been delivered.
type freshTrades struct {
	trades []trading.Trade // oldest first
	hole   string          // why more may have been closed than that; empty if not
	anew   bool            // nothing of the list before is in it, and it is shorter
}

// list takes the list as it was read, the newest first.
func (l *ledger) list(at time.Time, list []trading.Trade) freshTrades {
	if !l.begun {
		l.begun, l.delivered = true, map[string]entry{}
		l.take(at, list, keysOf(list))
		l.show(at, list)
		for key, n := range count(l.keys) {
			l.delivered[key] = entry{n, at}
		}
		return freshTrades{}
	}
	if slices.EqualFunc(list, l.last, trading.Trade.Equal) {
		l.at, l.last = at, list
		if len(list) >= len(l.shown) || at.Sub(l.shownAt) > forget {
			l.show(at, list)
		}
		return freshTrades{}
	}
	l.catchUp()

	keys := keysOf(list)
	counts, left := count(keys), map[string]int{}
	overlap := false
	for key, n := range counts {
		e, known := l.delivered[key]
		overlap = overlap || known
		if n > e.n {
			left[key] = n - e.n
		}
		if n >= e.n || at.Sub(e.seen) > forget {
			l.delivered[key] = entry{n, at}
		}
	}
	for key, e := range l.delivered {
		if _, shown := counts[key]; !shown && at.Sub(e.seen) > forget {
			delete(l.delivered, key)
		}
	}

	var fresh freshTrades
	for i := range list { // of equal ones the newest are new
		if left[keys[i]] > 0 {
			left[keys[i]]--
			fresh.trades = append(fresh.trades, list[i])
		}
	}
	slices.Reverse(fresh.trades)
	switch before := len(l.last); {
	case before > 0 && !overlap:
		fresh.anew = len(list) < before
		fresh.hole = "the list of closed trades shows none that was known"
	case before == 0 && len(fresh.trades) > 1:
		// One by one they would show that nothing came before the first.
		fresh.hole = "several closed trades where there was none: the list may not go back to the first"
	}
	l.take(at, list, keys)
	if len(fresh.trades) > 0 || len(list) >= len(l.shown) || at.Sub(l.shownAt) > forget {
		l.show(at, list)
	}
	return fresh
}

// show makes a list the one that shows what there is. One that has nothing new and is
// shorter may be an older copy.
func (l *ledger) show(at time.Time, list []trading.Trade) { l.shown, l.shownAt = list, at }

// take makes a list the last one.
func (l *ledger) take(at time.Time, list []trading.Trade, keys []string) {
	l.at, l.last, l.keys = at, list, keys
}

// catchUp notes that the last list was shown until it was read last.
func (l *ledger) catchUp() {
	for key, n := range count(l.keys) {
		if e := l.delivered[key]; n >= e.n {
			l.delivered[key] = entry{e.n, l.at}
		}
	}
}

func count(keys []string) map[string]int {
	counts := make(map[string]int, len(keys))
	for _, key := range keys {
		counts[key]++
	}
	return counts
}

func keysOf(list []trading.Trade) []string {
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = keyOf(&list[i])
	}
	return keys
}

// keyOf is equal for trades that look the same. Members that this version does
// not know are left out: one that moves would make a trade another.
func keyOf(t *trading.Trade) string {
	b := make([]byte, 0, 160)
	for _, text := range []string{t.Symbol, string(t.Side), string(t.Cause)} {
		b = strconv.AppendQuote(b, text)
	}
	for _, n := range []trading.Opt[decimal.Decimal]{t.Size, t.EntryPrice} {
		if d, ok := n.Get(); ok {
			b = appendNumber(b, d)
		}
		b = append(b, '|')
	}
	for _, d := range []decimal.Decimal{t.ExitPrice, t.GrossPnL, t.RoundTripFee} {
		b = append(appendNumber(b, d), '|')
	}
	for _, at := range []time.Time{t.OpenedAt, t.ClosedAt} {
		if !at.IsZero() {
			b = strconv.AppendInt(b, at.Unix(), 10)
			b = append(b, '.')
			b = strconv.AppendInt(b, int64(at.Nanosecond()), 10)
		}
		b = append(b, '|')
	}
	return string(b)
}

// appendNumber writes equal numbers alike, whatever their digits and whatever the
// settings of package decimal.
func appendNumber(b []byte, d decimal.Decimal) []byte {
	digits := d.Coefficient().Append(nil, 10)
	exponent := int64(d.Exponent())
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		exponent++
	}
	if string(digits) == "0" {
		exponent = 0
	}
	b = append(append(b, digits...), 'e')
	return strconv.AppendInt(b, exponent, 10)
}

// tradeLog is the trades that were delivered.
type tradeLog struct {
	rolling[trading.Trade]
	anew int // number of the first trade after the account was last replaced
}

func (l tradeLog) add(trades []trading.Trade) tradeLog {
	l.rolling = l.rolling.add(trades...)
	return l
}

func (l tradeLog) beginAnew() tradeLog {
	l.anew = l.end()
	return l
}

// since returns the trades after those of an earlier log; how many of them are of the
// account before it was replaced; and whether some are missing.
func (l tradeLog) since(was tradeLog) (trades []trading.Trade, before int, missing bool) {
	trades, missing = l.rolling.since(was.rolling)
	return trades, min(max(l.anew-(l.end()-len(trades)), 0), len(trades)), missing
}

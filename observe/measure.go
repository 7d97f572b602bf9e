package observe

import (
	"math"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/profile"
)

// mostAgeMS is more than the age of any mark that something was filled at, in milliseconds.
const mostAgeMS = 1_000_000_000

// measure takes the figures of the evidence.
func measure(e *Evidence) profile.Measured {
	m := profile.Measured{}
	took, ages := map[string][]time.Duration{}, []time.Duration(nil)
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if !x.decides() || x.Sent.IsZero() || x.Received.Before(x.Sent) {
			continue
		}
		took[x.Operation] = append(took[x.Operation], x.Received.Sub(x.Sent))
		if ms, err := decimal.NewFromString(number(member(member(x.Response, "fill"), "ageMs"))); err == nil && x.success() && !ms.IsNegative() && ms.LessThan(decimal.NewFromInt(mostAgeMS)) {
			ages = append(ages, time.Duration(ms.Mul(decimal.NewFromInt(int64(time.Millisecond))).IntPart()))
		}
	}
	for operation, all := range took {
		if m.AnswerTime == nil {
			m.AnswerTime = map[string]profile.Spread{}
		}
		m.AnswerTime[operation] = spread(all)
	}
	m.MarkAge, m.ReadLag = spread(ages), spread(lags(e))
	m.TakerFee, m.DefaultLeverage = takerFee(e), defaultLeverage(e)
	return m
}

// keptFor is the longest time after which a request got its stored answer, if none did not before.
func keptFor(e *Evidence) (kept time.Duration) {
	lost := time.Duration(math.MaxInt64)
	var ages []time.Duration
	note := func(x *Exchange, age time.Duration) {
		switch {
		case x == nil || x.aboutKey() || age < 0:
		case x.Replayed:
			ages = append(ages, age)
		default:
			lost = min(lost, age)
		}
	}
	pairs(e, func(p pair) {
		if p.sameOperation() && p.sameBytes() && !p.was.refusedForBody() {
			note(p.is, p.is.Sent.Sub(p.was.Received))
		}
	})
	for i := range e.Rounds {
		switch r := &e.Rounds[i]; {
		case r.Void != "":
		case r.begun != nil:
			if x := r.at(0); x != nil {
				note(x, x.Sent.Sub(r.begun.At))
			}
		case r.Script == scriptOrder || r.Script == scriptRun:
			r.again(stepAgain, func(p pair) { note(p.is, p.is.Sent.Sub(p.was.Received)) })
		}
	}
	for _, age := range ages {
		if age < lost {
			kept = max(kept, age)
		}
	}
	return kept
}

// position is one after a write, or as a read has it.
type position struct {
	known bool
	size  string // with its sign; "0" for none
}

// lag is a write whose position the reads do not show yet.
type lag struct {
	write  *Exchange
	before string    // what reads showed until then
	after  string    // what the write's answer says
	late   time.Time // when the last read was sent that still showed before
}

// lags measures how long reads still show what was before a write: from the write's answer to
// halfway between the sending of the last read that showed the old position and the answer of the first
// that shows the new one. A write beside another write of the account counts for nothing.
func lags(e *Evidence) (found []time.Duration) {
	shown := map[string]string{} // by account and symbol, by the last read
	open := map[string]*lag{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if !x.success() || x.Replayed || x.Sent.IsZero() || x.Received.Before(x.Sent) {
			continue
		}
		if x.write() {
			after := member(x.Response, "position")
			symbol := text(member(x.Request, "symbol"))
			where := x.accountID() + " " + symbol
			before, known := shown[where]
			if !known && shown[x.accountID()+" "] != "" {
				before, known = "0", true // the last read had no such position
			}
			was := open[where]
			delete(open, where)
			if p := signed(after); p.known && known && was == nil && p.size != before {
				open[where] = &lag{write: x, before: before, after: p.size}
			}
			continue
		}
		list, ok := rows(x.Response, "positions")
		if !ok || x.Operation != "GET /positions" && x.Operation != "GET /sandbox/positions" {
			continue
		}
		sizes := map[string]string{x.accountID() + " ": "read"}
		for _, row := range list {
			sizes[x.accountID()+" "+text(row["symbol"])] = sized(text(row["side"]), number(row["size"]))
		}
		found = append(found, settled(open, shown, sizes, x)...)
	}
	return found
}

// settled compares a read with what writes have said, and notes what it shows.
func settled(open map[string]*lag, shown, sizes map[string]string, read *Exchange) (found []time.Duration) {
	const soon = time.Second
	account := read.accountID() + " "
	for where, l := range open {
		if len(where) < len(account) || where[:len(account)] != account {
			continue
		}
		size, is := sizes[where]
		if !is {
			size = "0"
		}
		switch {
		case read.Sent.Before(l.write.Received): // it may have been answered before the write
		case size == l.after:
			from := l.write.Received
			if !l.late.IsZero() {
				from = l.late
			}
			middle := from.Add(read.Received.Sub(from) / 2)
			if l.late.IsZero() {
				middle = l.write.Received // the first read showed it
			}
			delete(open, where)
			if l.late.IsZero() && read.Sent.Sub(l.write.Received) > soon {
				continue // it may have lagged until shortly before
			}
			found = append(found, max(middle.Sub(l.write.Received), 0)) // a clock may jump
		case size == l.before:
			l.late = read.Sent
		default:
			delete(open, where) // somebody else has traded
		}
	}
	for where := range shown {
		if len(where) >= len(account) && where[:len(account)] == account {
			delete(shown, where)
		}
	}
	for where, size := range sizes {
		shown[where] = size
	}
	return found
}

// signed is the position of an answer.
func signed(raw []byte) position {
	size := sized(text(member(raw, "side")), number(member(raw, "size")))
	return position{known: size != "0", size: size}
}

func sized(side, size string) string {
	if size == "" || size == "0" {
		return "0"
	}
	return side + " " + size
}

// longestLag is what the client assumes of reads.
const longestLag = 5 * time.Second

// judgeLag: reads show a write within five seconds.
func judgeLag(e *Evidence, t *Tally) {
	for _, d := range lags(&Evidence{Exchanges: only(e, profile.Live)}) {
		if d <= longestLag {
			t.First++
		} else {
			t.Other++
		}
	}
	if t.First+t.Other > 0 {
		for i := range e.Exchanges {
			if x := &e.Exchanges[i]; x.Operation == "GET /positions" && x.success() {
				t.seen = append(t.seen, x)
			}
		}
	}
}

func only(e *Evidence, env profile.Environment) (some []Exchange) {
	for _, x := range e.Exchanges {
		if x.Environment == env {
			some = append(some, x)
		}
	}
	return some
}

// takerFee is the share of the notional that market orders paid, if all agree to a hundredth of
// a basis point.
func takerFee(e *Evidence) string {
	share := ""
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Operation != "POST /orders" || !x.success() || x.Status != http.StatusOK {
			continue
		}
		fill := member(x.Response, "fill")
		var v [3]decimal.Decimal
		for j, name := range []string{"fee", "price", "size"} {
			var err error
			if v[j], err = decimal.NewFromString(number(member(fill, name))); err != nil || !v[j].IsPositive() {
				return share
			}
		}
		const places = 6
		exact := v[0].Div(v[1].Mul(v[2])).Round(places)
		one := exact.String()
		if exact.GreaterThanOrEqual(decimal.NewFromInt(1)) {
			return "" // no fee
		}
		if share != "" && share != one {
			return "" // rounding, or fees of several kinds
		}
		share = one
	}
	return share
}

// mostLeverage is more than any market has.
const mostLeverage = 1000

// defaultLeverage is that of a paper position which an order without one opened.
func defaultLeverage(e *Evidence) string {
	flat := map[string]bool{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		switch {
		case !x.success():
		case x.Operation == "GET /sandbox/positions":
			clear(flat)
			if list, ok := rows(x.Response, "positions"); ok && len(list) == 0 {
				flat[""] = true
			}
		case x.Operation == "POST /sandbox/orders" && flat[""] && member(x.Request, "leverage") == nil:
			leverage, err := decimal.NewFromString(number(member(member(x.Response, "position"), "leverage")))
			if err != nil || !leverage.IsPositive() || leverage.GreaterThan(decimal.NewFromInt(mostLeverage)) {
				return ""
			}
			return leverage.String()
		case x.write() && x.Environment == profile.Paper:
			clear(flat)
		}
	}
	return ""
}

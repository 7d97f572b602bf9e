package observe

import (
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
	"github.com/tradingapi/trading-go/profile"
)

// apart is how far a clock is from that of who recorded: somewhere from least to most.
type apart struct{ least, most time.Duration }

// from is how far two may be from each other at the least; 0 if they may agree.
func (a apart) from(b apart) time.Duration {
	return max(a.least-b.most, b.least-a.most, 0)
}

// serviceClock is what an answer shows of the service's clock: its Date, or the asOf of a health.
func serviceClock(x *Exchange) (a apart, ok bool) {
	if x.Sent.IsZero() || x.Received.Before(x.Sent) {
		return a, false
	}
	if date, ok := dateOf(x); ok {
		return apart{date.Sub(x.Received), date.Add(time.Second).Sub(x.Sent)}, true
	}
	if asOf, ok := asOf(x); ok {
		return apart{asOf.Sub(x.Received), asOf.Add(healthAge).Sub(x.Sent)}, true
	}
	return a, false
}

// healthAge is how old a health is at the most.
const healthAge = 5 * time.Second

// asOf is when a health was assessed.
func asOf(x *Exchange) (time.Time, bool) {
	at, ok := unixTime(number(member(x.Response, "asOf")))
	return at, ok && x.Operation == "GET /health"
}

// unixTime is that of a number whose unit its size shows.
func unixTime(n string) (time.Time, bool) {
	d, err := decimal.NewFromString(n)
	if err != nil || !d.IsPositive() || !d.LessThan(decimal.New(1, 19)) || !d.BigInt().IsInt64() {
		return time.Time{}, false
	}
	at, _, ok := epoch.Time(d.IntPart())
	return at, ok
}

// instant is a time of a record: ISO 8601, or a number.
func instant(raw []byte) (time.Time, bool) {
	if at, ok := unixTime(number(raw)); ok {
		return at, true
	}
	at, err := time.Parse(time.RFC3339, text(raw))
	return at, err == nil
}

// judgeClocks: closedAt of a trade that a close has just made, against Date or asOf.
func judgeClocks(e *Evidence, t *Tally) {
	const agree, differ = time.Second, 2 * time.Second
	const old = time.Hour // a clock may drift meanwhile
	var clock *Exchange
	closes, before := map[string][]*Exchange{}, map[string]*Exchange{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if _, ok := serviceClock(x); ok && x.Status > 0 {
			clock = x
		}
		account := x.accountID()
		switch {
		case x.Environment != profile.Live || x.Sent.IsZero():
		case x.Operation == "POST /positions/close" && x.decides() && (!x.success() || x.Replayed): // it has closed nothing
		case x.Operation == "POST /positions/close":
			closes[account] = append(closes[account], x)
		case x.Operation == "GET /trades" && x.success():
			row, fresh := newTrade(before[account], x) // of the close: it has one, and what another write closes has its own
			if made := closes[account]; fresh && len(made) == 1 && made[0].success() && clock != nil && x.Sent.Sub(clock.Sent) < old {
				closed, ok := instant(row)
				shows, _ := serviceClock(clock)
				switch gap := (apart{closed.Sub(made[0].Received), closed.Sub(made[0].Sent)}).from(shows); {
				case !ok:
				case gap <= agree:
					t.first(made[0], x, clock)
				case gap > differ:
					t.other(made[0], x, clock)
				}
			}
			before[account] = x
			closes[account] = nil
		}
	}
}

// newTrade is closedAt of the one trade that a list has more than an older one.
func newTrade(before, now *Exchange) (at []byte, ok bool) {
	if before == nil {
		return nil, false
	}
	was, okWas := rows(before.Response, "trades")
	is, okIs := rows(now.Response, "trades")
	switch {
	case !okWas || !okIs || len(is) == 0:
		return nil, false
	case len(was) == 0 && len(is) == 1, len(was) > 0 && len(is) > 1 && sameRow(is[1], was[0]):
		return is[0]["closedAt"], true
	default:
		return nil, false
	}
}

// judgeCached: the first read behind a write shows it, or is an answer that something has kept from before: it says its
// Age, or has the Date of the read before the write.
func judgeCached(e *Evidence, t *Tally) {
	const second = 2 * time.Second // a Date has whole ones
	last, wrote := map[string]*Exchange{}, map[string]*Exchange{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		account := x.accountID()
		switch {
		case x.Environment != profile.Live || x.Sent.IsZero():
		case x.write() && x.Replayed:
		case x.write() && !x.success() && wrote[account] != nil && x.Key != "" && x.Key == wrote[account].Key: // sent at once with it
		case x.write():
			delete(wrote, account)
			if before := last[account]; before != nil && x.success() && signed(member(x.Response, "position")).known {
				wrote[account] = x
			}
		case x.Operation == "GET /positions" && x.success():
			before, write := last[account], wrote[account]
			if last[account] = x; write == nil || x.Sent.Before(write.Received) {
				continue
			}
			delete(wrote, account)
			after, was, is := took(write), sizeIn(before, write), sizeIn(x, write)
			old := x.Header != nil && (x.Header.Get("Age") != "" || x.Header.Get("Date") != "" && x.Header.Get("Date") == before.Header.Get("Date") && x.Sent.Sub(before.Received) >= second)
			switch {
			case after == was:
			case is == after && x.Header.Get("Age") == "":
				t.first(write, x)
			case is == was && old:
				t.other(before, write, x)
			}
		}
	}
}

// sizeIn is the position of a write's symbol in a read.
func sizeIn(x, write *Exchange) string {
	list, _ := rows(x.Response, "positions")
	for _, row := range list {
		if text(row["symbol"]) == text(member(write.Request, "symbol")) {
			return sized(text(row["side"]), number(row["size"]))
		}
	}
	return "0"
}

// opening is a day whose first balance is known, and the floor of the account on it.
type opening struct {
	day            time.Time
	balance, floor decimal.Decimal
	read           *Exchange
}

// judgeFloors: the daily floor of days that began with other balances. What a day began with is known where the last
// read before midnight and the first behind it show the same.
func judgeFloors(e *Evidence, t *Tally) {
	enough := decimal.NewFromInt(2) // dollars: a floor may be rounded
	last, known := map[string]*opening{}, map[string]*opening{}
	each(e, func(x *Exchange) {
		account := member(x.Response, "account")
		if account == nil {
			account = x.Response
		}
		id := text(member(account, "id"))
		balance, errB := decimal.NewFromString(number(member(account, "balance")))
		floor, errF := decimal.NewFromString(number(member(account, "dailyLossFloor")))
		if errB != nil || errF != nil || !floor.IsPositive() || !balance.IsPositive() || nearMidnight(x.Received) {
			return
		}
		now := &opening{x.Received.UTC().Truncate(day), balance, floor, x}
		before := last[id]
		if last[id] = now; before == nil || !now.day.After(before.day) || !before.balance.Equal(balance) {
			return
		}
		was := known[id]
		known[id] = now
		if was == nil || was.balance.Sub(balance).Abs().LessThan(enough) {
			return
		}
		moved := floor.Mul(was.balance).Sub(was.floor.Mul(balance)).Abs() // of shares of the two balances
		switch {
		case floor.Equal(was.floor):
			t.first(was.read, x)
		case moved.LessThan(was.balance): // to a dollar
			t.other(was.read, x)
		default:
			t.neither("the daily floor is another one, and not by the balance of the day", was.read, x)
		}
	}, "GET /accounts/{accountId}")
}

const day = 24 * time.Hour

// nearMidnight reports whether a clock that differs may have another day.
func nearMidnight(at time.Time) bool {
	into := at.Sub(at.UTC().Truncate(day))
	return into < time.Minute || into > day-time.Minute
}

// judgePassed: a cancel on an account that has passed.
func judgePassed(e *Evidence, t *Tally) {
	passed := map[string]*Exchange{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		switch {
		case x.Operation == "GET /accounts" && x.success():
			list, _ := rows(x.Response, "accounts")
			for _, row := range list {
				if id := text(row["id"]); text(row["status"]) == "PASSED" && string(row["archived"]) != "true" {
					passed[id] = x
				} else {
					delete(passed, id)
				}
			}
		case (x.Operation == "POST /orders/cancel" || x.Operation == "POST /runs/cancel") && x.decides() && !x.Replayed:
			read := passed[x.accountID()]
			switch {
			case read == nil:
			case x.success(), x.Code == codeNoOrder, x.Code == codeNoRun:
				t.first(read, x)
			case x.Code == codeLocked && x.Status == http.StatusForbidden:
				t.other(read, x)
			}
		}
	}
}

package observe

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/profile"
)

// calm is longer than reads lag: what two reads show that are so far apart is no lag.
const calm = 30 * time.Second

// holds is a paper position as a read has it. Numbers are plain decimals, empty where there is none.
type holds struct{ side, size, mark, takeProfit, stopLoss string }

// price is a mark, and the read that showed it.
type price struct {
	mark string
	by   *Exchange
}

// tape is what was last seen of the paper account. Reads of the account and of its positions fire levels; reads of
// prices do not.
type tape struct {
	held  map[string]holds     // by the last read of the positions
	read  *Exchange            // that read
	fired *Exchange            // the last read that fires levels
	marks map[string]price     // by the last read of the prices
	wrote map[string]time.Time // when something was last sent that may have changed a position
}

// play calls each for every exchange of the paper account, with what was seen before it.
func play(e *Evidence, each func(*tape, *Exchange)) {
	s := &tape{held: map[string]holds{}, marks: map[string]price{}, wrote: map[string]time.Time{}}
	for i := range e.Exchanges {
		if x := &e.Exchanges[i]; x.Environment == profile.Paper && !x.Sent.IsZero() {
			each(s, x)
			s.note(x)
		}
	}
}

func (s *tape) note(x *Exchange) {
	switch {
	case x.write():
		symbol := text(member(x.Request, "symbol"))
		s.wrote[symbol] = x.Received
		if delete(s.held, symbol); symbol == "" {
			clear(s.held)
		}
	case !x.success() || x.Response == nil:
	case x.Operation == "GET /sandbox/account":
		s.fired = x
	case x.Operation == "GET /sandbox/positions":
		s.fired, s.read, s.held = x, x, positionsOf(x)
	case x.Operation == "GET /sandbox/prices":
		for symbol, mark := range pricesOf(x) {
			s.marks[symbol] = price{mark, x}
		}
	}
}

// positionsOf are the rows of a read, by symbol.
func positionsOf(x *Exchange) map[string]holds {
	all := map[string]holds{}
	list, _ := rows(x.Response, "positions")
	for _, row := range list {
		all[text(row["symbol"])] = holds{
			side: text(row["side"]), size: number(row["size"]), mark: number(row["markPrice"]),
			takeProfit: number(row["takeProfitPrice"]), stopLoss: number(row["stopLossPrice"]),
		}
	}
	return all
}

// pricesOf are those of a read of one market, or of all.
func pricesOf(x *Exchange) map[string]string {
	if symbol := text(member(x.Response, "symbol")); symbol != "" {
		return map[string]string{symbol: number(member(x.Response, "price"))}
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(member(x.Response, "prices"), &all) // none for what is no object
	list := map[string]string{}
	for symbol, mark := range all {
		list[symbol] = number(mark)
	}
	return list
}

// untouched reports whether nothing was sent for long that may have changed what the last read shows of a symbol.
func (s *tape) untouched(symbol string) bool {
	return s.read != nil && s.read.Sent.Sub(s.wrote[symbol]) > calm && s.read.Sent.Sub(s.wrote[""]) > calm
}

// less reports whether a number is below another; false where one is none.
func less(a, b string) bool {
	x, errA := decimal.NewFromString(a)
	y, errB := decimal.NewFromString(b)
	return errA == nil && errB == nil && x.LessThan(y)
}

// judgeShares: a level that closed a share of a position clears itself, or both.
func judgeShares(e *Evidence, t *Tally) {
	play(e, func(s *tape, x *Exchange) {
		if x.Operation != "GET /sandbox/positions" || !x.success() {
			return
		}
		now := positionsOf(x)
		for symbol, was := range s.held {
			is := now[symbol]
			if was.takeProfit == "" || was.stopLoss == "" || is.side != was.side || !less(is.size, was.size) || !s.untouched(symbol) {
				continue
			}
			switch {
			case is.takeProfit == "" && is.stopLoss == "":
				t.other(s.read, x)
			case is.takeProfit == "" || is.stopLoss == "":
				t.first(s.read, x)
			}
		}
	})
}

// atLevel is the level of a position that a mark is exactly at; empty if it is at none.
func (h holds) atLevel(mark string) string {
	if mark != "" && (mark == h.takeProfit || mark == h.stopLoss) {
		return mark
	}
	return ""
}

// exactly is a mark that was seen at a level of a position, and what came of it.
type exactly struct {
	level                string
	at, gone, stillThere *Exchange
}

// judgeExactly: a mark exactly at a level closes the position, or does not. That it does takes a price at the level
// before and after the read that fired it, and a trade at that price; that it does not, the same row for long.
func judgeExactly(e *Evidence, t *Tally) {
	since, open := map[string]*Exchange{}, map[string]*exactly{}
	play(e, func(s *tape, x *Exchange) {
		switch {
		case x.write():
			clear(since)
			clear(open)
		case !x.success() || x.Response == nil:
		case x.Operation == "GET /sandbox/positions":
			now := positionsOf(x)
			stays(t, s.held, now, since, x)
			for symbol, o := range open {
				if _, there := now[symbol]; there {
					delete(open, symbol)
				} else if o.gone == nil {
					o.gone = x
				}
			}
		case x.Operation == "GET /sandbox/prices":
			for symbol, mark := range pricesOf(x) {
				o := open[symbol]
				switch {
				case o != nil && o.gone != nil && o.level == mark:
					o.stillThere = x
				case s.held[symbol].atLevel(mark) != "":
					open[symbol] = &exactly{level: mark, at: x}
				default:
					delete(open, symbol)
				}
				if mark != s.held[symbol].mark {
					delete(since, symbol)
				}
			}
		case x.Operation == "GET /sandbox/trades":
			closedAt(t, open, x)
		}
	})
}

// stays votes on rows whose mark is exactly at a level, and was for long.
func stays(t *Tally, was, now map[string]holds, since map[string]*Exchange, x *Exchange) {
	for symbol, is := range now {
		began := since[symbol]
		switch {
		case is.atLevel(is.mark) == "":
			delete(since, symbol)
		case began == nil || was[symbol] != is:
			since[symbol] = x
		case x.Sent.Sub(began.Received) > calm:
			t.other(began, x)
			delete(since, symbol)
		}
	}
}

// closedAt votes on the newest trade, where a level was met exactly.
func closedAt(t *Tally, open map[string]*exactly, x *Exchange) {
	list, _ := rows(x.Response, "trades")
	if len(list) == 0 {
		return
	}
	symbol := text(list[0]["symbol"])
	o, how := open[symbol], text(list[0]["orderType"])
	if o != nil && o.stillThere != nil && number(list[0]["exitPrice"]) == o.level && (how == "take_profit" || how == "stop_loss") {
		t.first(o.at, o.gone, o.stillThere, x)
		delete(open, symbol)
	}
}

// past reports whether a mark is beyond the levels of a request, where they are those of the position already, and
// no other level of it is wrong.
func (h holds) past(request []byte, mark string) bool {
	beyond := false
	for _, one := range []struct {
		name, present string
		above         bool // where the mark is beyond it
	}{{"takeProfitPrice", h.takeProfit, h.side == "long"}, {"stopLossPrice", h.stopLoss, h.side == "short"}} {
		level := number(member(request, one.name))
		wrong := less(mark, level)
		if one.above {
			wrong = less(level, mark)
		}
		if wrong && level != one.present {
			return false
		}
		beyond = beyond || wrong
	}
	return beyond
}

// judgeUnchanged: a level that is sent unchanged, and that the mark has passed before and after, is refused, or taken.
func judgeUnchanged(e *Evidence, t *Tally) {
	var sent, before *Exchange
	var was holds
	play(e, func(s *tape, x *Exchange) {
		symbol := text(member(x.Request, "symbol"))
		switch {
		case x.Operation == "POST /sandbox/positions/tpsl":
			sent, was = nil, s.held[symbol]
			if m := s.marks[symbol]; m.by != nil && s.fired != nil && m.by.Sent.After(s.fired.Received) && was.past(x.Request, m.mark) {
				sent, before = x, m.by
			}
		case x.write(), sent == nil:
			sent = nil
		case x.Operation == "GET /sandbox/prices" && x.success():
			if was.past(sent.Request, pricesOf(x)[text(member(sent.Request, "symbol"))]) && (sent.success() || sent.Code == "invalid_tpsl") {
				t.either(!sent.success(), before, sent, x)
			}
			sent = nil
		}
	})
}

// judgeDisabled: whether the list of paper markets has one that orders were refused in as disabled, a minute before or
// after.
func judgeDisabled(e *Evidence, t *Tally) {
	const near = time.Minute
	var list *Exchange
	refused := map[string]*Exchange{}
	vote := func(refusal *Exchange) {
		if list == nil || refusal.Sent.Sub(list.Sent).Abs() > near {
			return
		}
		symbol, listed := text(member(refusal.Request, "symbol")), false
		all, _ := rows(list.Response, "markets")
		for _, row := range all {
			listed = listed || text(row["symbol"]) == symbol
		}
		t.either(listed, refusal, list)
		delete(refused, symbol)
	}
	for i := range e.Exchanges {
		switch x := &e.Exchanges[i]; {
		case x.Operation == "GET /sandbox/markets" && x.success():
			if all, ok := rows(x.Response, "markets"); ok && len(all) > 0 {
				list = x
				for _, refusal := range refused {
					vote(refusal)
				}
			}
		case x.Operation == "POST /sandbox/orders" && x.Code == "asset_disabled":
			refused[text(member(x.Request, "symbol"))] = x
			vote(x)
		}
	}
}

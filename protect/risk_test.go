package protect

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// The markets of the situations. BTC and ETH are capped at 5x, so a shock is 0.5 percent
// and a gap 2; SOL at 2x: 1.25 and 5.
var markets = map[string]holding{
	"BTC": {symbol: "BTC", mark: dec("50000"), bounds: boundsOf(dec("0.025"), dec("0.1"), dec("5"))},
	"ETH": {symbol: "ETH", mark: dec("2000"), bounds: boundsOf(dec("0.025"), dec("0.1"), dec("5"))},
	"SOL": {symbol: "SOL", mark: dec("100"), bounds: boundsOf(dec("0.025"), dec("0.1"), dec("2"))},
}

// has is a position.
func has(symbol, size, entry, stop string) holding {
	h := markets[symbol]
	h.size, h.entry = dec(size), dec(entry)
	if stop != "" {
		h.stop = trading.At(dec(stop))
	}
	return h
}

// may is a write that may still be carried out at the mark.
func may(side trading.Side, size, symbol, stop string) *reservation {
	r := &reservation{Symbol: symbol, Side: side, Size: dec(size)}
	if stop != "" {
		r.Of.stop = trading.At(dec(stop))
	}
	return r
}

// rests is a limit.
func rests(side trading.Side, size, symbol, price string) *reservation {
	return &reservation{Symbol: symbol, Side: side, Size: dec(size), Waits: true, Of: terms{price: trading.Some(dec(price)), limit: true}}
}

// situation is what is held, "BTC 1 at 50000", and what may still be carried out: "buy 1 BTC" at the
// mark, with "stop 49500"; "rest sell 1 BTC 51000", a limit; "trigger buy 1 BTC 51000", a
// conditional; "run buy 3 BTC filled 1"; "reduce sell 1 BTC", and "close sell 0 BTC" for all.
func situation(t *testing.T, held, pending string) (books []book) {
	at := map[string]int{}
	for _, text := range list(held) {
		word := append(strings.Fields(text), "", "")
		at[word[0]] = len(books)
		books = append(books, book{holding: has(word[0], word[1], word[3], word[5])})
	}
	for _, text := range list(pending) {
		word := strings.Fields(text)
		kind := word[0]
		if kind != "buy" && kind != "sell" {
			word = word[1:]
		}
		word = append(word, "", "")
		r := may(map[string]trading.Side{"buy": trading.Long, "sell": trading.Short}[word[0]], word[1], word[2], "")
		switch kind {
		case "buy", "sell":
			if word[3] == "stop" {
				r.Of.stop = trading.At(dec(word[4]))
			}
		case "rest":
			r = rests(r.Side, word[1], word[2], word[3])
		case "trigger":
			r.Of.price = trading.Some(dec(word[3]))
		case "run":
			r.Size = r.Size.Sub(dec(word[4]))
		case "reduce", "close":
			r.Exit, r.Of.whole = true, kind == "close"
		default:
			t.Fatal("no such write: ", text)
		}
		if _, known := at[r.Symbol]; !known {
			at[r.Symbol] = len(books)
			books = append(books, book{holding: markets[r.Symbol]})
		}
		books[at[r.Symbol]].add(r)
	}
	return books
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}

// TestSituations compares what the guard counts with what was worked out by hand.
// One BTC without a stop loses 2 percent and the exit fee: 1000 + 22.50. With one at 1
// percent it loses 500, a shock of 250, and the fee: 772.50.
func TestSituations(t *testing.T) {
	for _, s := range []struct{ what, held, may, loss, fees, gross string }{
		{"an entry without a stop", "", "buy 1 BTC", "1022.50", "22.50", "50000.00"},
		{"an entry with a stop", "", "buy 1 BTC stop 49500", "772.50", "22.50", "50000.00"},
		{"a stop beyond the mark is none", "", "buy 1 BTC stop 50100", "1022.50", "22.50", "50000.00"},
		{"a stop farther than the gap is none", "", "buy 1 BTC stop 40000", "1022.50", "22.50", "50000.00"},
		{"a stop in profit: 200 to it, 250 beyond, 22.50", "BTC 2 at 45000 stop 49800", "", "945.00", "0.00", "100000.00"},
		{"a short without a stop", "", "sell 1 BTC", "1022.50", "22.50", "50000.00"},
		{"a short with a stop", "", "sell 1 BTC stop 50500", "772.50", "22.50", "50000.00"},
		{"a hedge is no credit: 1022.50 and 20 × 40.90", "BTC 1 at 50000, ETH -20 at 2000", "", "1840.50", "0.00", "90000.00"},
		{"an order that reduces may not come", "BTC 2 at 50000", "sell 1 BTC", "2045.00", "22.50", "100000.00"},
		{"a flip opens what it exceeds", "BTC 1 at 50000", "sell 3 BTC", "2045.00", "67.50", "100000.00"},
		{"an add without a stop beside a position with one", "BTC 1 at 50000 stop 49500", "buy 1 BTC", "1795.00", "22.50", "100000.00"},
		{"a grid counts its worse side: 1042.95 and 1063.40 above", "",
			"rest buy 1 BTC 49000, rest buy 1 BTC 48000, rest sell 1 BTC 51000, rest sell 1 BTC 52000", "2106.35", "90.00", "103000.00"},
		{"resting on both sides of a position: the first sell ends it, the worse one is left", "BTC 1 at 50000",
			"rest sell 1 BTC 51000, rest sell 1 BTC 52000", "1063.40", "46.35", "52000.00"},
		{"an unknown write counts as done", "", "buy 1 BTC, buy 1 BTC", "2045.00", "45.00", "100000.00"},
		{"an unknown close, and a short that would be half a close", "BTC 1 at 50000", "close sell 0 BTC, sell 2 BTC", "2045.00", "45.00", "100000.00"},
		{"a reduce-only order never opens by itself, but what follows it does", "BTC 1 at 50000",
			"reduce sell 1 BTC, rest sell 1 BTC 51000", "1042.95", "22.95", "51000.00"},
		{"a reduce-only order alone", "BTC 1 at 50000", "reduce sell 1 BTC", "1022.50", "0.00", "50000.00"},
		{"a run under way: three, one of them filled", "BTC 1 at 50000", "run buy 3 BTC filled 1", "3067.50", "45.00", "150000.00"},
		{"a conditional at its trigger: 1020 and 22.95", "", "trigger buy 1 BTC 51000", "1042.95", "22.95", "51000.00"},
		{"a limit above the mark loses the difference at once: 1010, 22.73 and 500", "", "rest buy 1 BTC 50500", "1532.73", "22.73", "50500.00"},
		{"a market with less leverage: 500 and 4.50", "", "buy 100 SOL", "504.50", "4.50", "10000.00"},
		{"two unknown writes against each other: either may have come", "", "buy 1 BTC, sell 1 BTC", "1022.50", "45.00", "50000.00"},
	} {
		t.Run(s.what, func(t *testing.T) {
			x := worstOf(situation(t, s.held, s.may))
			assert.Equal(t, s.loss, x.loss.StringFixed(2), "loss")
			assert.Equal(t, s.fees, x.fees.StringFixed(2), "fees")
			assert.Equal(t, s.gross, x.gross.StringFixed(2), "gross")
		})
	}
}

// TestLargestEntry is the guard's price: at full room an entry has so much leverage.
func TestLargestEntry(t *testing.T) {
	room, keep := dec("5000"), dec("500")
	for _, s := range []struct {
		what, size, stop string
		ok               bool
	}{
		{"2.15 times without a stop", "4.30", "", true},
		{"2.16 times without a stop", "4.32", "", false},
		{"2.8 times with a stop at 1 percent", "5.60", "49500", true},
		{"2.9 times with a stop at 1 percent", "5.80", "49500", false},
	} {
		b := book{holding: markets["BTC"]}
		b.add(may(trading.Long, s.size, "BTC", s.stop))
		j, ok := judgeEntry(room, keep, worstOf([]book{b}), decimal.Zero)
		assert.Equal(t, s.ok, ok, "%s: %+v", s.what, j)
	}
}

// TestEntryInAWildMarket: after it and its fee a quarter more room is left than the
// position needs: 37.50 to close and 4 × √(10 × variance), so 1.25 × 3982 of 4977.50.
func TestEntryInAWildMarket(t *testing.T) {
	for variance, want := range map[string]bool{"97244": true, "97245": false} {
		b := book{holding: markets["BTC"]}
		b.add(may(trading.Long, "1", "BTC", ""))
		j, ok := judgeEntry(dec("5000"), dec("500"), worstOf([]book{b}), dec(variance))
		assert.Equal(t, want, ok, "%+v", j)
	}
}

// TestNeed works the room out that positions need: $100,000 of BTC cost 75 to close; a
// shock takes 500; at $10 a second of deviation, four of them over 10 s take 126.49.
func TestNeed(t *testing.T) {
	held := []holding{has("BTC", "2", "50000", "")}
	gross, shocks := grossOf(held), shocksOf(held)
	require.Equal(t, "75.00", closingCost(gross).StringFixed(2))
	require.Equal(t, "500.00", shocks.StringFixed(2))
	require.Equal(t, "575.00", needOf(gross, shocks, dec("100"), shortest).StringFixed(2))
	require.Equal(t, "1339.91", needOf(gross, shocks, dec("10000"), shortest).StringFixed(2)) // 75 + 4 × 100 × √10
	require.Equal(t, "201.49", needOf(gross, decimal.Zero, dec("100"), shortest).StringFixed(2))
}

func TestAdverse(t *testing.T) {
	b := markets["BTC"].bounds
	for _, s := range []struct {
		size string
		age  time.Duration
		want string
	}{
		{"1", 0, "49750.00"},
		{"1", 45 * time.Second, "49500.00"},  // √4 shocks
		{"-1", 45 * time.Second, "50500.00"}, // against a short it rises
		{"1", time.Hour, "49000.00"},         // the gap, and no more
		{"1", -time.Hour, "49750.00"},
	} {
		assert.Equal(t, s.want, adverse(dec("50000"), dec(s.size), b, s.age).StringFixed(2))
	}
}

func TestLevels(t *testing.T) {
	m := func(room, need, cost string) measure {
		return measure{room: dec(room), better: dec(room), need: dec(need), cost: dec(cost), keep: dec("500"), held: true}
	}
	flat := measure{room: dec("400"), better: dec("400"), keep: dec("500")}
	torn := m("10", "1000", "100")
	torn.better = dec("4000")
	for _, s := range []struct {
		what string
		m    measure
		l    Limits
		want level
	}{
		{"far away", m("5000", "1000", "100"), Limits{}, levelOK},
		{"three times the need", m("3000", "1000", "100"), Limits{}, levelWarn},
		{"one and a half", m("1500", "1000", "100"), Limits{}, levelSoft},
		{"what is kept", m("500", "100", "10"), Limits{}, levelSoft},
		{"the need", m("1000", "1000", "100"), Limits{}, levelFlatten},
		{"0.7 of it", m("700", "1000", "100"), Limits{}, levelUrgent},
		{"the cost of closing", m("100", "1000", "100"), Limits{}, levelTooLate},
		{"too late only if both equities say so", torn, Limits{}, levelUrgent},
		{"flat, and little left", flat, Limits{}, levelSoft},
		{"flat, and nothing left", measure{room: dec("-1"), better: dec("-1")}, Limits{}, levelSoft},
		{"the user's level is stricter", m("2500", "1000", "100"), Limits{FlattenAt: dec("2500")}, levelFlatten},
		{"the user's level is not looser", m("900", "1000", "100"), Limits{FlattenAt: dec("100")}, levelFlatten},
		{"the user's soft halt", m("4000", "1000", "100"), Limits{SoftHaltAt: dec("4000")}, levelSoft},
		{"the user's warning", m("4000", "1000", "100"), Limits{WarnAt: dec("4000")}, levelWarn},
	} {
		assert.Equal(t, s.want, levelOf(s.m, s.l), s.what)
	}
}

// TestCalm: a soft halt ends at twice the need, and at one and a half of what is kept.
func TestCalm(t *testing.T) {
	for _, s := range []struct {
		room, need string
		l          Limits
		want       bool
	}{
		{"2000", "1000", Limits{}, true},
		{"1999.99", "1000", Limits{}, false},
		{"750", "100", Limits{}, true}, // 500 are kept
		{"749.99", "100", Limits{}, false},
		{"6000", "100", Limits{SoftHaltAt: dec("4000")}, true},
		{"5999.99", "100", Limits{SoftHaltAt: dec("4000")}, false},
	} {
		m := measure{room: dec(s.room), need: dec(s.need), keep: dec("500"), held: true}
		require.Equal(t, s.want, calm(m, s.l), "%+v", s)
	}
}

// TestSince: the clock that says longer counts, since either may have stood still or
// jumped.
func TestSince(t *testing.T) {
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	earlier := instant{start, time.Minute}
	for _, s := range []struct{ wall, mono, want time.Duration }{
		{5 * time.Second, 5 * time.Second, 5 * time.Second},
		{time.Hour, 5 * time.Second, time.Hour},        // the machine slept
		{-time.Hour, 5 * time.Second, 5 * time.Second}, // the clock was set back
	} {
		now := instant{start.Add(s.wall), time.Minute + s.mono}
		require.Equal(t, s.want, now.since(earlier))
	}
}

func TestNextState(t *testing.T) {
	for _, s := range []struct {
		from           State
		l              level
		calmed, manual bool
		want           State
	}{
		{Starting, levelOK, false, false, OK},
		{Starting, levelFlatten, false, false, Flattening},
		{OK, levelWarn, false, false, Warned},
		{Warned, levelOK, false, false, OK},
		{Warned, levelSoft, false, false, SoftHalt},
		{SoftHalt, levelOK, false, false, SoftHalt},
		{SoftHalt, levelOK, true, false, OK},
		{SoftHalt, levelWarn, true, false, Warned},
		{SoftHalt, levelOK, true, true, SoftHalt},
		{OK, levelTooLate, false, false, TooLate},
		{TooLate, levelUrgent, false, false, Flattening},
		{TooLate, levelOK, false, false, SoftHalt},
		{Held, levelOK, true, false, Held},
		{Flattening, levelOK, true, false, Flattening},
		{Stuck, levelOK, true, false, Stuck},
		{Lost, levelOK, true, false, Lost},
		{Passed, levelOK, true, false, Passed},
		{OK, levelOK, false, true, SoftHalt},
	} {
		assert.Equal(t, s.want, s.from.next(s.l, s.calmed, s.manual, false), "%+v", s)
	}
	require.Equal(t, Flattening, OK.next(levelTooLate, false, false, true))
}

// TestIntervals needs a dollar a second.
func TestIntervals(t *testing.T) {
	for _, s := range []struct {
		room    string
		waiting bool
		want    time.Duration
	}{
		{"0", false, 30 * time.Second},
		{"30", true, 15 * time.Second},
		{"29", true, 5 * time.Second},
		{"10", true, 5 * time.Second},
		{"9", true, 2 * time.Second},
		{"-9", true, 2 * time.Second},
	} {
		assert.Equal(t, s.want, intervalOf(dec(s.room), s.waiting, seconds), s.room)
	}
}

func TestFloors(t *testing.T) {
	f := floors{Daily: trading.Some(dec("95000")), Global: trading.Some(dec("90000")), Opening: trading.Some(dec("100000"))}
	floor, ok := f.highest()
	require.True(t, ok)
	require.Equal(t, "95000", floor.String())
	floor, _ = f.predicted(dec("104000"))
	require.Equal(t, "98800", floor.String()) // 95 percent of what a new day would begin with
	floor, _ = f.predicted(dec("96000"))
	require.Equal(t, "95000", floor.String()) // it can fall, and is not counted on
	f.Own = trading.Some(dec("97000"))
	floor, _ = f.predicted(dec("96000"))
	require.Equal(t, "97000", floor.String())

	after := f.seen(&trading.AccountState{Balance: dec("103000")}, false)
	require.True(t, after.Daily.Equal(f.Daily), "one that vanishes stays")
	require.True(t, after.Global.Equal(f.Global))
	moved := f.seen(&trading.AccountState{Balance: dec("103000"), DailyLossFloor: trading.Some(dec("97850"))}, false)
	require.Equal(t, "103000", moved.Opening.String(), "a floor that moves belongs to the balance of then")
	_, ok = floors{}.predicted(dec("100"))
	require.False(t, ok, "missing is never infinite room")
}

// TestRollover counts days of 23 and 25 hours, and does not care what zone a time is in.
func TestRollover(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	r := Rollover{Hour: 17, Location: newYork}
	for _, s := range []struct{ at, began, next string }{
		{"2026-03-07T23:00:00Z", "2026-03-07T22:00:00Z", "2026-03-08T21:00:00Z"}, // 23 hours
		{"2026-10-31T22:00:00Z", "2026-10-31T21:00:00Z", "2026-11-01T22:00:00Z"}, // 25 hours
		{"2026-07-01T20:59:59Z", "2026-06-30T21:00:00Z", "2026-07-01T21:00:00Z"},
		{"2026-07-01T21:00:00Z", "2026-07-01T21:00:00Z", "2026-07-02T21:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, s.at)
		require.NoError(t, err)
		require.Equal(t, s.began, r.began(at).UTC().Format(time.RFC3339), s.at)
		require.Equal(t, s.next, r.next(at).UTC().Format(time.RFC3339), s.at)
	}
	at := time.Date(2026, 7, 1, 23, 59, 59, 0, time.UTC)
	require.Equal(t, "2026-07-01", Rollover{}.day(at))
	require.Equal(t, "2026-07-02", Rollover{}.day(at.Add(time.Second)))
}

func TestRoot(t *testing.T) {
	for of, want := range map[string]string{"4": "2", "2": "1.414213562373", "0.0001": "0.01", "0": "0", "-1": "0", "1e12": "1000000"} {
		got := root(dec(of))
		require.True(t, got.Sub(dec(want)).Abs().LessThan(dec("1e-9")), "%s: %s", of, got)
	}
}

// TestMoves: one move of 1 percent in two seconds has a variance of 0.01² ÷ 122 a second
// then, and the present size decides what that is in dollars.
func TestMoves(t *testing.T) {
	all := func(string) bool { return true }
	var m moves
	at := func(second int, btc, eth string) {
		m.add(time.Duration(second)*time.Second, map[string]decimal.Decimal{"BTC": dec(btc), "ETH": dec(eth)}, all)
	}
	at(0, "50000", "2000")
	at(2, "50500", "2000")
	value := map[string]decimal.Decimal{"BTC": dec("100000")}
	require.Equal(t, "8196.7213", m.variance(value).StringFixed(4)) // 1000² ÷ 122
	at(4, "50500", "2000")                                          // nothing changed, and nothing is forgotten
	require.Equal(t, "8196.7213", m.variance(value).StringFixed(4))
	at(6, "50500", "2020") // ETH follows, 4 s after the last move
	require.Equal(t, "7932.3109", m.variance(value).StringFixed(4))
	value["ETH"] = dec("-100000")
	require.Equal(t, "15996.8271", m.variance(value).StringFixed(4)) // 7932.3109 + 1000² ÷ 124, and no covariance
	m.forget(func(symbol string) bool { return symbol == "ETH" })
	require.Equal(t, "8064.5161", m.variance(value).StringFixed(4))
}

// TestTogether: what falls together is no hedge when it is bought, and one when it is sold.
func TestTogether(t *testing.T) {
	var m moves
	all := func(string) bool { return true }
	m.add(0, map[string]decimal.Decimal{"BTC": dec("100"), "ETH": dec("10")}, all)
	m.add(2*time.Second, map[string]decimal.Decimal{"BTC": dec("99"), "ETH": dec("9.9")}, all)
	both := m.variance(map[string]decimal.Decimal{"BTC": dec("100"), "ETH": dec("100")})
	hedged := m.variance(map[string]decimal.Decimal{"BTC": dec("100"), "ETH": dec("-100")})
	require.Equal(t, "0.0328", both.StringFixed(4)) // 2² ÷ 122
	require.Equal(t, "0.0000", hedged.StringFixed(4))
}

func TestAssume(t *testing.T) {
	for _, c := range []struct {
		limits                          Limits
		gross, leverageCap              string
		shock, line, cost, entry, keeps string
	}{
		{Limits{}, "100000", "5", "500.00", "575.00", "75.00", "718.75", "500.00"},
		{Limits{}, "100000", "0", "2500.00", "2575.00", "75.00", "3218.75", "500.00"},
		{Limits{Shock: dec("0.05"), Keep: dec("0.01")}, "100000", "5", "1000.00", "1075.00", "75.00", "1343.75", "1000.00"},
		{Limits{}, "0", "5", "0.00", "0.00", "0.00", "0.00", "500.00"},
	} {
		a := c.limits.Assume(dec(c.gross), dec(c.leverageCap), dec("100000"))
		require.Equal(t, []string{c.shock, c.line, c.cost, c.entry, c.keeps},
			[]string{a.Shock.StringFixed(2), a.Line.StringFixed(2), a.Cost.StringFixed(2), a.Entry.StringFixed(2), a.Keep.StringFixed(2)})
	}
}

func TestMovedFloor(t *testing.T) {
	require.Equal(t, "9975", MovedFloor(dec("9500"), dec("10000"), dec("10500")).String())
	require.Equal(t, "9499.99", MovedFloor(dec("9500"), dec("10000"), dec("9999.99")).String())
	require.Equal(t, "3333.33", MovedFloor(dec("1"), dec("3"), dec("10000")).String())
}

// TestAPairHasOneName: two markets are one pair, whichever is named first.
func TestAPairHasOneName(t *testing.T) {
	require.Equal(t, pairOf("BTC", "ETH"), pairOf("ETH", "BTC"))
}

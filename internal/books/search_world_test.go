package books

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// world is the account at the service, in units, and a program that trades it.
type world struct {
	*Books
	dice  *rand.Rand
	began time.Time
	now   accountState
	was   []accountState // the newest last
	lags  [4]int         // of positions, trades, what waits and runs that have ended, in milliseconds
	often [7]int         // how often each of the reads is read, all at once, and each kind of write written
	moves int            // how seldom something happens by itself
	ends  int            // how seldom it hands over
	next  int
	doubt []*lost
	left  []*lost             // given up, their markets open
	wrote time.Time           // when a write last ended
	still []pending.AccountID // as the journal had it then

	wide   bool   // it trades two markets, and much is closed in others
	bursts int    // how seldom so
	bare   bool   // rows show no time
	held   [2]int // the positions that it has read
	kills  int    // how seldom it is killed
	deep   int    // so many writes are on their way
	losing bool   // all its answers are lost
	shared bool   // nobody declares it, and somebody else trades it too
	broken bool   // the disk takes nothing
	blind  bool   // nor does it give what it has
	gap    bool   // an exit is in no journal
	waits  bool   // answers about what waits are lost too, and it may be killed at each record of a journal
	dead   bool   // it was
	shadow *Books // of the run before, as it would be had it lived
	trace  []func() string
	found  map[string]int
	wrong  bool
}

// accountState is the account at a moment. Its lists are never changed, only replaced.
type accountState struct {
	at    time.Time
	pos   [2]int
	rows  []accounting.Row // oldest first
	cut   int              // how many of them a list has at the most
	rests []rests
	ended []string // runs, the newest first
}

// rests is an order that rests, or a run.
type rests struct {
	id     string
	market int
	side   int
	left   int
	run    bool
}

// lost is a write whose answer is lost, and which can run no more.
type lost struct {
	*Booked
	market int
	ran    bool
	over   bool // it has ended
	given  bool // it hides nothing any more
	held   time.Time
	look   *look
	equal  int
	began  []time.Time

	journal *kept
	before  *Booked // of the run before
	gap     bool
}

// look is one at everything.
type look struct {
	at, ended time.Time
	pos       [2]int
	shows     accounting.State // but the position
}

// of is what it shows of a market.
func (l *look) of(market int) accounting.State {
	s := l.shows
	s.Position = positionOf(l.pos[market])
	return s
}

const btc = "BTC"

// markets are those that the program trades. In elsewhere much else is closed.
var (
	markets   = [...]string{btc, "ETH"}
	elsewhere = [...]string{"SOL", "EUR", "OIL"}
)

// whatEnded is the lag of the runs that have ended.
const whatEnded = 3

// What the program does, beside its three reads and a look at everything.
const (
	anOrder = iota + 4
	aClose
	aLimit // or a run
)

func newWorld(seed uint64) *world {
	w := &world{dice: rand.New(rand.NewPCG(seed, 11)), began: time.Now(), found: map[string]int{}}
	w.now.cut = 20
	if w.wide = seed%3 == 0; w.wide {
		w.now.cut = [...]int{8, 20, 20, 5}[seed/3%4]
		w.bare, w.bursts = w.dice.IntN(4) == 0, 2+w.dice.IntN(12)
	}
	w.Books = New(w.began, Earlier{None: seed%2 == 0}, nil)
	for range int(seed % 2 * seed / 2 % 3) { // an earlier run left them
		w.rest(w.market(), w.dice.IntN(4) == 0)
	}
	if w.shared = seed%5 == 4; !w.shared {
		w.Declare(declared)
	}
	for i := range w.lags[:whatEnded] {
		if w.dice.IntN(2) == 0 {
			w.lags[i] = w.dice.IntN(4900)
		}
	}
	for i := range w.often {
		w.often[i] = w.dice.IntN(4) * w.dice.IntN(4)
	}
	w.often[5]++ // closes
	w.moves = 2 + w.dice.IntN(12)
	w.ends = 3 + w.dice.IntN(40)
	w.kills = 8 + w.dice.IntN(60)
	if w.dice.IntN(3) == 0 {
		w.now.pos[0] = w.dice.IntN(41) - 20
	}
	w.keep()
	return w
}

// newWaits is a world in which what waits is in doubt too, and is judged by its id.
func newWaits(seed uint64) *world {
	w := newWorld(seed)
	w.waits = true
	w.lags[whatEnded] = w.dice.IntN(2) * w.dice.IntN(4900)
	w.often[6] += 3 // what waits
	return w
}

func (w *world) say(format string, of ...any) {
	since := time.Since(w.began).Seconds()
	w.trace = append(w.trace, func() string { return fmt.Sprintf("%7.2f ", since) + fmt.Sprintf(format, of...) })
	w.trace = w.trace[max(0, len(w.trace)-60):]
}

func (w *world) keep() {
	w.now.at = time.Now()
	w.was = append(w.was, w.now)
	w.was = w.was[max(0, len(w.was)-256):]
}

// seen is what a read that lags by its time shows.
func (w *world) seen(read int) accountState {
	at := time.Now().Add(-time.Duration(w.lags[read]) * time.Millisecond)
	i := len(w.was) - 1
	for i > 0 && w.was[i].at.After(at) {
		i--
	}
	return w.was[i]
}

// market draws one that the program trades.
func (w *world) market() int {
	if !w.wide {
		return 0
	}
	return w.dice.IntN(3) / 2
}

// trade trades at the market.
func (w *world) trade(market, size int, cause accounting.Cause, what string) {
	before := w.now.pos[market]
	w.now.pos[market] += size
	if before*size < 0 {
		side, closed := accounting.Long, min(max(before, -before), max(size, -size))
		if before < 0 {
			side = accounting.Short
		}
		w.row(markets[market], side, cause, closed, 0)
	}
	w.say("  %s trades %d %s: position %d, %d rows", what, size, markets[market], w.now.pos[market], len(w.now.rows))
	w.keep()
}

// row adds a closed trade. In wide worlds equal ones look alike.
func (w *world) row(symbol string, side accounting.Direction, cause accounting.Cause, size, price int) {
	r := accounting.Row{
		Digest: uint64(len(w.now.rows) + 1), Symbol: symbol, Side: side, Cause: cause,
		Size: decimal.NewNullDecimal(decimal.NewFromInt(int64(size))), ClosedAt: servicetime.Shown(time.Now()),
	}
	if w.bare {
		r.ClosedAt = servicetime.Time{}
	}
	if w.wide {
		h := fnv.New64a()
		fmt.Fprint(h, symbol, side, cause, size, price, r.ClosedAt)
		r.Digest = h.Sum64()
		w.now.rows = w.now.rows[max(0, len(w.now.rows)-w.now.cut):]
	}
	w.now.rows = append(slices.Clip(w.now.rows), r)
}

// rest adds an order that rests, or a run.
func (w *world) rest(market int, run bool) rests {
	w.next++
	return w.restsAs(rests{id: fmt.Sprint("o", w.next), market: market, side: 1 - 2*w.dice.IntN(2), left: 1 + w.dice.IntN(20), run: run})
}

func (w *world) restsAs(o rests) rests {
	w.now.rests = append(slices.Clip(w.now.rests), o)
	w.say("  %s rests, run %t: %d %s", o.id, o.run, o.side*o.left, markets[o.market])
	w.keep()
	return o
}

// byItself lets something fill that waits, or a stop, in wide worlds amid a burst of others.
func (w *world) byItself() {
	if !w.wide || w.dice.IntN(w.bursts) > 0 {
		w.one()
		return
	}
	n := 1 + w.dice.IntN(25)
	amid, cause := w.dice.IntN(n+1), accounting.Market+accounting.Cause(w.dice.IntN(3))
	apart := time.Duration(w.dice.IntN(2)*w.dice.IntN(4900/n)) * time.Millisecond
	for i := range n {
		if i == amid {
			w.one()
		}
		w.row(elsewhere[w.dice.IntN(len(elsewhere))], accounting.Long, cause, 1+w.dice.IntN(3), w.dice.IntN(100))
		w.keep()
		time.Sleep(apart)
	}
	w.say("  %d are closed elsewhere, %s apart", n, apart)
}

// one is one of these.
func (w *world) one() {
	market := w.market()
	pos := w.now.pos[market]
	if w.shared && w.dice.IntN(2) == 0 {
		size := (1 + w.dice.IntN(20)) * (1 - 2*w.dice.IntN(2))
		if w.dice.IntN(2) == 0 { // he closes a part of what is there
			size = -pos / (1 + w.dice.IntN(3))
		}
		w.trade(market, size, accounting.Market, "a stranger")
		return
	}
	if n := len(w.now.rests); n > 0 && w.dice.IntN(4) > 0 {
		i := w.dice.IntN(n)
		o := &w.now.rests[i]
		size := 1 + w.dice.IntN(o.left)
		left := slices.Clone(w.now.rests)
		of := *o
		if left[i].left -= size; left[i].left == 0 {
			left = slices.Delete(left, i, i+1)
			if of.run {
				w.now.ended = slices.Concat([]string{of.id}, w.now.ended)
			}
		}
		w.now.rests = left
		if of.run && w.waits && w.dice.IntN(3) == 0 { // it rests an order
			w.next++
			w.restsAs(rests{id: fmt.Sprint("o", w.next), market: of.market, side: of.side, left: size})
			return
		}
		w.trade(of.market, of.side*size, accounting.Market, of.id)
	} else if pos != 0 {
		w.trade(market, -pos, accounting.StopLoss, "a stop")
	}
}

// handOver has the program end in order, and another one go on with what its journal has.
func (w *world) handOver() {
	w.say("hands over")
	text, err := json.Marshal(w.HandOver())
	if err != nil {
		panic(err)
	}
	by := Earlier{Still: w.Still()}
	if err := json.Unmarshal(text, &by.Handed); err != nil {
		panic(err)
	}
	ended := w.wrote
	by.Since = func(at time.Time) (time.Duration, bool) { return at.Sub(ended), !ended.IsZero() }
	w.pass(10_000)
	w.begin(by)
	if w.found["handed over"]++; by.Handed[mine.ID] != nil {
		w.found["handed over with a baseline"]++
	}
	if w.dice.IntN(3) == 0 {
		w.lookAhead()
	}
}

// pass lets time pass, in which something may happen by itself.
func (w *world) pass(most int) {
	time.Sleep(time.Duration(w.dice.IntN(most)) * time.Millisecond)
	if w.dice.IntN(w.moves) == 0 {
		w.byItself()
		time.Sleep(time.Duration(w.dice.IntN(most)) * time.Millisecond)
	}
}

// draw draws what the program does next.
func (w *world) draw() int {
	sum := 0
	for _, n := range w.often {
		sum += n
	}
	n := w.dice.IntN(sum)
	for i := range w.often {
		if n -= w.often[i]; n < 0 {
			return i
		}
	}
	return 0
}

// write has the program send an order, a close, or something that waits.
func (w *world) write(kind int) {
	if w.dead {
		return
	}
	w.next++
	of := w.market()
	b := &Booked{ID: fmt.Sprint("w", w.next), Places: &[2]pending.Place{market(markets[of])}}
	size := (1 + w.dice.IntN(10)) * (1 - 2*w.dice.IntN(2))
	if again := w.held[of]; w.wide && again != 0 && w.dice.IntN(3) == 0 { // as much as it holds
		size = again
	}
	side := accounting.Direction(1)
	if size < 0 {
		side = -1
	}
	share := []int{100, 50, 25}[w.dice.IntN(3)]
	switch {
	case kind == anOrder:
		b.Asked, b.Entry = &accounting.Act{Kind: accounting.Entry, Side: side, Size: decimal.NewFromInt(int64(size * int(side)))}, true
	case kind == aClose:
		b.Asked = &accounting.Act{Kind: accounting.Close, Percent: decimal.NewFromInt(int64(share))}
	default:
		b.Asked, b.Entry, b.Run = &accounting.Act{Side: side}, true, w.dice.IntN(2) == 0
		b.Places[1] = market("")
		if w.waits {
			b.Asked.Kind, b.Asked.Size = accounting.Limit, decimal.NewFromInt(int64(size*int(side)))
			if b.Run {
				b.Asked.Kind = accounting.Pro
			}
		}
	}
	edited := -1
	if kind == aLimit && w.waits && w.dice.IntN(3) == 0 {
		edited = slices.IndexFunc(w.now.rests, func(o rests) bool { return o.run })
	}
	if edited >= 0 {
		o := w.now.rests[edited]
		b.Run, b.Asked, of = false, &accounting.Act{Kind: accounting.EditRun, Size: decimal.NewFromInt(int64(o.left + size*int(side)))}, o.market
		if b.Places[0] = market(markets[of]); w.dice.IntN(3) == 0 && w.MarketOf(mine, o.id) == "" {
			b.Places[0] = market(pending.AnyMarket)
		}
	}
	journal := w.books(b, kind == aClose && (w.blind || w.dice.IntN(40) == 0))
	if w.dead { // before its first byte
		w.doubt = append(w.doubt, &lost{Booked: b, market: of, held: time.Now(), journal: journal})
		return
	}
	w.SendBegan(mine)
	sent := time.Now()
	w.pass(200)
	if w.deep < 2 && w.dice.IntN(8) == 0 { // one more beside it
		w.beside()
	}
	isLost := (kind != aLimit || w.waits) && (w.losing || w.dice.IntN(4) == 0)
	ran := !isLost || w.dice.IntN(2) == 0
	refused := kind == aLimit && w.waits && !isLost && w.dice.IntN(8) == 0
	ran = ran && (!refused || w.dice.IntN(2) == 0) // the words of something in front, after the work
	did := &Did{Own: accounting.Own{Act: *b.Asked, Began: sent}}
	did.Own.Ran = true
	w.say("%s: %v %s %s, lost %t", b.ID, *b.Asked, markets[of], map[bool]string{true: "runs", false: "does not run"}[ran], isLost)
	switch {
	case edited >= 0:
		w.found["edits"]++
		if i := slices.IndexFunc(w.now.rests, func(o rests) bool { return o.run && o.market == of }); ran && i >= 0 {
			w.now.rests = slices.Clone(w.now.rests)
			w.now.rests[i].left += size * int(side)
			w.say("  %s is to trade %d more", w.now.rests[i].id, size*int(side))
			w.keep()
		}
	case kind == aLimit && w.waits:
		if !ran {
			break
		}
		w.next++
		o := w.restsAs(rests{id: fmt.Sprint("o", w.next), market: of, side: int(side), left: size * int(side), run: b.Run})
		did.Own.WaitID = o.id
	case kind == aLimit:
		o := w.rest(of, b.Run)
		b.Asked.Side = accounting.Direction(o.side)
		did.Own.WaitID, did.Own.Act = o.id, accounting.Act{Kind: accounting.Limit, Side: b.Asked.Side, Size: decimal.NewFromInt(int64(o.left))}
		if b.Run {
			did.Own.Kind = accounting.Pro
		}
	case kind == aClose && ran:
		pos := w.now.pos[of]
		closed := max(pos, -pos) * share / 100
		if ran = closed > 0; !ran {
			break
		}
		if pos > 0 {
			closed = -closed
		}
		w.trade(of, closed, accounting.Market, b.ID)
	case ran:
		w.trade(of, size, accounting.Market, b.ID)
		did.Own.After = decimal.NewNullDecimal(positionOf(w.now.pos[of]).Size)
	}
	w.pass(200)
	now := time.Now()
	w.wrote = now
	w.SendEnded(mine, now)
	l := &lost{Booked: b, market: of, ran: ran, held: now, journal: journal}
	if isLost || w.dead {
		w.doubt = append(w.doubt, l)
		if !w.dead && w.dice.IntN(4) > 0 { // else it may be killed before it knows
			w.Doubt(b)
		}
		return
	}
	switch {
	case kind != aLimit && w.dice.IntN(20) == 0: // something in front says so, after the work or before
		did = &Did{Own: accounting.Own{Unsure: true}}
	case refused && (ran || w.dice.IntN(2) == 0): // in the words of something in front
		did = &Did{Own: accounting.Own{Unsure: true}}
	case !ran:
		did = nil
	default:
		did.Own.Heard = now
	}
	if !w.leaves(b, did) {
		w.doubt = append(w.doubt, l)
	}
}

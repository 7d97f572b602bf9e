package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/obedient"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	obeys     = flag.Uint64("obedient.n", 60, "how many schedules the obedient bot plays")
	obeysFrom = flag.Uint64("obedient.from", 1, "the seed of the first of them")
)

// What the pages promise to a bot that obeys them.
const (
	longestOut  = 35 * time.Minute // unknown for half an hour at the most, or until a person looks
	mostAMinute = 90               // requests
)

// obedience is a schedule in which the program is the obedient bot.
type obedience struct {
	*world
	pages obedient.Pages
	want  decimal.Decimal

	mu       sync.Mutex
	requests []tradingsim.Request
	persons  int           // how often a person was alerted
	longest  time.Duration // that it took to find out about a write, of which no person was alerted
	end      obedient.End
	executed int // how often the decision was
}

// obedientSchedule has nobody beside the bot, and a clock that does not jump.
func obedientSchedule(seed uint64) schedule {
	k := solo
	if seed%8 == 0 {
		k = paper
	}
	return draw(k, seed, func(s *schedule, r *rand.Rand) {
		s.befall(r)
		s.op, s.person, s.jump, s.since, s.exits = market, none, 0, false, false
		if s.held == waiting || s.held == withStop {
			s.held = position
		}
		if seed%5 != 0 { // of the others each double is one that no client can promise away
			s.tries = slices.DeleteFunc(s.tries, func(f fault) bool { return f.Worked && s.ttl != 0 || s.unpromised(f.Name) })
		}
	})
}

// unpromised reports whether a fault is one of those of which the pages promise nothing.
func (s *schedule) unpromised(name string) bool {
	for _, begins := range []string{"a copy", "sent twice", "works for 10m", "arrives 16m", "a gateway's 409 after", "a gateway's 401 after", "a gateway's 404 after"} {
		if strings.HasPrefix(name, begins) {
			return true
		}
	}
	return s.kind == paper && (strings.HasPrefix(name, "arrives") || name == "works for 14m50s")
}

func newObedience(t testing.TB, s schedule, pages obedient.Pages, dir string) *obedience {
	o := &obedience{world: newWorld(t, s, dir), pages: pages}
	o.want = o.holds().Add(trading.Dec("0.05"))
	o.sim.FaultEach(func(op string) tradingsim.Fault {
		o.mu.Lock()
		o.requests = append(o.requests, tradingsim.Request{At: time.Now()})
		o.mu.Unlock()
		return o.nextFault(op)
	})
	return o
}

// holds is the position, by the ledger.
func (o *obedience) holds() (size decimal.Decimal) {
	for _, e := range o.sim.Ledger() {
		switch {
		case e.Symbol != "BTC" || !e.Filled:
		case e.Side == "short":
			size = size.Sub(e.Size)
		default:
			size = size.Add(e.Size)
		}
	}
	return size
}

// ran is how often the decision was executed. The orders of a pace are smaller.
func (o *obedience) ran() (list []tradingsim.Execution) {
	for _, e := range o.sim.Ledger()[o.before:] {
		if e.Actor == "api" && e.Operation == string(o.endpoint()) && e.Size.GreaterThan(trading.Dec("0.01")) {
			list = append(list, e)
		}
	}
	return list
}

// bot is the bot in a program.
func (o *obedience) bot(p *program) *obedient.Bot {
	person := obedient.Person(p.client, o.sim)
	b := &obedient.Bot{
		Pages: o.pages, Client: p.client, Account: p.client.Live.Account(account), Symbol: "BTC", Patience: o.leaves,
		Note: func(format string, args ...any) { o.note(p.name+": "+format, args...) },
		Alert: func(ctx context.Context, err error) {
			o.mu.Lock()
			o.persons++
			o.mu.Unlock()
			person(ctx, err)
		},
	}
	if o.kind == paper {
		b.Account = p.client.Sandbox
	}
	if o.named {
		b.ID = "the one"
	}
	return b
}

// life lets the bot run until it has what it wants, or is killed.
func (o *obedience) life(name string, killAt int) (steps int) {
	p := o.process(name, killAt)
	defer p.kill()
	var d *disk
	if o.kind != paper {
		d = p.open(o.file("one"))
		if name == "first" {
			p.stopAt = o.stopAt
			d.failsAt, d.losesAt, d.slowAt = o.disk, o.losesAt, o.slowAt
		}
	}
	one := p.start(d)
	if name == "first" {
		time.Sleep(6 * time.Second)
		if o.looks {
			one.look()
		}
		one.paces()
		defer o.degrades()()
	}
	lasts, broken := 6*time.Hour, name == "first" && (o.disk > 0 || o.losesAt > 0 || o.slow >= time.Minute)
	if broken { // until a person who is alerted gives it another disk
		lasts = 15 * time.Minute
	}
	ctx, cancel := context.WithTimeout(p.ctx, lasts)
	defer cancel()
	began, persons, bot := time.Now(), o.persons, o.bot(one)
	o.end = bot.Pursue(ctx, o.want)
	if !broken && o.stopFor < time.Minute {
		o.longest = max(o.longest, bot.Longest)
	}
	if !p.isDead() && ctx.Err() != nil && o.persons == persons && !broken {
		o.problem("%s: it has not ended its decision after %s, and no person was alerted", name, time.Since(began))
	}
	one.stop()
	if d != nil {
		d.close()
	}
	return p.steps
}

func (o *obedience) first(killAt int) (steps int) { return o.life("first", killAt) }

// play is all lives of the bot. Each decides the same, and knows nothing of the one before.
func (o *obedience) play(killAt int) {
	o.first(killAt)
	if o.kind != paper {
		time.Sleep(o.away)
		o.life("second", o.kill2)
		time.Sleep(o.again)
		o.life("third", 0)
	}
	time.Sleep(25 * time.Hour)
	o.judge()
	time.Sleep(time.Hour)
}

func (o *obedience) judge() {
	list := o.ran()
	o.executed = len(list)
	o.Once("the decision", len(list), o.whyNot)
	switch {
	case o.end == obedient.Dropped:
		o.Said("the bot has dropped it", trading.NotApplied, len(list), o.whyNot)
	case o.end == obedient.Held && len(list) == 0:
		o.Said("the bot has what it wants", trading.Applied, 0, o.whyNot)
	case o.end == obedient.Held && len(list) == 1 && !o.holds().Equal(o.want):
		o.problem("it says that it holds %s, and holds %s", o.want, o.holds())
	}
	if o.longest > longestOut {
		o.problem("it took %s to find out, and no person was alerted", o.longest)
	}
	if n := rig.Busiest(o.requests); n > mostAMinute {
		o.problem("%d requests in a minute", n)
	}
}

// whyNot names what no client can promise; "" if it is not that.
func (o *obedience) whyNot() string {
	switch {
	case o.kind == paper && o.metOne("arrives", "a copy", "works for 10m", "works for 14m50s", "sent twice"):
		return rig.LatePaper
	case o.longWork():
		return rig.Outlived
	case o.copied():
		return rig.Repeated
	case o.inItsWords():
		return rig.InItsWords
	case o.worked && o.ttl != 0:
		return rig.FailedAfterWork
	case o.worked && slices.ContainsFunc(o.order, func(in *written) bool { return in.probes > 0 }):
		return rig.LateProbe
	default:
		return ""
	}
}

// TestObedient plays the bot that does what the pages say under every fault and accident, kills it
// at any step, twice, and lets it decide the same again: nothing runs twice, no decision takes longer
// than the pages say, and there is no storm of requests.
func TestObedient(t *testing.T) {
	pages, err := obedient.Read()
	require.NoError(t, err)
	count, longest, busiest := map[string]int{}, time.Duration(0), 0
	for seed := *obeysFrom; seed < *obeysFrom+*obeys; seed++ {
		s := obedientSchedule(seed)
		o := playKilled(t, s, func(t *testing.T, dir string) *obedience { return newObedience(t, s, pages, dir) })
		count[fmt.Sprintf("%s, executed %d times", o.end, o.executed)]++
		for why := range o.Excepted {
			count[why]++
		}
		if o.persons > 0 {
			count["a person was alerted"]++
		}
		longest, busiest = max(longest, o.longest), max(busiest, rig.Busiest(o.requests))
		if testing.Verbose() && o.executed > 1 {
			t.Logf("seed %d: executed %d times", seed, o.executed)
		}
		for _, p := range o.problems {
			t.Errorf("seed %d: %s", seed, p)
		}
		if *tale {
			t.Log(o.String() + strings.Join(o.steps, "\n"))
		}
	}
	var text strings.Builder
	counts(&text, "obedient", count)
	t.Logf("%s the longest to find out %s, the busiest minute had %d requests", text.String(), longest, busiest)
}

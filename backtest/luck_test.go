package backtest

import (
	"cmp"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// findingSeeds are how many accounts each bot has. In full it is
//
//	go test ./backtest -run TestLuck -finding.seeds 2000 -v -timeout 3h
var findingSeeds = flag.Int("finding.seeds", 0, "measure how often luck shows an edge, on so many accounts of each bot that has none")

// game is a bot on markets of which the truth is known. It has what a run gives to a finding: what the
// account earned in each step, and the round trips that the rule of before went by.
type game struct {
	days, tick int    // ticks are seconds between two looks
	count      int    // of the markets
	move       market // moves their prices on
	bot        func() player
	step       int     // seconds of a step; a minute unless set
	win, lose  float64 // the account ends where it has won or lost as much; never where it is 0
}

// market makes the log returns of the next tick.
type market func(dice *rand.Rand) func(moves []float64)

// player says what it holds of each market, by the prices and what it has earned.
type player func(tick int, prices, held []float64, s Steps)

// judged is what became of a game.
type judged struct {
	steps  Steps
	shares []float64 // the gross of each round trip, as a share of what it bought
}

func (j judged) finding() Finding { return evidence{j.steps, j.steps}.finding(1) }

// tripsFind is the rule of before: the mean gross of 30 round trips, by a normal interval.
func (j judged) tripsFind() bool {
	m, s := mean(j.shares), deviation(j.shares)/math.Sqrt(float64(len(j.shares)))
	return len(j.shares) >= 30 && m > 0 && m > quantile(1-luck)*s
}

// play plays a game.
func (g game) play(seed uint64) (j judged) {
	n, step := max(1, g.count), max(60, g.step)
	move, bot := g.move(rand.New(rand.NewPCG(seed, 77))), g.bot()
	list := make([][]float64, 6)
	for i := range list {
		list[i] = make([]float64, n)
	}
	prices, moves, held, before, cost, won := list[0], list[1], list[2], list[3], list[4], list[5]
	for i := range prices {
		prices[i] = 1
	}
	earned, sum := 0.0, 0.0
	for tick := range g.days * 86400 / g.tick {
		copy(before, held)
		bot(tick, prices, held, j.steps)
		for i := range held {
			switch {
			case before[i] == held[i]:
			case before[i] != 0 && before[i]*held[i] <= 0:
				j.shares = append(j.shares, won[i]/cost[i])
				cost[i], won[i] = math.Abs(held[i])*prices[i], 0
			case math.Abs(held[i]) > math.Abs(before[i]):
				cost[i] += math.Abs(held[i]-before[i]) * prices[i]
			}
		}
		move(moves)
		for i := range prices {
			gain := held[i] * prices[i] * math.Expm1(moves[i])
			prices[i] *= math.Exp(moves[i])
			earned, won[i] = earned+gain, won[i]+gain
		}
		total := sum + earned
		ended := g.win > 0 && (total >= g.win || total <= -g.lose)
		if (tick+1)*g.tick%step == 0 || ended {
			j.steps.earned(earned)
			sum, earned = total, 0
		}
		if ended {
			break
		}
	}
	return j
}

// every seed, on all processors.
func everySeed(seeds int, play func(seed uint64) judged) []judged {
	list, next := make([]judged, seeds), make(chan int)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := range next {
				list[i] = play(uint64(i))
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	all.Wait()
	return list
}

// found counts what a finding says, and what the rule of before said.
func found(list []judged) (finds, trips int) {
	for _, j := range list {
		if j.finding().Found {
			finds++
		}
		if j.tripsFind() {
			trips++
		}
	}
	return finds, trips
}

// bp is the deviation of a tick at a basis point a root second.
func bp(tick int) float64 { return 1e-4 * math.Sqrt(float64(tick)) }

// together are walks with a correlation, whose shocks a distribution makes.
func together(tick int, correlation float64, shock func(*rand.Rand) float64) market {
	return func(dice *rand.Rand) func([]float64) {
		s, a, b := bp(tick), math.Sqrt(correlation), math.Sqrt(1-correlation)
		return func(moves []float64) {
			common := 0.0
			if correlation > 0 {
				common = a * shock(dice)
			}
			for i := range moves {
				x := s * (common + float64(b*shock(dice)))
				moves[i] = x - float64(s*s)/2
			}
		}
	}
}

func normal(dice *rand.Rand) float64 { return dice.NormFloat64() }

// fat has Student's distribution with three degrees of freedom, and a deviation of 1.
func fat(dice *rand.Rand) float64 {
	a, b, c := dice.NormFloat64(), dice.NormFloat64(), dice.NormFloat64()
	return dice.NormFloat64() / math.Sqrt(float64(a*a)+float64(b*b)+float64(c*c))
}

// jumping has once a day a move as large as that of four hours.
func jumping(dice *rand.Rand) float64 {
	if dice.IntN(1440) == 0 {
		return 15 * dice.NormFloat64()
	}
	return dice.NormFloat64()
}

// restless has a volatility that wanders.
func restless(tick int) market {
	return func(dice *rand.Rand) func([]float64) {
		s, level := bp(tick), 0.5*dice.NormFloat64()
		return func(moves []float64) {
			level = 0.9995*level + 0.5*math.Sqrt(1-0.9995*0.9995)*dice.NormFloat64()
			v := s * math.Exp(level-0.125)
			for i := range moves {
				moves[i] = v*dice.NormFloat64() - v*v/2
			}
		}
	}
}

// gaps has a move as large as that of a night at each midnight.
func gaps(tick int) market {
	return func(dice *rand.Rand) func([]float64) {
		s, now := bp(tick), 0
		return func(moves []float64) {
			now++
			for i := range moves {
				v := s
				if now%(86400/tick) == 0 {
					v = 1e-2
				}
				moves[i] = v*dice.NormFloat64() - v*v/2
			}
		}
	}
}

// calm earns a little each tick, and loses a tenth once in a hundred days: nothing on the whole.
func calm(tick int) market {
	return func(dice *rand.Rand) func([]float64) {
		s, often := bp(tick)/20, float64(tick)/86400/100
		return func(moves []float64) {
			x := 0.1*often + s*dice.NormFloat64()
			if dice.Float64() < often {
				x -= 0.1
			}
			for i := range moves {
				moves[i] = x
			}
		}
	}
}

// noStop buys, and closes only where it has won so much.
func noStop(target float64) func() player {
	return func() player {
		entry := make([]float64, 100)
		return func(_ int, prices, held []float64, _ Steps) {
			for i, p := range prices {
				switch {
				case held[i] == 0:
					held[i], entry[i] = 1, p
				case p >= entry[i]*(1+target):
					held[i] = 0
				}
			}
		}
	}
}

// doubling holds for a win or a loss of so much, and twice as much after each loss, up to so often.
func doubling(target float64, times int) func() player {
	return func() player {
		size, entry := 1.0, 0.0
		return func(_ int, prices, held []float64, _ Steps) {
			switch p := prices[0]; {
			case held[0] == 0:
				held[0], entry = size, p
			case p >= entry*(1+target):
				held[0], size = 0, 1
			case p <= entry*(1-target):
				held[0], size = 0, size*2
				if size > math.Pow(2, float64(times)) {
					size = 1
				}
			}
		}
	}
}

// adding buys one more each so far below the last, up to ten, and closes all where it has won so much.
func adding(apart float64) func() player {
	return func() player {
		last, cost := 0.0, 0.0
		return func(_ int, prices, held []float64, _ Steps) {
			switch p := prices[0]; {
			case held[0] == 0, held[0] < 10 && p <= last*(1-apart):
				held[0], last, cost = held[0]+1, p, cost+p
			case held[0]*p >= cost*(1+apart):
				held[0], cost = 0, 0
			}
		}
	}
}

// holds buys at once.
func holds() player { return func(_ int, _, held []float64, _ Steps) { held[0] = 1 } }

// watching follows the last minute until its own result looks like an edge, and is flat from then on.
func watching() player {
	before, done := 1.0, false
	return func(_ int, prices, held []float64, s Steps) {
		done = done || s.number() >= leastNumber && s.t(0) > quantile(1-luck/2)
		held[0] = math.Copysign(1, prices[0]-before)
		if done {
			held[0] = 0
		}
		before = prices[0]
	}
}

// capped buys at each midnight, unless it still holds, and closes where the price has been so much
// higher: exactly there, by the law of the walk between two minutes. It returns what the days earned, too.
func capped(seed uint64, days int, target float64) (j judged, daily []float64) {
	dice, s, at := rand.New(rand.NewPCG(seed, 78)), bp(60), 0.0 // above the entry
	for range days {
		earned := 0.0
		for range 1440 {
			next := at + s*dice.NormFloat64()
			closes := next >= target || dice.Float64() < math.Exp(-2*(target-at)*(target-next)/(s*s))
			if closes {
				next = target
			}
			j.steps.earned(next - at)
			earned += next - at
			at = next
			if closes {
				at = 0
				break
			}
		}
		daily = append(daily, earned)
	}
	return j, daily
}

// games are bots and markets without an edge, as [game].
var games = []struct {
	name string
	game game
	// trips is how many of 200 the rule of before finds at least, in the short form; a game without is
	// of the long one.
	trips int
}{
	{"no stop", game{days: 30, tick: 60, move: together(60, 0, normal), bot: noStop(0.0015)}, 80},
	{"10 markets", game{days: 30, tick: 60, count: 10, move: together(60, 0.95, normal), bot: noStop(0.0015)}, 25},
	{"3 markets", game{days: 30, tick: 60, count: 3, move: together(60, 0.95, normal), bot: noStop(0.0015)}, 0},
	{"by seconds", game{days: 10, tick: 1, move: together(1, 0, normal), bot: noStop(0.0002)}, 0},
	{"doubling", game{days: 30, tick: 60, move: together(60, 0, normal), bot: doubling(0.003, 6)}, 0},
	{"adding to losers", game{days: 30, tick: 60, move: together(60, 0, normal), bot: adding(0.003)}, 0},
	{"stop at the verdict", game{days: 30, tick: 60, move: together(60, 0, normal), bot: holds, win: 0.1, lose: 0.05}, 0},
	{"t3", game{days: 30, tick: 60, move: together(60, 0, fat), bot: noStop(0.0015)}, 0},
	{"restless", game{days: 30, tick: 60, move: restless(60), bot: noStop(0.0015)}, 0},
	{"jumps", game{days: 30, tick: 60, move: together(60, 0, jumping), bot: noStop(0.0015)}, 0},
	{"gaps", game{days: 30, tick: 60, move: gaps(60), bot: noStop(0.0015)}, 0},
	{"candles of an hour", game{days: 60, tick: 3600, step: 3600, move: together(3600, 0, normal), bot: noStop(0.0015)}, 0},
}

// mostFound is how often luck may show an edge: 3 of 100 in 200 accounts, and 1.6 in more.
func mostFound(seeds int) int {
	if seeds <= 200 {
		return 6
	}
	return seeds * 16 / 1000
}

// TestLuckShowsNoEdge: bots without an edge, of which the rule of before found one in most.
func TestLuckShowsNoEdge(t *testing.T) {
	skipUnderRace(t)
	for _, g := range games {
		seeds := *findingSeeds
		if seeds == 0 && (g.trips > 0 || g.name == "stop at the verdict") {
			seeds, g.game.days = 200, 10 // days are enough
		}
		if seeds == 0 {
			continue
		}
		finds, trips := found(everySeed(seeds, g.game.play))
		t.Logf("%s: found in %d of %d accounts, %.2f %%; by the round trips in %.1f %%", g.name, finds, seeds, 100*float64(finds)/float64(seeds), 100*float64(trips)/float64(seeds))
		assert.LessOrEqual(t, finds, mostFound(seeds), g.name)
		assert.GreaterOrEqual(t, trips*200, g.trips*seeds, "the rule of before, %s", g.name)
	}
}

// TestLuckOfSweeps: days of capped gains pass the condition of before, by which a sweep was judged, and
// not a finding.
func TestLuckOfSweeps(t *testing.T) {
	const days, target, variants = 60, 0.0002, 5
	seeds := max(200, *findingSeeds)
	finds, _ := found(everySeed(seeds, func(seed uint64) judged { j, _ := capped(seed, days, target); return j }))
	before, lucky := 0, 0
	for seed := range uint64(seeds) {
		var all [][]float64
		for v := range uint64(variants) {
			_, daily := capped(1_000_000+seed*100+v, days, target)
			all = append(all, daily)
		}
		slices.SortFunc(all, func(a, b []float64) int { return cmp.Compare(mean(b), mean(a)) })
		o := OverfitOf(all)
		if deflated, _ := o.DeflatedSharpe.Value(); deflated < 0.95 {
			continue
		}
		lucky++
		_, test := capped(500_000_000+seed, days, target)
		if overfitting, _ := o.Overfitting.Value(); overfitting < 0.5 && mean(test) > 0 {
			before++
		}
	}
	t.Logf("found in %d of %d sweeps; the deflated Sharpe is above 0.95 in %d, and all of the condition of before holds in %d", finds, seeds, lucky, before)
	assert.LessOrEqual(t, finds, mostFound(seeds))
	assert.Greater(t, before*10, seeds, "the condition of before, where 5 % are promised")
}

// TestLuckHidesNoEdge: 2,160 round trips of 2 basis points.
func TestLuckHidesNoEdge(t *testing.T) {
	edge := func(bps float64) func(uint64) judged {
		return func(seed uint64) (j judged) {
			dice := rand.New(rand.NewPCG(seed, 79))
			for range 2160 {
				trip := 0.0
				for range 5 {
					x := bps*1e-4/5 + bp(60)*dice.NormFloat64()
					j.steps.earned(x)
					trip += x
				}
				j.shares = append(j.shares, trip)
			}
			return j
		}
	}
	finds, _ := found(everySeed(60, edge(2)))
	t.Logf("2 bp: found in %d of 60", finds)
	require.GreaterOrEqual(t, finds, 57)
	if seeds := *findingSeeds; seeds > 0 {
		finds, trips := found(everySeed(seeds, edge(1)))
		t.Logf("1 bp: found in %.1f %%, by the round trips in %.1f %%", 100*float64(finds)/float64(seeds), 100*float64(trips)/float64(seeds))
	}
}

// TestLuckThatNoTestKnows logs what [FindingLimits] says.
func TestLuckThatNoTestKnows(t *testing.T) {
	if *findingSeeds == 0 {
		t.Skip("it measures, and judges nothing: -finding.seeds 2000")
	}
	for name, g := range map[string]game{
		"a bot that watches its own t": {days: 30, tick: 60, move: together(60, 0, normal), bot: watching},
		"a calm market with one -10 %": {days: 30, tick: 60, move: calm(60), bot: holds},
	} {
		finds, _ := found(everySeed(*findingSeeds, g.play))
		t.Logf("%s: found in %.1f %%", name, 100*float64(finds)/float64(*findingSeeds))
	}
}

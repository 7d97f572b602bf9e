package main

import (
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"
)

// A price is in millionths of a dollar, and a move in billionths of a price: whole
// numbers, so that every machine draws the same path.
const (
	priceUnit = 1_000_000
	moveUnit  = 1_000_000_000
)

// kind is how a market moves in a second.
type kind struct {
	name  string
	sigma int64 // deviation
	drift func(second int) int64
}

// kinds are the markets.
var kinds = []kind{
	{"calm", 60_000, func(int) int64 { return 0 }},
	{"volatile", 250_000, func(int) int64 { return 0 }},
	{"falling", 120_000, func(int) int64 { return -4_000 }},
	{"whipsaw", 120_000, func(second int) int64 {
		if second/300%2 == 0 {
			return 25_000
		}
		return -25_000
	}},
}

// jumps are the sizes of the sudden moves, in hundredths of a percent. The assumed shock
// is 50.
var jumps = []int64{0, 30, 50, 100, 200, 400}

// jumpsARun is how often a market jumps in one run.
const jumpsARun = 4

// symbols are the markets that bots trade, and the prices that they begin at.
var symbols = []struct {
	name  string
	price int64
}{{"BTC", 50_000 * priceUnit}, {"ETH", 2_000 * priceUnit}}

// path is the true price of each market at each second.
type path struct {
	start  time.Time
	prices map[string][]int64
	jumped []int // the seconds at which the markets jumped
}

// draw makes a path. Both markets move with one another by two thirds, and jump together.
func draw(rng *rand.Rand, k kind, jump int64, start time.Time, length int) *path {
	p := &path{start: start, prices: map[string][]int64{}}
	at := map[int]int64{}
	for range jumpsARun {
		second := length/10 + rng.IntN(length*8/10)
		sign := int64(1 - 2*rng.IntN(2))
		if jump > 0 {
			if _, taken := at[second]; !taken {
				p.jumped = append(p.jumped, second)
			}
			at[second] = sign * jump * (moveUnit / 10_000)
		}
	}
	for _, s := range symbols {
		p.prices[s.name] = append(make([]int64, 0, length+1), s.price)
	}
	for second := 1; second <= length; second++ {
		common := normal(rng)
		for _, s := range symbols {
			z := (2*common + normal(rng)) * 1000 / 2236 // of deviation 1000
			last := p.prices[s.name][second-1]
			move := k.sigma*z/1000 + k.drift(second) + at[second]
			p.prices[s.name] = append(p.prices[s.name], last+mulDiv(last, move))
		}
	}
	return p
}

// mulDiv is price × move ÷ moveUnit, without an overflow for moves of up to a tenth.
func mulDiv(price, move int64) int64 {
	const half = 100_000
	return (price / half) * move / (moveUnit / half)
}

// normal is a sum of twelve, near enough to a normal deviate, in thousandths.
func normal(rng *rand.Rand) int64 {
	sum := int64(-6000)
	for range 12 {
		sum += rng.Int64N(1001)
	}
	return sum
}

// second is the index of a moment.
func (p *path) second(t time.Time) int {
	n := int(t.Sub(p.start) / time.Second)
	return min(max(n, 0), len(p.prices[symbols[0].name])-1)
}

// feed is one market of a path as the service shows it: unpriced for some spans.
type feed struct {
	*path
	symbol string
	nulls  [][2]int // spans of seconds
}

// At is the mark at a time.
func (f feed) At(t time.Time) (decimal.Decimal, bool) {
	n := f.second(t)
	for _, span := range f.nulls {
		if n >= span[0] && n < span[1] {
			return decimal.Decimal{}, false
		}
	}
	return dollars(f.prices[f.symbol][n]), true
}

func dollars(price int64) decimal.Decimal { return decimal.New(price, -6).Round(4) }

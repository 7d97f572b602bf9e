package watch

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tradeNo is a trade like many others; equal numbers make equal trades.
func tradeNo(n int) trading.Trade {
	return trading.Trade{
		Symbol: "BTC", Side: trading.Long, Cause: trading.CauseMarket,
		ExitPrice: trading.Dec("64000"), GrossPnL: trading.Dec(strconv.Itoa(n)), RoundTripFee: trading.Dec("1"),
	}
}

func listOf(numbers ...int) (list []trading.Trade) {
	for _, n := range numbers {
		list = append(list, tradeNo(n))
	}
	return list
}

func numbers(trades []trading.Trade) (list []int) {
	for _, t := range trades {
		n, _ := strconv.Atoi(t.GrossPnL.String())
		list = append(list, n)
	}
	return list
}

// T77: trades have no ids, and their list may be cut: a multiset tells which are new.
func TestTrap_T77_EachTradeIsToldOnce(t *testing.T) {
	type step struct {
		after time.Duration
		list  []int // newest first
		fresh []int // oldest first
		hole  bool
	}
	for name, steps := range map[string][]step{
		"one after the other":   {{0, []int{1}, nil, false}, {1, []int{2, 1}, []int{2}, false}, {1, []int{3, 2, 1}, []int{3}, false}},
		"several":               {{0, []int{1}, nil, false}, {1, []int{4, 3, 2, 1}, []int{2, 3, 4}, false}},
		"nothing new":           {{0, []int{2, 1}, nil, false}, {1, []int{2, 1}, nil, false}},
		"in another order":      {{0, []int{2, 1}, nil, false}, {1, []int{1, 2}, nil, false}},
		"equal ones":            {{0, []int{1, 1}, nil, false}, {1, []int{1, 1, 1}, []int{1}, false}, {1, []int{1, 1, 1, 1, 1}, []int{1, 1}, false}},
		"cut, and reaching":     {{0, []int{3, 2, 1}, nil, false}, {1, []int{5, 4, 3}, []int{4, 5}, false}},
		"cut, and not reaching": {{0, []int{3, 2, 1}, nil, false}, {1, []int{7, 6, 5}, []int{5, 6, 7}, true}, {1, []int{8, 7, 6}, []int{8}, false}},
		"the first one":         {{0, nil, nil, false}, {1, []int{1}, []int{1}, false}},
		"the first ones":        {{0, nil, nil, false}, {1, []int{2, 1}, []int{1, 2}, true}},
		"an older copy":         {{0, []int{3, 2, 1}, nil, false}, {1, []int{1}, nil, false}, {1, []int{3, 2, 1}, nil, false}, {1, []int{4, 3, 2, 1}, []int{4}, false}},
		"an empty older copy":   {{0, []int{2, 1}, nil, false}, {1, nil, nil, true}, {1, []int{3, 2, 1}, []int{3}, false}},
		"an older copy of equal ones": {{0, []int{1, 1}, nil, false}, {1, []int{1}, nil, false}, {1, []int{1, 1}, nil, false},
			{1, []int{1, 1, 1}, []int{1}, false}},
		"old ones are trimmed": {{0, []int{3, 2, 1}, nil, false}, {120, []int{3, 2}, nil, false}, {120, []int{4}, []int{4}, true}},
		"one like another that has long been cut": {{0, []int{2, 1}, nil, false}, {1, []int{3, 2}, []int{3}, false},
			{120, []int{4, 3}, []int{4}, false}, {120, []int{2, 4}, []int{2}, false}},
	} {
		t.Run(name, func(t *testing.T) {
			var l ledger
			at := start
			for i, step := range steps {
				at = at.Add(step.after * time.Second)
				fresh := l.list(at, listOf(step.list...))
				assert.Equal(t, step.fresh, numbers(fresh.trades), "step %d", i)
				assert.Equal(t, step.hole, fresh.hole != "", "step %d: %s", i, fresh.hole)
			}
		})
	}
}

// What does not differ in value is the same trade, whatever its digits; what this version
// does not know does not make it another.
func TestKeyOfATrade(t *testing.T) {
	one := tradeNo(1)
	same := tradeNo(1)
	same.ExitPrice, same.GrossPnL = trading.Dec("64000.00"), trading.Dec("1.0")
	same.Extra = trading.Extra{"seenAt": []byte("7")}
	assert.Equal(t, keyOf(&one), keyOf(&same))
	zero, zeros := tradeNo(0), tradeNo(0)
	zeros.GrossPnL = trading.Dec("0.000")
	assert.Equal(t, keyOf(&zero), keyOf(&zeros))

	seen := map[string]int{keyOf(&one): -1}
	for i, change := range []func(*trading.Trade){
		func(t *trading.Trade) { t.Symbol = "ETH" },
		func(t *trading.Trade) { t.Side = trading.Short },
		func(t *trading.Trade) { t.Cause = trading.CauseStopLoss },
		func(t *trading.Trade) { t.Size = trading.Some(trading.Dec("1")) },
		func(t *trading.Trade) { t.Size = trading.Some(trading.Dec("0")) },
		func(t *trading.Trade) { t.EntryPrice = trading.Some(trading.Dec("1")) },
		func(t *trading.Trade) { t.ExitPrice = trading.Dec("6400") },
		func(t *trading.Trade) { t.GrossPnL = trading.Dec("-1") },
		func(t *trading.Trade) { t.RoundTripFee = trading.Dec("0.1") },
		func(t *trading.Trade) { t.OpenedAt = start },
		func(t *trading.Trade) { t.ClosedAt = start },
		func(t *trading.Trade) { t.ClosedAt = start.Add(time.Millisecond) },
	} {
		other := tradeNo(1)
		change(&other)
		before, known := seen[keyOf(&other)]
		assert.False(t, known, "%d is like %d", i, before)
		seen[keyOf(&other)] = i
	}
}

// A loop of any speed is told each trade, until it is thousands behind, and then it is
// told so.
func TestTradeLog(t *testing.T) {
	var log tradeLog
	slow := log
	for i := range 2 * logSize {
		before := log
		log = log.add(listOf(i))
		trades, _, missing := log.since(before)
		require.Equal(t, []int{i}, numbers(trades))
		require.False(t, missing)
	}
	trades, _, missing := log.since(slow)
	assert.Len(t, trades, 2*logSize)
	assert.False(t, missing)
	middle := log
	log = log.add(listOf(1, 2, 3))
	trades, _, missing = log.since(slow)
	assert.Len(t, trades, logSize)
	assert.True(t, missing)
	trades, _, missing = log.since(middle)
	assert.Equal(t, []int{1, 2, 3}, numbers(trades))
	assert.False(t, missing)
	assert.Equal(t, []int{2*logSize - 1}, numbers(middle.rows[len(middle.rows)-1:]), "what a loop holds is not changed")

	anew := log.beginAnew().add(listOf(9))
	trades, before, _ := anew.since(middle)
	assert.Equal(t, []int{1, 2, 3, 9}, numbers(trades))
	assert.Equal(t, 3, before)
}

// Random trading behind a list of random length: as long as no hole is told, exactly
// what was closed is told; and never more.
func FuzzTrades(f *testing.F) {
	f.Add(uint64(1), uint8(3), []byte{1, 0, 2, 3, 1, 9, 0, 0, 4})
	f.Add(uint64(2), uint8(0), []byte{255, 3, 7, 7, 7, 1})
	f.Add(uint64(3), uint8(200), []byte{0, 0, 1, 130, 131, 2, 5, 128})
	f.Fuzz(func(t *testing.T, seed uint64, rows uint8, history []byte) {
		random := rand.New(rand.NewPCG(seed, 1))
		limit := int(rows%20) + 2
		var l ledger
		var closed, told []int // oldest first
		var copies [][]int
		holes := 0
		at := start
		l.list(at, nil)
		for _, b := range history {
			at = at.Add(time.Second)
			for range b % 8 {
				closed = append(closed, len(closed)) // all differ
			}
			shown := slices.Clone(closed[max(0, len(closed)-limit):])
			slices.Reverse(shown)
			copies = append(copies, shown)
			if b >= 128 { // a cache that is some seconds behind
				shown = copies[max(0, len(copies)-1-random.IntN(5))]
			}
			fresh := l.list(at, listOf(shown...))
			told = append(told, numbers(fresh.trades)...)
			if fresh.hole != "" {
				holes++
			}
		}
		seen := map[int]bool{}
		for _, n := range told {
			if seen[n] {
				t.Fatalf("told twice: %d", n)
			}
			seen[n] = true
		}
		if len(history) > 0 && history[len(history)-1] < 128 && holes == 0 && len(told) != len(closed) {
			t.Fatalf("%d of %d were told, and no hole", len(told), len(closed))
		}
	})
}

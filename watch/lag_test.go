package watch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// seen is a reading some seconds after the start.
func seen(seconds int, positions trading.Positions, trades []trading.Trade) *reading {
	return &reading{
		at: start.Add(time.Duration(seconds) * time.Second), held: true, listed: true,
		state:     trading.AccountState{ID: "acc_1", Environment: trading.EnvLive, Status: trading.StatusActive},
		positions: positions, trades: trades,
	}
}

// Positions and trades are two reads, and either can be ahead. A trade that shows first
// still comes with its position; one that shows later is told by itself; one of long ago
// is of something else.
func TestPositionsAndTradesComeInAnyOrder(t *testing.T) {
	held := trading.Positions{{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1")}}
	for _, test := range []struct {
		name     string
		readings []*reading
		trades   []int
		cause    Cause
	}{
		{"together", []*reading{seen(0, held, nil), seen(2, nil, listOf(1))}, []int{1}, CauseMarket},
		{"the trade first", []*reading{seen(0, held, nil), seen(2, held, listOf(1)), seen(4, nil, listOf(1))}, []int{1}, CauseMarket},
		{"the trade later", []*reading{seen(0, held, nil), seen(2, nil, nil), seen(4, nil, listOf(1))}, nil, CauseUnknown},
		{"a trade of long ago", []*reading{seen(0, held, nil), seen(2, held, listOf(1)), seen(20, held, listOf(1)), seen(22, nil, listOf(1))}, nil, CauseUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &accountSource{}
			var before *accountLook
			var closed []PositionClosed
			told := 0
			for _, r := range test.readings {
				is := s.follow(before, r)
				if before != nil {
					for _, ev := range is.since(before) {
						switch ev := ev.(type) {
						case PositionClosed:
							closed = append(closed, ev)
						case TradeClosed:
							told++
						}
					}
				}
				before = is
			}
			require.Len(t, closed, 1)
			assert.Equal(t, test.trades, numbers(closed[0].Trades))
			assert.Equal(t, test.cause, closed[0].Cause)
			if test.name == "the trade later" {
				assert.Equal(t, 1, told)
			}
		})
	}
}

// A loop that joins while an older copy of the list is read is told what the newer one
// had: it will not be told again.
func TestWhoJoinsAtAnOlderCopyIsToldAll(t *testing.T) {
	s := &accountSource{}
	first := s.follow(nil, seen(0, nil, listOf(3, 2, 1)))
	older := s.follow(first, seen(2, nil, listOf(1)))
	trades := 0
	for _, ev := range older.since(nil) {
		if _, is := ev.(TradeClosed); is {
			trades++
		}
	}
	assert.Equal(t, 3, trades)
	assert.Empty(t, older.since(first))
	assert.Empty(t, s.follow(older, seen(4, nil, listOf(3, 2, 1))).since(older))
}

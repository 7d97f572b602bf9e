package watch

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
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

// A limit whose record shows less than before was filled in part: it is a fill of that part, and
// rests on. An older copy of the list that shows it again as it was is none.
func TestAPartOfALimitIsFilled(t *testing.T) {
	client, err := trading.New("https://service.example.com/v1", trading.WithLiveKey("pk_live_x"))
	require.NoError(t, err)
	defer client.Close()
	s := Fills(client.Live.Account("acc_1")).open().(*fillSource)
	limit := func(size string) trading.RestingOrder {
		return trading.RestingOrder{ID: "ord_1", Symbol: "BTC", Side: trading.Long, Size: trading.Some(trading.Dec(size)), LimitPrice: trading.Some(trading.Dec("100"))}
	}
	at := time.Unix(1_700_000_000, 0)
	look := func(held, balance string, limits ...trading.RestingOrder) []Event {
		at = at.Add(2 * time.Second)
		s.numbers++
		is := shot{number: s.numbers, at: at, balance: trading.Dec(balance)}
		if held != "" {
			is.positions = trading.Positions{{Symbol: "BTC", Side: trading.Long, Size: trading.Dec(held), EntryPrice: trading.Dec("100")}}
		}
		s.shots = append(s.shots, is)
		s.miss(at, limits)
		events := s.explain(at)
		s.limits = limits
		return events
	}
	for range 6 {
		require.Empty(t, look("", "1000", limit("5")))
	}
	events := look("2", "999.97", limit("3"))
	require.Len(t, events, 1)
	part := events[0].(LimitFilled)
	assert.True(t, part.Rests)
	assert.True(t, part.Size.Equal(decimal.NewFromInt(2)))
	assert.Equal(t, "0.03", mustGet(t, part.Fee).String())

	events = look("5", "999.925")
	require.Len(t, events, 1)
	rest := events[0].(LimitFilled)
	assert.False(t, rest.Rests)
	assert.True(t, rest.Size.Equal(decimal.NewFromInt(3)))

	require.Empty(t, look("5", "999.925", limit("3")), "an older copy")
	for range 10 {
		require.Empty(t, look("5", "999.925"), "it is explained already")
	}
}

// One that a look missed, and that shows again, rests.
func TestALimitThatShowsAgainRests(t *testing.T) {
	s := Fills(&trading.Account{}).open().(*fillSource)
	o := trading.RestingOrder{ID: "ord_1", Symbol: "BTC", Side: trading.Long, Size: trading.Some(trading.Dec("1")), LimitPrice: trading.Some(trading.Dec("100"))}
	s.limits = []trading.RestingOrder{o}
	s.miss(time.Unix(0, 0), nil)
	require.Len(t, s.gone["BTC"], 1)
	s.limits = nil
	s.miss(time.Unix(2, 0), []trading.RestingOrder{o})
	require.Empty(t, s.gone)
}

func mustGet(t *testing.T, n trading.Opt[decimal.Decimal]) decimal.Decimal {
	t.Helper()
	d, ok := n.Get()
	require.True(t, ok)
	return d
}

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// short are some runs of an experiment: each strategy once, over changing markets, jumps
// and faults.
func short(e experiment) (all []scenario) {
	for i := range e.strategies {
		for _, m := range e.modes {
			all = append(all, scenario{Strategy: i, Market: (i + 1) % len(kinds), Jump: i % len(jumps), Fault: i % len(faults), Seed: 1, Mode: m})
		}
	}
	return all
}

// play makes runs of half an hour.
func play(t *testing.T, all []scenario) (found []result) {
	t.Helper()
	for _, s := range all {
		synctest.Test(t, func(*testing.T) { found = append(found, s.run(1800)) })
	}
	return found
}

// TestSurvival: with protection no account is lost within the assumed shock, and the
// harness and the service agree about every balance.
func TestSurvival(t *testing.T) {
	for _, s := range []settings{{seeds: 1, length: 1800}, {seeds: 1, length: 1800, unaware: true}} {
		e := s.experiment()
		found := play(t, short(e))
		for _, r := range found {
			require.Empty(t, r.Err, r.String())
			require.True(t, r.Balanced, r.String())
			if (r.Mode == loopAndGuard || r.Mode == behindSidecar) && jumps[r.Jump] <= 50 {
				require.False(t, r.Lost, r.String())
			}
			if r.Mode == guardAlone {
				require.False(t, held(r.State), r.String())
			}
		}
		text := table(found, s)
		require.Contains(t, text, fmt.Sprintf("%d runs in each of %d modes", e.strategies, len(e.modes)))
		require.Equal(t, len(found)+1, strings.Count(csvOf(found), "\n"))
		require.Equal(t, strings.Count(picture(found, e), "<text"), strings.Count(picture(found, e), "</text>"))
	}
}

// TestWhatASidecarRefuses: a bot behind it that enters again after each flatten, and one that leaves
// by opposite orders, are refused while the account is held, and it is not flattened for them again.
func TestWhatASidecarRefuses(t *testing.T) {
	for _, strategy := range []int{0, 7} {
		s := scenario{Strategy: strategy, Market: 0, Jump: 4, Fault: 3, Seed: 1, Mode: behindSidecar}
		r := play(t, []scenario{s})[0]
		require.Empty(t, r.Err, r.String())
		require.True(t, r.Balanced, r.String())
		require.Equal(t, protect.Held, r.State, r.String())
		require.Positive(t, r.Refused, r.String())
		require.NotContains(t, r.Why, "was found while the account was held")
	}
}

// TestSameSeedSameRun, with protection or a part of it, and a service in trouble.
func TestSameSeedSameRun(t *testing.T) {
	for m, fault := range map[mode]int{guardAlone: 2, loopAlone: 1, loopAndGuard: 3} {
		s := []scenario{{Strategy: 2, Market: 1, Jump: 4, Fault: fault, Seed: 7, Mode: m}}
		once, err := json.Marshal(play(t, s))
		require.NoError(t, err)
		again, err := json.Marshal(play(t, s))
		require.NoError(t, err)
		require.Equal(t, string(once), string(again))
	}
}

// TestJudge works a run out by hand: 4 BTC at $50,000 cost $90, and $1,230 less a coin
// leave $94,990.
func TestJudge(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	prices := func(usd ...int64) *path {
		p := &path{start: start, prices: map[string][]int64{}}
		for _, one := range usd {
			p.prices["BTC"] = append(p.prices["BTC"], one*priceUnit)
			p.prices["ETH"] = append(p.prices["ETH"], 2000*priceUnit)
		}
		return p
	}
	buy := tradingsim.Execution{
		At: start, Account: account, Symbol: "BTC", Side: "long", Filled: true,
		Size: dollars(4 * priceUnit), Price: dollars(50_000 * priceUnit),
	}
	lost := judge(prices(50_000, 50_000, 48_770, 60_000), []tradingsim.Execution{buy}, false)
	require.True(t, lost.Lost)
	require.Equal(t, "94990", lost.Equity.String())
	require.Equal(t, "jump of 240 bps", lost.Cause)

	lived := judge(prices(50_000, 48_773), []tradingsim.Execution{buy}, false) // two dollars above
	require.False(t, lived.Lost)
	require.Equal(t, "95002", lived.Equity.String())

	passed := judge(prices(50_000, 52_600), []tradingsim.Execution{buy}, false)
	require.True(t, passed.Passed)
}

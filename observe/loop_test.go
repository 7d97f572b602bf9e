package observe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The loop closes: a simulation with a random set of readings is observed, the profile is given to a
// second one, and 20,000 random calls are answered alike by both, where the calls rest on what was
// seen. -short makes 600.
func TestTheLoopCloses(t *testing.T) {
	closeLoop(t, 7, 20, found, func(t *testing.T, opts ...tradingsim.Option) *profile.Profile {
		return Judge(newAsker(t, opts...).run(), about)
	})
}

// The same by asking: a series on accounts that cannot trade, then paper and a trial.
func TestTheLoopClosesByAsking(t *testing.T) {
	closeLoop(t, 8, 8, append(slices.Clone(asksFind), 15, 21, 25, 26, 27, 28, 33, 34, 35, 36, 39, 44, 45, 46, 53, 54, 56, 57), func(t *testing.T, opts ...tradingsim.Option) *profile.Profile {
		s := trader(t, opts...)
		s.series()
		p, e := s.visit(Trial, OnPaper)
		require.Empty(t, e.Ended)
		return p
	})
}

func closeLoop(t *testing.T, stream uint64, sets int, readings []int, observed func(*testing.T, ...tradingsim.Option) *profile.Profile) {
	calls := 20_000
	if brief() {
		calls, sets = 600, min(sets, 9/rarer(1))
	}
	for seed := range sets {
		draw := rand.New(rand.NewPCG(uint64(seed), stream))
		var opts []tradingsim.Option
		var set []int
		for _, number := range readings {
			if draw.IntN(2) == 0 {
				set = append(set, number)
				opts = append(opts, tradingsim.WithInterpretation(number))
			}
		}
		synctest.Test(t, func(t *testing.T) {
			p := observed(t, opts...)
			require.Empty(t, wrong(p, set...))
			second := append([]tradingsim.Option{tradingsim.WithProfile(p)}, hidden(p, set)...)
			a, b := newAsker(t, opts...), newAsker(t, second...)
			for range calls / sets {
				method, path, key, body := randomCall(draw)
				x, y := a.send(method, path, key, body), b.send(method, path, key, body)
				require.Equal(t, x.Status, y.Status, "%v: %s %s %s\n%s\n%s", set, method, path, body, x.Response, y.Response)
				require.True(t, bytes.Equal(mask(x.Response), mask(y.Response)), "%v: %s %s %s\n%s\n%s", set, method, path, body, x.Response, y.Response)
				require.Equal(t, x.Replayed, y.Replayed)
			}
			a.seen, b.seen = nil, nil
		})
	}
}

// hidden are the readings of a set that the profile could not see, because a control is
// otherwise: the second simulation gets them by hand, so that all else can be compared.
func hidden(p *profile.Profile, set []int) (opts []tradingsim.Option) {
	on := tradingsim.Profiled(p)
	for _, number := range set {
		if on[number] == "" {
			opts = append(opts, tradingsim.WithInterpretation(number))
		}
	}
	return opts
}

// randomCall is a call of a bot, with a key of few.
func randomCall(draw *rand.Rand) (method, path, key, body string) {
	key = fmt.Sprintf("key-%d", draw.IntN(400))
	one := func(of ...string) string { return of[draw.IntN(len(of))] }
	account := one(`"accountId":"acc_1",`, `"accountId":"acc_1", `, ``, `"accountId":"acc_9",`)
	symbol := one("BTC", "ETH", "NOPE", "DARK")
	switch draw.IntN(10) {
	case 0:
		return "GET", one("/accounts", "/accounts/acc_1", "/positions?accountId=acc_1", "/trades?accountId=acc_1", "/accounts/acc_1/orders"), "", ""
	case 1:
		return "GET", one("/sandbox/trades", "/sandbox/markets", "/sandbox/positions"), "", ""
	case 2:
		return "POST", "/orders/cancel", key, "{" + account + `"orderId":"` + one("a", "b") + `"}`
	case 3:
		return "POST", "/runs/cancel", key, "{" + account + `"runId":"` + one("a", "b") + `"}`
	case 4:
		return "POST", "/positions/close", key, "{" + account + `"symbol":"` + symbol + `","closePercent":` + one("0.5", "50", "12.5", "101") + "}"
	case 5:
		return "POST", "/orders/limit", key, "{" + account + `"symbol":"` + symbol + `","side":"long","size":0.01,"leverage":2` + one("", `,"limitPrice":60000`) + "}"
	case 6:
		return "POST", "/orders/twap", key, "{" + account + `"symbol":"BTC","side":"long","size":0.05,"leverage":2,"durationMs":1}`
	case 7:
		return "POST", "/sandbox/orders", "", `{"symbol":"` + symbol + `","side":"` + one("long", "short") + `","size":` + one("0.01", "0.02", "0.0100000001") + one("", `,"leverage":2`, `,"takeProfitPrice":null`, `,"orderType":"limit","limitPrice":1,"maxSlippagePct":99`) + "}"
	case 8:
		return "POST", "/sandbox/positions/close", "", one(``, `{"symbol":"BTC"}`, `{"symbol":"BTC","pct":12.5}`, `{"symbol":"ETH","pct":0.5}`)
	default:
		return "POST", "/orders", key, "{" + account + `"symbol":"` + symbol + `","side":"` + one("long", "short") + `","size":0.01,"leverage":2` + one("", `,"reduceOnly":true`) + "}"
	}
}

// mask takes out what differs between two simulations of different moments.
func mask(body []byte) []byte {
	text := string(body)
	for _, name := range []string{`"openedAt":`, `"closedAt":`, `"createdAt":`} {
		for at := strings.Index(text, name); at >= 0; {
			end := strings.IndexAny(text[at:], ",}")
			if end < 0 {
				break
			}
			text = text[:at] + text[at+end:]
			at = strings.Index(text, name)
		}
	}
	return []byte(text)
}

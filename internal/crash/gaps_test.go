package crash

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// What no client can promise, each as its shortest schedule: the contract leaves it
// open. When one of these fails, the promise has become larger.

func plain(lifetime time.Duration, faults ...fault) schedule {
	return schedule{op: market, baseline: readBefore, sole: true, lifetime: lifetime, tries: faults, kill1: 1}
}

func gap(t *testing.T, s schedule, executed int, check func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(s)
		w.play(0)
		for _, d := range w.decisions() {
			if n := w.executedEver(d.keys[0]); n != executed {
				t.Errorf("executed %d times, want %d", n, executed)
			}
		}
		check(w)
		for _, p := range w.problems {
			t.Error(p)
		}
		time.Sleep(time.Hour)
	})
}

// A 5xx after the work, whose answer is lost, is not stored: the resend that the
// contract advises runs again. With a lifetime of 0 there is none.
func TestGapFailedAfterTheWork(t *testing.T) {
	lost := fault{name: "500 after, lost", worked: true,
		fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse())}
	gap(t, plain(time.Minute, lost), 2, func(w *world) {
		if !w.double {
			t.Error("not counted as what the contract leaves open")
		}
	})
	gap(t, plain(0, lost), 1, func(*world) {})
}

// A request that was refused in front of its key, and is repeated later by something
// on the way, runs although its refusal was told: nothing is stored under the key.
func TestGapACopyOfAnUnstoredRefusal(t *testing.T) {
	copied := fault{name: "a copy 1m later", fault: tradingsim.Together(tradingsim.RateLimit(time.Hour), tradingsim.LateCopy(time.Minute))}
	gap(t, plain(time.Minute, copied), 1, func(w *world) {
		if !w.copyUnstored {
			t.Error("not counted as a copy of what was refused")
		}
	})
}

// A request that executed and failed in a 5xx while its fence met it in flight has
// a key that is free again: a copy of it, repeated by something on the way, runs.
func TestGapACopyOfWhatFailedAfterTheWork(t *testing.T) {
	slow := fault{name: "500 after 8s of work", worked: true,
		fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.Delay(8*time.Second))}
	gap(t, plain(0, slow), 2, func(w *world) {
		if !w.copyDouble {
			t.Error("not counted as a copy of what failed")
		}
	})
}

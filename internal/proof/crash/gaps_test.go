package crash

import (
	"testing"
	"time"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// What no client can promise, each as its shortest schedule. When one of these fails,
// the promise has become larger.
func TestNamedExceptions(t *testing.T) {
	write := schedule{kind: solo, op: market, ttl: time.Minute, patience: -1, exclusive: true, kill1: 1}
	for _, c := range []struct {
		name     string
		change   func(*schedule)
		excepted string
	}{
		{"a 5xx after the work is lost, and the bytes go again", func(s *schedule) { s.tries = rig.Faults("500 after, lost") }, rig.FailedAfterWork},
		{"not with a TTL of 0", func(s *schedule) { s.tries, s.ttl = rig.Faults("500 after, lost"), 0 }, ""},
		{"a paper request arrives late", func(s *schedule) { s.kind, s.tries, s.patience = paper, rig.Faults("arrives 1m late"), 50*time.Second }, rig.LatePaper},
		{"not a live one", func(s *schedule) { s.tries, s.ttl = rig.Faults("arrives 1m late"), 0 }, ""},
		{"an exit beside a broken disk", func(s *schedule) { s.op, s.held, s.disk = closing, position, 1 }, rig.BrokenDisk},
		{"the same under an id, and a 5xx that nobody hears: the next take is the first that the journal has", func(s *schedule) {
			s.op, s.held, s.disk, s.ttl, s.patience = closing, position, 1, 0, 0
			s.named, s.repeat, s.kill1, s.away = true, true, 0.79, 5*time.Second
			s.tries = rig.Faults("500 after, hidden by a page")
		}, rig.BrokenDisk},
		{"not an entry", func(s *schedule) { s.disk = 1 }, ""},
		{"an exit beside a journal that hangs", func(s *schedule) { s.op, s.held, s.stopAt, s.stopFor = closing, position, 1, 10*time.Second }, rig.BrokenDisk},
		{"nor an entry that waits for it", func(s *schedule) { s.looks, s.stopAt, s.stopFor = true, 13, 10*time.Second }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := write
			c.change(&s)
			var w *world
			for range 10 { // the read beside an exit is another goroutine's: the kill is now and then a step off
				w = playOne(t, s)
				for _, p := range w.problems {
					t.Error(p)
				}
				if w.Excepted[c.excepted] > 0 || c.excepted == "" {
					break
				}
			}
			if c.excepted != "" && w.Excepted[c.excepted] == 0 || c.excepted == "" && len(w.Excepted) > 0 {
				t.Errorf("excepted are %v, want %q", w.Excepted, c.excepted)
			}
		})
	}
}

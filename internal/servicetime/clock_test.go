package servicetime

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// heard has a clock hear the service's time, which is so far from this machine's, in an answer
// that took a while.
func heard(c *Clock, skew, took time.Duration) {
	sent := time.Now()
	time.Sleep(took)
	now := time.Now()
	c.Hear(now.Add(skew).UTC().Format(http.TimeFormat), sent, now)
}

// The service's time goes on from its last Date, whatever this machine's clock shows.
func TestTheClock(t *testing.T) {
	for _, skew := range []time.Duration{0, 50 * time.Millisecond, 3 * time.Second, -3 * time.Second, 10 * time.Second, -10 * time.Second, time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var c Clock
			began := time.Now()
			assert.True(t, c.At(began).IsZero(), "nothing is known yet")
			for range 20 {
				time.Sleep(777 * time.Millisecond)
				heard(&c, skew, 300*time.Millisecond)
				now := time.Now()
				off, known := c.At(now).Since(Shown(now.Add(skew)))
				assert.True(t, known)
				assert.LessOrEqual(t, off.Abs(), Tolerance, "%s", skew)
				then, _ := c.At(now).Since(c.At(began))
				assert.Equal(t, now.Sub(began).Truncate(time.Millisecond), then, "moments before the first answer, too")
			}
			assert.True(t, c.At(time.Time{}).IsZero())
			assert.False(t, c.Wrong())
		})
	}
}

// An answer that contradicts those before ends what is known: which is right is not known.
func TestAnswersThatContradict(t *testing.T) {
	for _, row := range []struct {
		name  string
		after time.Duration // the answer before
		skew  time.Duration // against that
		wrong bool
	}{
		{"the next second", time.Second, 0, false},
		{"a second late", time.Second, -time.Second, false},
		{"kept by a cache for long", time.Minute, -time.Hour, true},
		{"kept by a cache for 12 s", 20 * time.Second, -12 * time.Second, true},
		{"the same again", 12 * time.Second, -12 * time.Second, true},
		{"set back", time.Minute, -5 * time.Second, true},
		{"set forward", time.Minute, 6 * time.Second, true},
		{"a day without one, by clocks that run apart", 24 * time.Hour, 40 * time.Second, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c Clock
				heard(&c, 0, 0)
				time.Sleep(row.after)
				heard(&c, row.skew, 0)
				assert.Equal(t, row.wrong, c.Wrong())
				assert.Equal(t, row.wrong, c.At(time.Now()).IsZero())
				time.Sleep(time.Second)
				heard(&c, row.skew, 0)
				assert.Equal(t, row.wrong, c.Wrong(), "for good")
			})
		})
	}
}

// What takes long, says nothing or cannot be read sets no clock.
func TestAnswersThatSayNothingOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		for _, date := range []string{"", "soon", "2026-01-02T03:04:05Z", "Thu, 01 Jan 1970 00:00:00 GMT"} {
			c.Hear(date, time.Now(), time.Now())
			assert.True(t, c.At(time.Now()).IsZero(), date)
		}
		heard(&c, 0, quick+time.Millisecond)
		assert.True(t, c.At(time.Now()).IsZero())
		heard(&c, 0, quick)
		assert.False(t, c.At(time.Now()).IsZero())
	})
}

// The clock of the closed trades may be another than that of the Dates: how far they are
// apart is known from trades of this program's, or no time of a trade is held against a Date.
func TestTheClockOfTheTrades(t *testing.T) {
	for _, skew := range []time.Duration{0, -4 * time.Second, 4 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var c Clock
			now := time.Now()
			c.Closed(Shown(now.Add(skew)), now, now)
			heard(&c, 0, 0)
			assert.True(t, c.TradesFrom(c.At(now)).IsZero(), "nothing is known of it")
			for range 3 {
				time.Sleep(time.Minute)
				now = time.Now()
				c.Closed(Shown(now.Add(skew)), now.Add(-time.Second), now.Add(time.Second))
				closed := Shown(now.Add(skew))
				assert.True(t, c.TradesFrom(c.At(now)).Before(closed), "%s", skew)
				off, _ := closed.Since(c.TradesFrom(c.At(now)))
				assert.LessOrEqual(t, off, 2*Tolerance+time.Second)
			}
			assert.True(t, c.TradesFrom(Time{}).IsZero())
			c.Closed(Shown(now.Add(skew+time.Minute)), now, now)
			assert.True(t, c.TradesFrom(c.At(now)).IsZero(), "they contradict each other")
		})
	}
}

// A moment that was kept without its monotonic reading is taken by the wall clock.
func TestAMomentOfTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		heard(&c, time.Hour, 0)
		kept := time.Now().Add(-time.Minute).Round(0)
		assert.Equal(t, c.At(time.Now()).Add(-time.Minute), c.At(kept))
	})
}

// FuzzDate: whatever a header says, the clock knows a time near it or none, and what two
// answers say is within their tolerance or ends it.
func FuzzDate(f *testing.F) {
	for _, text := range []string{
		"", "Fri, 02 Jan 2026 12:00:00 GMT", "Friday, 02-Jan-26 12:00:00 GMT", "Fri Jan  2 12:00:00 2026", "Thu, 01 Jan 1970 00:00:00 GMT",
		"Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Sat, 29 Feb 2025 12:00:00 GMT", "Fri, 02 Jan 2026 12:00:60 GMT", "\xff",
	} {
		f.Add(text, "Fri, 02 Jan 2026 12:00:01 GMT", int64(1000))
	}
	f.Fuzz(func(t *testing.T, first, second string, ms int64) {
		var c Clock
		passed := time.Duration(ms%int64(100*24*time.Hour/time.Millisecond)) * time.Millisecond
		c.Hear(first, noon, noon)
		one := c.At(noon)
		assert.Equal(t, parseDate(first), one)
		c.Hear(second, noon.Add(passed), noon.Add(passed))
		two, said := c.At(noon.Add(passed)), parseDate(second)
		if c.Wrong() {
			assert.True(t, two.IsZero())
			return
		}
		if !said.IsZero() && !one.IsZero() {
			off, known := two.Since(one)
			assert.True(t, known)
			assert.LessOrEqual(t, (off - passed).Abs(), Tolerance+passed.Abs()/drift)
		}
	})
}

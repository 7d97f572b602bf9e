package resolve

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Clock is a client's clocks: wall, monotonic, and the service's by its last Date.
type Clock struct {
	began time.Time

	mu      sync.Mutex
	date    string    // the last Date header
	service time.Time // what it said
	heard   time.Time // when
}

func newClock() *Clock { return &Clock{began: time.Now()} }

// Now is the moment by all of them.
func (c *Clock) Now() ledger.Instant { return c.At(time.Now()) }

// At is a moment of this process by all of them.
func (c *Clock) At(t time.Time) ledger.Instant {
	i := ledger.Instant{Wall: t.Round(0), Mono: t.Sub(c.began)}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := t.Sub(c.heard)
	if !c.service.IsZero() && (t.Round(0).Sub(c.heard.Round(0))-passed).Abs() <= ledger.ClocksAgree {
		i.Service = c.service.Add(passed)
	}
	return i
}

// HeardDate takes the Date of the service's own answer.
func (c *Clock) HeardDate(header http.Header, at time.Time) {
	date := header.Get("Date")
	c.mu.Lock()
	defer c.mu.Unlock()
	if date == "" || date == c.date {
		return // of the same second: what is known is older, and as good
	}
	said, ok := parseDate(date)
	if !ok {
		return
	}
	c.date, c.service, c.heard = date, said, at
}

// parseDate reads a Date header. The one form that services send costs a tenth of what
// package net/http takes for it.
func parseDate(text string) (time.Time, bool) {
	if at, ok := parseUsualDate(text); ok {
		return at, true
	}
	at, err := http.ParseTime(text)
	return at, err == nil
}

// parseUsualDate reads http.TimeFormat; it leaves what is not plainly right to others.
func parseUsualDate(text string) (at time.Time, ok bool) {
	const form, days, months = "Mon, 02 Jan 2006 15:04:05 GMT", "MonTueWedThuFriSatSun", "JanFebMarAprMayJunJulAugSepOctNovDec"
	if len(text) != len(form) || strings.Index(days, text[:3])%3 != 0 || text[3:5] != ", " || text[7] != ' ' ||
		text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':' || text[25:] != " GMT" {
		return at, false
	}
	month := strings.Index(months, text[8:11])
	var n [6]int
	for i, from := range [...]int{5, 12, 14, 17, 20, 23} {
		tens, ones := text[from]-'0', text[from+1]-'0' // below '0' they are large
		if tens > 9 || ones > 9 {
			return at, false
		}
		n[i] = int(tens)*10 + int(ones)
	}
	if month%3 != 0 || n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return at, false
	}
	at = time.Date(n[1]*100+n[2], time.Month(month/3+1), n[0], n[3], n[4], n[5], 0, time.UTC)
	return at, at.Day() == n[0]
}

// until is how long it takes to a moment of this process.
func (c *Clock) until(at time.Duration) time.Duration { return max(at-time.Since(c.began), 0) }

package tradingsim

import (
	"net/http"
	"time"
)

// httpDate writes times as the header Date has them. It remembers the day, of which
// nearly all answers are that of the one before.
type httpDate struct {
	day    int64  // since 1970
	prefix string // such as "Sat, 01 Jan 2000 "; empty before the first
}

func (d *httpDate) text(t time.Time) string {
	const secondsADay = 24 * 60 * 60
	unix := t.Unix()
	if unix < 0 {
		return t.UTC().Format(http.TimeFormat)
	}
	if day := unix / secondsADay; d.prefix == "" || day != d.day {
		d.day, d.prefix = day, t.UTC().Format("Mon, 02 Jan 2006 ")
	}
	second := int(unix % secondsADay)
	room := make([]byte, 0, 32)
	room = append(room, d.prefix...)
	room = append(appendTwo(room, second/3600), ':')
	room = append(appendTwo(room, second/60%60), ':')
	room = append(appendTwo(room, second%60), " GMT"...)
	return string(room)
}

// appendTwo appends a number of two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Instant is one moment by every clock there is. Its JSON is an array of
// milliseconds, in the order of the fields.
type Instant struct {
	// Wall is this machine's wall clock, without a monotonic reading.
	Wall time.Time
	// Mono is how long the process has run.
	Mono time.Duration
	// Service is the service's clock, as far as it is known.
	Service servicetime.Time
}

// maxMono is longer than any process runs, and leaves room to reckon with.
const maxMono = 100 * 365 * 24 * time.Hour

// MarshalJSON implements [json.Marshaler].
func (i Instant) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, 48), '[')
	text = strconv.AppendInt(text, milli(i.Wall), 10)
	text = strconv.AppendInt(append(text, ','), i.Mono.Milliseconds(), 10)
	text = strconv.AppendInt(append(text, ','), i.Service.UnixMilli(), 10)
	return append(text, ']'), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (i *Instant) UnmarshalJSON(text []byte) error {
	var ms [2]int64
	var service servicetime.Time
	if err := json.Unmarshal(text, &[3]any{&ms[0], &ms[1], &service}); err != nil {
		return err
	}
	if ms[1] < 0 || ms[1] > int64(maxMono/time.Millisecond) {
		return fmt.Errorf("ledger: the process's run time must be 0 to %d ms, not %d", maxMono/time.Millisecond, ms[1])
	}
	*i = Instant{Wall: fromMilli(ms[0]), Mono: time.Duration(ms[1]) * time.Millisecond, Service: service}
	return nil
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// agree reports whether wall and monotonic clock of one process ran alike.
func agree(then, now Instant) bool {
	return (now.Wall.Sub(then.Wall) - (now.Mono - then.Mono)).Abs() <= ClocksAgree
}

// since is how long ago a moment of this process was, by the clock that ran further:
// the wall clock can be set back, and the monotonic one stands still while the machine
// sleeps.
func since(then, now Instant) time.Duration {
	return max(now.Mono-then.Mono, now.Wall.Sub(then.Wall))
}

package backtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Maker makes a bot from the history that it may know, such as prices to warm up with.
type Maker func(history *Data) Bot

// LookaheadCheck fails the test if the bot knows what has not happened yet. It runs the bot
// with the whole history, and for each cut once more with the history until then alone; in
// both the market is the same. A request before the cut that differs in one byte is a
// look ahead. Without cuts there are five, each inside a candle: a bot that takes the close
// of a candle at its opening is found as well.
//
// It finds what the bot takes from the history that it is given. Prices that come from the
// client are never ahead of the clock. A bot that takes no candles of that history cannot be
// checked: that is [ErrNothingChecked]. Last it runs the bot on mirrored prices, where what rose
// falls, with the mirrored history. A bot that places the same orders there knows prices from
// somewhere else, such as the file, or trades without looking at any.
func LookaheadCheck(t *testing.T, bot Maker, c Config, cuts ...time.Time) {
	t.Helper()
	if err := lookahead(t, bot, c, cuts); err != nil {
		t.Fatal(err)
	}
}

// LookaheadCheck is [LookaheadCheck] in a program.
func (r *Runner) LookaheadCheck(bot Maker, c Config, cuts ...time.Time) error {
	return lookahead(r.t, bot, c, cuts)
}

// ErrNothingChecked is that a bot uses no history that it is given, so that no cut of it can
// show anything.
var ErrNothingChecked = errors.New("backtest: the bot uses no history of the client or of the check: nothing was checked")

func lookahead(t *testing.T, bot Maker, c Config, cuts []time.Time) error {
	p, err := c.plan()
	if err != nil {
		return err
	}
	p.in = p.insides()[0]
	if len(cuts) == 0 {
		cuts = p.cuts()
	}
	for _, at := range cuts {
		if !at.After(p.From) || !at.Before(p.To) {
			return fmt.Errorf("backtest: a cut at %s is not inside the run, from %s to %s", at.Format(time.RFC3339), p.From.Format(time.RFC3339), p.To.Format(time.RFC3339))
		}
	}
	var asked atomic.Bool
	given := *p.Data
	given.asked = &asked
	whole, err := p.record(t, bot(&given), p.To)
	if err != nil {
		return err
	}
	for _, at := range cuts {
		cut, err := p.record(t, bot(p.Data.Until(at)), at)
		if err != nil {
			return err
		}
		i, same := compare(whole, cut, at)
		if same {
			continue
		}
		// The whole run again: up to the cut a bot that throws dice may do the same by chance.
		again, err := p.record(t, bot(p.Data), p.To)
		if err != nil {
			return err
		}
		if k, same := compare(whole, again, p.To); !same {
			return fmt.Errorf("backtest: the bot does not do the same twice, so nothing can be said of looking ahead: request %d is once %s, and once %s", k+1, whole.text(k), again.text(k))
		}
		return fmt.Errorf("backtest: the bot looks ahead: with the history until %s alone, request %d is another: with the whole history %s, without %s", at.UTC().Format(time.RFC3339), i+1, whole.text(i), cut.text(i))
	}
	mirror := p
	mirror.Data = p.Data.mirrored()
	turned, err := mirror.record(t, bot(mirror.Data), p.To)
	if err != nil {
		return err
	}
	if a, b := whole.writes(), turned.writes(); len(a.sent) > 0 && sameWrites(a, b) == nil && sameTimes(a, b) {
		return fmt.Errorf("backtest: on mirrored prices, where what rose falls, the bot places the same %d orders: it trades on something else than the prices that it is given", len(a.sent))
	}
	if !asked.Load() {
		return ErrNothingChecked
	}
	return nil
}

// cuts are five moments inside candles, spread over the run.
func (p plan) cuts() []time.Time {
	const n = 5
	list := make([]time.Time, n)
	for i := range list {
		at := p.From.Add(p.To.Sub(p.From) / (n + 1) * time.Duration(i+1)).Truncate(time.Second)
		if bar := p.Data.series[0].interval; bar > 0 {
			first := time.Unix(0, p.Data.series[0].rows[0].at)
			at = first.Add(at.Sub(first).Truncate(bar) + (bar * 3 / 4).Truncate(time.Second))
			if !at.Before(p.To) {
				at = at.Add(-bar)
			}
			if !at.After(p.From) {
				at = p.From.Add(time.Second)
			}
		}
		list[i] = at
	}
	return list
}

// record runs a bot until a time, and returns what it sent. The deadline that the bot sees
// is that of the whole run.
func (p plan) record(t *testing.T, bot Bot, until time.Time) (*recorder, error) {
	p.cancelAt = until
	r := newRecorder(p.To)
	_, err := p.inBubble(t, bot, r)
	return r, err
}

// recorder notes every request. Most are alike, so it keeps each text once.
type recorder struct {
	next  http.RoundTripper
	until time.Time // what is sent later is not noted

	mu    sync.Mutex
	ids   map[string]int32
	texts []string
	sent  []sent
}

type sent struct {
	at   int64
	text int32
}

func newRecorder(until time.Time) *recorder {
	return &recorder{until: until, ids: map[string]int32{}}
}

// RoundTrip notes method, address and body. Headers are left out: an idempotency key is
// another each time.
func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	if !time.Now().Before(r.until) {
		return r.next.RoundTrip(q)
	}
	text := q.Method + " " + q.URL.RequestURI()
	if q.Body != nil {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		_ = q.Body.Close()
		q = q.Clone(q.Context())
		q.Body = io.NopCloser(bytes.NewReader(body))
		text += " " + string(body)
	}
	r.note(text)
	return r.next.RoundTrip(q)
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.ids[text]
	if !ok {
		id = int32(len(r.texts))
		r.ids[text] = id
		r.texts = append(r.texts, text)
	}
	r.sent = append(r.sent, sent{time.Now().UnixNano(), id})
}

// writes are the requests that change something, each as often as the bot sent it: the client's
// own reads and repetitions come at random moments.
func (r *recorder) writes() *recorder {
	w := &recorder{texts: r.texts}
	for _, one := range r.sent {
		last := len(w.sent) - 1
		read := strings.HasPrefix(r.texts[one.text], "GET ")
		if read || last >= 0 && w.sent[last].text == one.text && one.at-w.sent[last].at < int64(10*time.Second) {
			continue
		}
		w.sent = append(w.sent, one)
	}
	return w
}

// sameTimes reports whether two lists of the same length were sent at the same times, but for the
// client's waits.
func sameTimes(a, b *recorder) bool {
	for i := range a.sent {
		if d := a.sent[i].at - b.sent[i].at; max(d, -d) > int64(10*time.Second) {
			return false
		}
	}
	return true
}

// text is a request, for an error.
func (r *recorder) text(i int) string {
	if i >= len(r.sent) {
		return "none"
	}
	return fmt.Sprintf("at %s: %.300q", time.Unix(0, r.sent[i].at).UTC().Format(time.DateTime), r.texts[r.sent[i].text])
}

// compare finds the first request before a time that differs.
func compare(a, b *recorder, before time.Time) (i int, same bool) {
	end := before.UnixNano()
	for ; ; i++ {
		moreA := i < len(a.sent) && a.sent[i].at < end
		moreB := i < len(b.sent) && b.sent[i].at < end
		switch {
		case !moreA && !moreB:
			return i, true
		case moreA != moreB, a.sent[i].at != b.sent[i].at, a.texts[a.sent[i].text] != b.texts[b.sent[i].text]:
			return i, false
		}
	}
}

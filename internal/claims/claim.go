// Package claims counts what the writes of a program may still do to an account, so that a bound of
// what it holds is kept while the outcomes of some are not known.
//
// A write claims before its first byte is sent. What reads show may be older than they are by a
// lag, of each read another: an order can be gone from the open orders before its fill is in the
// positions. So a claim ends
//
//   - at once, when the write is known not to be carried out;
//   - of an order that is executed at once, by a look that began a lag after it was known to be
//     carried out;
//   - of what waits with the service, by a look that does not show it and began a lag after the
//     end of the first one without it, however long ago it was placed;
//   - of a write whose outcome nobody finds out, as if it were carried out when nothing of it can
//     arrive any more.
//
// Until then it counts whole, but for what a look, that began a lag ago, has shown to be filled. A partial
// fill that does not say so counts twice. An exit, a cancel and an opposite position take nothing
// off but what the positions show. An order that was not placed here claims from the first look
// that shows it. Where an answer says how large the position was after an order, that counts in its place:
// the larger of the two is right whichever of them is older, and whoever else trades.
package claims

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

const (
	// Lag is how much older than its request what a read shows may be.
	Lag = 5 * time.Second
	// Gone is how long after the end of its call nothing of a write is carried out any more: the client
	// asks about it for ten minutes, and nothing arrives after half an hour. Of one that an earlier run has
	// left its beginning counts as that end.
	Gone = 45 * time.Minute

	// mostPlaces bounds what it costs to compare a size with another.
	mostPlaces = 40
)

// Claim is what a write, or an order that somebody has placed elsewhere, may still do. All times
// are of one clock that nobody sets.
type Claim[T any] struct {
	// Of is what its user keeps with it.
	Of T

	Symbol string
	Side   trading.Side
	Size   decimal.Decimal
	// Exit means that it only takes away.
	Exit bool
	// Elsewhere means that a look shows it, and its user has not placed it.
	Elsewhere bool
	// Unsized means that how much it may do is not known. Without a symbol it may be in any market.
	Unsized bool

	// Waits means that it leaves an order or a run with the service, and Order is the name of that,
	// once the answer says it.
	Waits bool
	Order string
	// After is how large the position on its side was right after it; zero is not said.
	After decimal.Decimal

	ended   bool          // nothing more of it arrives
	since   time.Duration // when that was
	missing bool          // no look has shown it lately
	from    time.Duration // the end of the first of them

	filled, shown decimal.Decimal // what counts, and what will once a lag is over
	showing       bool
	shownAt       time.Duration
}

// Applied means that it was carried out, as is known at a time.
func (c *Claim[T]) Applied(now time.Duration) { c.ended, c.since = true, now }

// InDoubt means that its call has ended, and its outcome is not known.
func (c *Claim[T]) InDoubt(now time.Duration) { c.Applied(now + Gone) }

// Ended reports whether nothing more of it arrives.
func (c *Claim[T]) Ended(now time.Duration) bool { return c.ended && c.since <= now }

// Age is how long ago nothing more of it could arrive; 0 while it can.
func (c *Claim[T]) Age(now time.Duration) time.Duration {
	if !c.ended {
		return 0
	}
	return max(now-c.since, 0)
}

// Answered takes over what an answer of the service says of it.
func (c *Claim[T]) Answered(body []byte) {
	var answer struct {
		RunID string `json:"runId"`
		Order struct {
			ID string `json:"id"`
		} `json:"order"`
		Position struct {
			Side trading.Side    `json:"side"`
			Size decimal.Decimal `json:"size"`
		} `json:"position"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return // as one that says nothing
	}
	c.Order = cmp.Or(answer.RunID, answer.Order.ID, c.Order)
	after := answer.Position
	if !c.Waits && after.Side == c.Side && max(after.Size.Exponent(), -after.Size.Exponent()) <= mostPlaces {
		c.After = after.Size
	}
}

// Left is what it may still do.
func (c *Claim[T]) Left() decimal.Decimal { return c.Size.Sub(c.filled) }

// due reports whether a look that begins now may show what the last one could not.
func (c *Claim[T]) due(last, now time.Duration) bool {
	switch {
	case !c.ended || now < c.since:
		return false
	case c.missing:
		return now-c.from >= Lag
	default:
		return last < c.since || last-c.since < Lag && now-c.since >= Lag
	}
}

// fills takes over what a look says of how much of it is filled. The positions of that look may not
// have it yet.
func (c *Claim[T]) fills(size decimal.Decimal, l *Snapshot) {
	if c.showing && l.Began-c.shownAt >= Lag {
		c.filled, c.showing = c.shown, false
	}
	if !c.showing && !size.IsNegative() && size.LessThanOrEqual(c.Size) {
		c.shown, c.shownAt, c.showing = size, l.Ended, true
	}
}

// over reports whether a look that does not show it ends it.
func (c *Claim[T]) over(l *Snapshot) bool {
	switch {
	case !c.ended || l.Began-c.since < Lag:
		return false
	case !c.Waits:
		return true
	case !c.missing:
		c.missing, c.from = true, l.Ended
		return false
	default:
		return l.Began-c.from >= Lag
	}
}

package trading

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/wire"
)

// A call from its beginning to its result or its error.

// check refuses the call if anything is wrong with what the caller gave.
func (c *call) check(faults ...*check.Fault) error {
	for _, f := range faults {
		if f != nil {
			return c.refused(local(c.env, f))
		}
	}
	return nil
}

func (c *call) refused(err error) error {
	c.start()
	c.stopped = err
	return c.end()
}

// do carries the call out and decodes its answer into result, which may be nil.
func (c *call) do(result wire.Value) error {
	c.result = result
	c.start()
	if c.stopped == nil && !c.endpoint.Keyless {
		c.stopped = c.core.keyless(c.env)
	}
	switch {
	case c.stopped != nil: // by what the caller got wrong
	case c.write != nil:
		c.carryOut()
	default:
		c.send()
	}
	return c.end()
}

// post sends a request, reads its answer, and shows the books what that says of the account.
func (c *call) post(body []byte, answer wire.Value) error {
	c.body = body
	err := c.do(answer)
	switch answer := answer.(type) {
	case *api.PositionCloseResponse:
		if (err == nil || errors.Is(err, ErrLate)) && !c.last.replayed() { // a replay is of the past
			c.saw(AccountStatus(answer.Status))
		}
	case *api.SandboxResetResponse:
		if c.outcome != NotApplied {
			c.core.books.Reset(paperBook)
		}
	}
	return err
}

// listed carries out a read of a list, and shows the books what it says of the account.
func listed[W, T any, P wire.Record[W]](c *call, rows wire.Rows[W, T, P]) ([]T, error) {
	if err := c.do(&rows); err != nil {
		return nil, err
	}
	c.saw(rows.List)
	return rows.List, nil
}

func only[T any](_ T, err error) error { return err }

func errNoOperation(op Operation) error {
	return invalid("op", "it is %q: it must be an operation of the contract", string(op))
}

// posted carries out a write, unless something is wrong with it, and converts its answer, of which the result
// keeps no part that another answer could be read into.
func posted[W, T any, P wire.Record[W]](c *call, request encoder, convert func(*W, Meta) *T, faults ...*check.Fault) (*T, error) {
	if err := c.check(faults...); err != nil {
		return nil, err
	}
	r, ok := rooms.Get().(*room[W])
	if !ok { // it is of another write, or there is none
		r = new(room[W])
	}
	r.body = request(r.body[:0])
	var result *T
	err := c.post(bytes.Clone(r.body), P(&r.answer))
	if err == nil || errors.Is(err, ErrLate) {
		result = convert(&r.answer, c.meta())
	}
	r.answer = *new(W)
	rooms.Put(r)
	return result, err
}

// room is where a write is encoded, and its answer decoded, for the moment before they are a body and a result.
type room[W any] struct {
	body   []byte
	answer W
}

// rooms are those that no post has. Most programs send one kind of write most of the time.
var rooms sync.Pool

// encoder appends a request as it goes over the wire.
type encoder = func(dst []byte) []byte

// end turns what the call has come to into its result or its error: why the call stopped, how its last attempt
// failed, and what resolving a write came to.
func (c *call) end() error {
	if c.opts.meta != nil {
		m := c.meta()
		m.Intent, m.Settled = c.write.intentID(), c.settled()
		*c.opts.meta = m
	}
	err, found := c.stopped, error(nil)
	if c.write != nil {
		found = c.write.found
	}
	for _, more := range [...]error{c.last.failed, found} {
		if err != nil && more != nil {
			err = fmt.Errorf("%w: %w", err, more)
		} else if more != nil {
			err = more
		}
	}
	if late := err != nil && errors.Is(err, ErrLate); (late || err == nil) && c.result != nil && !c.last.decoded {
		if wrong := wire.Unmarshal(c.last.Body, c.result); wrong != nil {
			err = &DecodeError{Meta: c.meta(), Err: wrong}
		}
	}
	if err != nil {
		err = c.carryOutcome(err)
	}
	c.over(err)
	return err
}

// settled reports whether the last answer is the service's, and is what the call came to.
func (c *call) settled() bool {
	w := c.write
	switch {
	case c.stopped != nil, w != nil && w.found != nil && !errors.Is(w.found, ErrLate):
		return false
	case c.last.class == ledger.Success:
		return w == nil || c.outcome == Applied
	default:
		return c.last.refusal != nil && (c.outcome == NotApplied || w != nil && w.forget) // forget: Unknown is an earlier use of its key, and the refusal is what the call came to
	}
}

// carryOutcome puts the call's outcome into the error, and around it where it is a
// write's or has no room for it.
func (c *call) carryOutcome(err error) error {
	bearer := outcomeBearer(nil)
	bears := errors.As(err, &bearer)
	if bears {
		*bearer.outcomeOfCall() = c.outcome
	}
	switch {
	case c.write != nil:
		return c.write.failed(c.outcome, err)
	case bears:
		return err
	default:
		return readError{err}
	}
}

package trading

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ResolveWithin finds out what became of a write before its call returns, where
// that would be [Unknown]: as the account's Resolve does, in d at the most, and
// within the call's context. It sends and reads by itself, which is why it has to
// be asked for. The error is then about what was found: one that is NotApplied can
// be decided anew, one that is Applied was executed, and its answer is lost.
func ResolveWithin(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d < 0 {
			return invalid("ResolveWithin", "it is %s, and must not be negative", d)
		}
		c.resolveWithin = d
		return nil
	})
}

// resolveNow finds out what became of the call, if it has to and may.
func (c *call) resolveNow() {
	if c.opts.resolveWithin == 0 || c.outcome != Unknown || !c.endpoint.trades || c.Err() != nil {
		return
	}
	r, err := newResolver(c.core, c.opts, nil)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, c.opts.resolveWithin)
	defer cancel()
	v := c.askWhatBecame(ctx, r)
	before := c.failure
	if c.stopped != nil {
		before = errors.Join(c.stopped, before)
	}
	switch v.Outcome {
	case Applied:
		c.failure = fmt.Errorf("it was executed (%s), and its answer is lost: %w", v.Basis, before)
	case NotApplied:
		c.failure = fmt.Errorf("it was not executed and never will be (%s): %w", v.Basis, before)
	default:
		c.failure = fmt.Errorf("%w: %w", before, v.Err)
	}
	c.stopped, c.outcome = nil, v.Outcome
}

func (c *call) askWhatBecame(ctx context.Context, r *resolver) Verdict {
	unknown := c.writeError(Unknown, c.failure)
	if c.env == EnvSandbox {
		v, err := (&Sandbox{&MarketData{caller{c.core, r.opts}}}).Resolve(ctx, unknown)
		if v == nil {
			return Verdict{Err: err}
		}
		return *v
	}
	in, open := c.core.unsettled.find(c.intent)
	if !open {
		return Verdict{Err: ErrUndetermined} // an exit that went out without the journal
	}
	return r.resolve(ctx, in.Intent)
}

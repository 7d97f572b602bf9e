package flatten

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// DefaultProofInterval is the time between the two looks of a proof unless
// [Options.ProofInterval] says otherwise.
const DefaultProofInterval = 5 * time.Second

var (
	// ErrNotFlat is every error of this package after which something may be open:
	// the account was not proven flat.
	ErrNotFlat = errors.New("not proven flat")
	// ErrStuck means that it gave up before its context ended, since nothing that
	// it can send would be accepted. A person has to act.
	ErrStuck = errors.New("nothing more can be done")
)

// Options says what to flatten and how. The zero value flattens everything.
type Options struct {
	// Symbols restricts it to these markets; nil is all of them. A list that is
	// there but empty is refused, since a computed one that came out empty is
	// more likely a mistake than a wish for everything.
	//
	// The contract shows no more of a resting limit or a run than its id. One whose
	// record does not show its symbol may be in one of these markets, so it is
	// cancelled too, which can cost an order in another market and never adds
	// exposure. See LeaveUnnamed.
	Symbols []string

	// LeaveUnnamed leaves alone the limits and runs whose records have no symbol.
	// While there is one, nothing is proven. It means nothing without Symbols.
	LeaveUnnamed bool

	// ProofInterval is the time between the two looks of the proof, and the longest wait
	// between rounds; [DefaultProofInterval] if 0. It has to be longer than reads lag, or
	// the proof is worth less.
	ProofInterval time.Duration

	// Halt, if not nil, is halted before anything else, so that this process adds
	// no exposure meanwhile, and stays so: ending that is the program's decision.
	// It binds this process only. Entries in doubt are resolved all the same, the question
	// for the stored answer included: should it place one, that is closed.
	Halt *trading.Client

	// Urgent cancels and closes at the same time, and looks again while calls hang: no
	// cancel delays a close. What fills between a close and a cancel is closed by the next
	// round, so it can cost one more fee, and nothing else.
	Urgent bool

	// Progress is called after each step, one call at a time. The exit waits until it
	// returns.
	Progress func(Step)

	// Looked is called after each look, one call at a time.
	Looked func(Look)
}

// Account flattens a live account. It works on one that has passed, which accepts
// closes and no entries.
func Account(ctx context.Context, a *trading.Account, o Options) (*Report, error) {
	if a == nil {
		o.halt()
		return newReport(""), fmt.Errorf("flatten: %w: no account was given", ErrNotFlat)
	}
	return o.start(ctx, a.ID(), a, a)
}

// Sandbox flattens the paper account. There, reading fires triggers, so a look can
// close positions by itself, and a pass closes them all.
func Sandbox(ctx context.Context, s *trading.Sandbox, o Options) (*Report, error) {
	if s == nil {
		o.halt()
		return newReport(""), fmt.Errorf("flatten: %w: no sandbox was given", ErrNotFlat)
	}
	return o.start(ctx, "", s, nil)
}

// Inspect looks at a live account once, and changes nothing. The look shows what
// flattening with the same options would cancel and close, or wait for. One look
// that shows nothing is no proof.
func Inspect(ctx context.Context, a *trading.Account, o Options) (*Look, error) {
	if a == nil {
		return nil, errors.New("flatten: no account was given")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	j := newJob(o, a.ID(), a, a)
	look, err := j.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("flatten: account %s: %w", a.ID(), err)
	}
	return &look, nil
}

func (o Options) start(ctx context.Context, id trading.AccountID, t trading.Trader, live *trading.Account) (*Report, error) {
	o.halt() // even if the rest is wrong
	j := newJob(o, id, t, live)
	if err := o.check(); err != nil {
		return j.report, err
	}
	return j.report, j.run(ctx)
}

// halt is the kill switch. A halt that stands keeps its reason.
func (o Options) halt() {
	if o.Halt == nil {
		return
	}
	if _, halted := o.Halt.Halted(); !halted {
		o.Halt.Halt("flatten")
	}
}

func (o Options) check() error {
	wrong := ""
	switch {
	case o.ProofInterval < 0:
		wrong = "ProofInterval is negative"
	case o.Symbols != nil && len(o.Symbols) == 0:
		wrong = "Symbols is empty; nil is every market"
	}
	for _, symbol := range o.Symbols {
		if symbol == "" {
			wrong = "a symbol is empty"
		}
	}
	if wrong != "" {
		return fmt.Errorf("flatten: %w: nothing was sent: %s", ErrNotFlat, wrong)
	}
	return nil
}

func (o Options) interval() time.Duration {
	if o.ProofInterval == 0 {
		return DefaultProofInterval
	}
	return o.ProofInterval
}

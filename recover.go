package trading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Verdict is what became of an intent, and what that rests on.
type Verdict struct {
	// Intent is the write.
	Intent Intent
	// Outcome is Unknown while the evidence does not decide.
	Outcome Outcome
	// Basis is what the outcome rests on.
	Basis Basis
	// Answer is the service's stored answer, where it repeated it.
	Answer json.RawMessage
	// Err is the stored refusal, or why there is no outcome.
	Err error
	// Readings are the looks at the account.
	Readings []Reading
}

// ErrUndetermined is the error of a verdict that the evidence does not decide. The
// intent stays pending: Unknown never decays into failure.
var ErrUndetermined = errors.New("trading: what became of the write cannot be told")

var errRestless = errors.New("the account kept changing while it was looked at")

// Into decodes the service's stored answer: an [*OrderResult], [*CloseResult],
// [*LimitResult] or [*RunResult], as the write would have returned it.
func (v Verdict) Into(result any) error {
	if len(v.Answer) == 0 {
		return errors.New("trading: the verdict has no answer of the service")
	}
	meta := Meta{Operation: v.Intent.Operation, Status: 200, Body: Body(v.Answer), Key: v.Intent.Key, Replayed: true}
	switch result := result.(type) {
	case *OrderResult:
		var answer api.OrderResponse
		if err := wire.Unmarshal(v.Answer, &answer); err != nil {
			return err
		}
		*result = *orderResultOf(&answer, meta)
	case *CloseResult:
		var answer api.ClosePositionResponse
		if err := wire.Unmarshal(v.Answer, &answer); err != nil {
			return err
		}
		*result = *closeResultOf(&answer, meta)
	case *LimitResult:
		var answer api.LimitOrderResponse
		if err := wire.Unmarshal(v.Answer, &answer); err != nil {
			return err
		}
		*result = LimitResult{Order: restingOrderOf(&answer.Order), Meta: meta, Extra: answer.Extra}
	case *RunResult:
		var answer api.RunResponse
		if err := wire.Unmarshal(v.Answer, &answer); err != nil {
			return err
		}
		*result = RunResult{ID: RunID(answer.RunID), Meta: meta, Extra: answer.Extra}
	default:
		return fmt.Errorf("trading: a verdict cannot be read into a %T", result)
	}
	return nil
}

// Recover settles what earlier runs of the program left open for this service. It
// finds out and never places: an order that had not arrived will never arrive. Its
// error is nil exactly if nothing is left open; what is left keeps its symbol
// closed to entries until [Client.Acknowledge].
//
// Call it once at the start, before anything is decided. It takes at least some
// seconds for each intent, since reads lag, and up to a quarter of an hour where
// the service still holds the intent's key.
func (c *Client) Recover(ctx context.Context, opts ...CallOption) ([]Verdict, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	r, err := newResolver(c.core, c.defaults, opts)
	if err != nil {
		return nil, err
	}
	if err := c.core.loadUnsettled(ctx); err != nil {
		return nil, err
	}
	var verdicts []Verdict
	var open []error
	for _, in := range c.core.unsettled.left(c.core.process) {
		verdict := r.resolve(ctx, in)
		verdicts = append(verdicts, verdict)
		if verdict.Outcome == Unknown {
			open = append(open, fmt.Errorf("intent %s, %s %s: %w", in.ID, in.Operation, in.Symbol, verdict.Err))
		}
	}
	return verdicts, errors.Join(open...)
}

// Resolve finds out what became of the write that returned err. Its error is nil
// exactly if that is known. It returns at once where the outcome never was in
// doubt, and it never places, unless told that the order is still wanted: with a
// lifetime above 0 ([WithLifetime]) that has not passed since the write, it first
// sends the same bytes under the same key once more.
func (a *Account) Resolve(ctx context.Context, err error, opts ...CallOption) (*Verdict, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	write := (*WriteError)(nil)
	switch {
	case err == nil:
		return &Verdict{Outcome: Applied, Basis: BasisAnswer}, nil
	case !errors.As(err, &write):
		return nil, fmt.Errorf("trading: Resolve: not the error of a write: %w", err)
	case write.Outcome != Unknown:
		return &Verdict{
			Intent:  Intent{ID: write.Intent, Operation: write.Operation, Account: write.Account, Symbol: write.Symbol},
			Outcome: write.Outcome, Basis: BasisAnswer, Err: refusalIn(write),
		}, nil
	case write.Account != a.id:
		return nil, fmt.Errorf("trading: Resolve: the write was for account %q", write.Account)
	case write.Intent == "":
		return nil, fmt.Errorf("%w: %s is not journaled, and shows in a read of the account: %w", ErrUndetermined, write.Operation, err)
	}
	r, optErr := newResolver(a.caller.core, a.caller.defaults, append(a.opts[:len(a.opts):len(a.opts)], opts...))
	if optErr != nil {
		return nil, optErr
	}
	// It may be of an earlier run, whose decision was taken again.
	if loadErr := r.core.loadUnsettled(ctx); loadErr != nil {
		return nil, loadErr
	}
	in, landErr := r.landed(ctx, write.Intent)
	if landErr != nil {
		return nil, landErr
	}
	if in == nil {
		return r.settledMeanwhile(write)
	}
	verdict := r.resolve(ctx, *in)
	if verdict.Outcome == Unknown {
		return &verdict, verdict.Err
	}
	return &verdict, nil
}

// Acknowledge settles an intent by what a person has found: [Applied] or
// [NotApplied]. Its symbol is open to entries again.
func (c *Client) Acknowledge(ctx context.Context, id IntentID, found Outcome, note string) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if found != Applied && found != NotApplied {
		return fmt.Errorf("trading: Acknowledge: %s is nothing that was found", found)
	}
	in := Intent{ID: id}
	if open, ok := c.core.unsettled.find(id); ok {
		in = open.Intent
	}
	err := c.core.journal.Settle(ctx, id, Settlement{
		Outcome: found, At: time.Now(), Basis: BasisPerson, Note: note,
		Spent: true, // a late copy may still come, so the key is not used again
	})
	if err != nil {
		return fmt.Errorf("trading: Acknowledge: %w", err)
	}
	v := Verdict{Intent: in, Outcome: found, Basis: BasisPerson}
	c.core.unsettled.settle(id, v)
	c.core.hookSettled(ctx, v)
	return nil
}

// resolver finds out what became of intents.
type resolver struct {
	core     *core
	opts     callOptions
	resend   time.Duration // above 0: the order is still wanted, for so long after its decision
	soleActs []AccountID
}

func newResolver(c *core, defaults callOptions, opts []CallOption) (*resolver, error) {
	asked := defaults
	asked.lifetimeSet = false // the client's default lifetime is no wish to place
	for _, opt := range opts {
		if opt == nil {
			return nil, errNilOption()
		}
		if err := opt.applyCall(&asked); err != nil {
			return nil, err
		}
	}
	r := &resolver{core: c, opts: asked, soleActs: c.soleActor}
	if asked.lifetimeSet {
		r.resend = asked.lifetime
	}
	// The resolver's own calls are reads and fences; they neither take the key of
	// the write nor write into the caller's Meta.
	r.opts.key, r.opts.meta, r.opts.lifetimeSet, r.opts.resolving = keySource{}, nil, false, true
	r.opts.fields, r.opts.resolveWithin = nil, 0
	return r, nil
}

// resolve finds out about one intent, and settles it if it can.
func (r *resolver) resolve(ctx context.Context, in Intent) Verdict {
	v := r.examine(ctx, in)
	if v.Outcome == Unknown {
		if known, ok := r.core.unsettled.verdict(in.ID); ok {
			return known // somebody else has found out meanwhile
		}
		if v.Err == nil {
			v.Err = ErrUndetermined
		} else if !errors.Is(v.Err, ErrUndetermined) {
			v.Err = fmt.Errorf("%w: %w", ErrUndetermined, v.Err)
		}
		return v
	}
	s := Settlement{Outcome: v.Outcome, At: time.Now(), Basis: v.Basis, Spent: true}
	if refusal := (*Error)(nil); errors.As(v.Err, &refusal) {
		s.Code = refusal.Code
	}
	if in.Decision != "" {
		s.Answer = v.Answer
	}
	if err := r.core.journal.Settle(ctx, in.ID, s); err != nil {
		// Found out, but it would not survive a restart: it stays open.
		v.Outcome, v.Err = Unknown, fmt.Errorf("%w: the verdict (%s) cannot be written: %w", ErrUndetermined, v.Basis, err)
		return v
	}
	r.core.unsettled.settle(in.ID, v)
	r.core.hookSettled(ctx, v)
	return v
}

// examine follows the protocol: what is still wanted is sent once more; else the
// key is fenced, and the account is read against the baseline.
func (r *resolver) examine(ctx context.Context, in Intent) Verdict {
	v := Verdict{Intent: in}
	open, _ := r.core.unsettled.find(in.ID)
	known := open.heard
	if r.stillWanted(in, known) {
		var done bool
		if done, known = r.sendAgain(ctx, &v); done {
			return v
		}
	}
	finding := fenceHolds
	if !known.held {
		var err error
		if finding, err = r.fence(ctx, v.Intent); finding == fenceProvesNothing {
			v.Err = err
			return v
		}
		v.Intent.Fenced = true
	}
	account := &Account{id: in.Account, caller: caller{r.core, r.opts}}
	v.Readings, v.Err = r.twoLooks(ctx, account.look(in.Symbol))
	if v.Err != nil {
		return v
	}
	r.weigh(&v, finding)
	return v
}

// weigh decides by the fence and the last reading.
func (r *resolver) weigh(v *Verdict, finding fenceFinding) {
	baseline, known := v.Intent.Baseline.Get()
	if !known {
		v.Err = errors.New("it is not known what the account held before: read positions, trades and open orders, or use ReadBaseline")
		return
	}
	last := v.Readings[len(v.Readings)-1]
	alone := slices.Contains(r.soleActs, v.Intent.Account)
	e := endpointOf(v.Intent.Operation)
	pro := e != nil && e.pro
	trace := last.traceSince(baseline, pro)
	// What rests or runs can be cancelled by somebody else, and then leaves none.
	lasts := !pro && v.Intent.Operation != OpLimit
	beside := v.Intent.Beside || r.core.unsettled.isBeside(r.core.unsettled.known(v.Intent.ID))
	switch {
	case finding == fenceHolds && !trace && (lasts || alone):
		v.Outcome, v.Basis = NotApplied, BasisFence
	case !trace && alone && v.Readings[0].At.Sub(v.Intent.Expires) >= goneAfter:
		v.Outcome, v.Basis = NotApplied, BasisReads
	case !trace && finding == fenceHolds:
		v.Err = errors.New("nothing shows, and somebody else may have cancelled it: see SoleActor")
	case !trace:
		v.Err = errors.New("the service has received it, and the account does not show it yet")
	case !alone:
		v.Err = errors.New("the account has changed, and somebody else may have done it: see SoleActor")
	case beside:
		v.Err = errors.New("the account has changed, and another write of this program may have done it")
	case !baseline.quiet():
		v.Err = errors.New("the account has changed, and a trigger, an order or a run of before may have done it")
	case v.Intent.explains(baseline, last):
		v.Outcome, v.Basis = Applied, BasisReads
	default:
		v.Err = errors.New("the account has changed, but not as this write would have changed it")
	}
}

// goneAfter is how long after the last send a request that the service received
// has run or never will: it can arrive until its claim of 15 minutes is released,
// and then run for as long.
const goneAfter = 30 * time.Minute

// stillWanted reports whether the caller wants the order, it is young enough for its
// key to be safe, and sending it again cannot run it twice.
func (r *resolver) stillWanted(in Intent, known heard) bool {
	return r.resend > 0 && !in.Fenced && !known.held && !known.failed && elapsed(in.Created) < min(r.resend, maxLifetime)
}

// sendAgain sends the intent's bytes once more, under its key. Only a success says
// what became of it; whatever else comes may tell something of the key.
func (r *resolver) sendAgain(ctx context.Context, v *Verdict) (done bool, known heard) {
	e := endpointOf(v.Intent.Operation)
	if e == nil {
		return false, heard{}
	}
	in := v.Intent
	in.Expires = in.Created.Add(r.resend)
	if err := r.core.beginIntent(ctx, r.core.unsettled.known(in.ID), &in); err != nil {
		return false, heard{}
	}
	v.Intent = in
	account := &Account{id: in.Account, caller: caller{r.core, r.opts}}
	call := account.begin(ctx, e, []CallOption{WithIdempotencyKey(in.Key), WithLifetime(r.resend), SkipUnsettled()})
	call.symbol, call.entry, call.body = in.Symbol, in.Entry, in.Body
	call.began = in.Created
	call.journaled = in.Key // it is in the journal already, and the resolver settles it
	call.beginInDoubt()
	call.outcome = Unknown
	_ = call.do(nil) // what it comes to is in the call
	switch {
	case call.flight.left():
		return false, heard{}
	case call.outcome != Applied:
		return false, call.heard
	}
	v.Outcome, v.Answer, v.Basis = Applied, call.last.body, BasisReplay
	if !call.last.replayed() {
		v.Basis = BasisAnswer // it had not arrived, and ran now
	}
	return true, call.heard
}

// landed waits for the attempt of an intent whose caller has left, and returns the
// intent; nil if it is settled by now.
func (r *resolver) landed(ctx context.Context, id IntentID) (*Intent, error) {
	in, open := r.core.unsettled.find(id)
	if open && in.flying != nil {
		select {
		case <-in.flying:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrUndetermined, ctx.Err())
		}
		in, open = r.core.unsettled.find(id)
	}
	if !open {
		return nil, nil
	}
	return &in.Intent, nil
}

// settledMeanwhile reports an intent that is not open any more: its answer came in
// after its caller had left, or it was resolved before.
func (r *resolver) settledMeanwhile(write *WriteError) (*Verdict, error) {
	v, ok := r.core.unsettled.verdict(write.Intent)
	if !ok {
		return nil, fmt.Errorf("%w: intent %s is not open in this client", ErrUndetermined, write.Intent)
	}
	return &v, nil
}

// pause waits, unless the context or the client ends first.
func (r *resolver) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.core.closing.Done():
		return ErrClosed
	}
}

// refusalIn returns the service's refusal in an error, without its wrapping.
func refusalIn(err error) error {
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return err
}

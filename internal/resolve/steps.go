package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/transport"
)

// namespace is how the service keeps its idempotency keys.
type namespace uint8

const (
	namespaceUnknown namespace = iota
	namespaceOne               // over all routes, as the contract reads
	namespaceByRoute
	namespaceUnclear // neither, so that no fence proves anything
)

// How long a probe that is held back waits until that is asked again: where the answer is
// on its way, and where it is known.
const (
	AskSoon  = 200 * time.Millisecond
	AskLater = 5 * time.Second
)

// limits are what holds a probe back, why, and when that is asked again: an entry is not placed while
// entries are not. What can place nothing goes on, so the host is asked only where a probe may be next.
func (d *Driver) limits(w *OpenWrite, now ledger.Instant) (limits ledger.Limits, why string, askAgain time.Duration) {
	noProbe := ledger.Limits{NoProbe: true}
	if !w.Intent.Entry || w.Ledger.Next(now, limits) == w.Ledger.Next(now, noProbe) {
		return limits, "", 0
	}
	if why, askAgain = d.cfg.Host.EntriesHeld(d.isExiting(w)); why != "" {
		limits = noProbe
	}
	return limits, why, askAgain
}

// isExiting reports whether somebody who is getting out of the market waits for a write.
func (d *Driver) isExiting(w *OpenWrite) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.exiting[w] > 0
}

// nextStep is what the ledger allows next. A look begins a lag after the one before it has
// ended, however long that has taken.
func (d *Driver) nextStep(w *OpenWrite, now ledger.Instant, limits ledger.Limits) ledger.Step {
	step := w.Ledger.Next(now, limits)
	if seen := d.seen[w]; seen != nil && step.Do == ledger.Look {
		step.At = max(step.At, d.Clocks.At(seen.look.Ended).Mono+w.Ledger.Without.ReadLag())
	}
	return step
}

// doStep does one step.
func (d *Driver) doStep(w *OpenWrite, step ledger.Step, limits ledger.Limits) error {
	switch step.Do {
	case ledger.Fence:
		err, full := d.fence(w, limits), (*noRoom)(nil)
		if errors.As(err, &full) {
			return d.lookWithout(w, limits, full)
		}
		return err
	case ledger.Probe:
		place, err := d.prepare(d.probeOf(w))
		if err != nil {
			return err
		}
		defer place.Drop()
		if d.rotated(w, place) {
			return d.noFence(w)
		}
		return d.probe(w, place)
	case ledger.Confirm:
		return d.confirm(w)
	default:
		return d.look(w, step.At)
	}
}

// lookWithout looks in place of a fence for which there is no room, where that counts as much.
func (d *Driver) lookWithout(w *OpenWrite, limits ledger.Limits, full *noRoom) error {
	limits.NoFence = true
	now := d.Clocks.Now()
	step := d.nextStep(w, now, limits)
	switch at := d.Clocks.began.Add(step.At); {
	case step.Do != ledger.Look, at.After(full.until):
		return full
	case step.At > now.Mono:
		return &noRoom{full.error, at}
	default:
		return d.look(w, step.At)
	}
}

// notePatience is how long the driver, which resolves one write at a time, waits for the journal, and
// what waits for a question to it.
const notePatience = 5 * time.Second

// mostNotePatience bounds that: a call that never returns must not hold the driver up for as long again as
// the journal was away.
const mostNotePatience = 20 * time.Minute

// noteBefore makes a record of the driver's durable. A journal that takes too long is asked again later,
// and waited for longer: it may hang in this one call, or be as slow as that.
func (d *Driver) noteBefore(w *OpenWrite, r record) error {
	waits, began := min(max(d.noteWaits, notePatience), mostNotePatience), time.Now()
	ctx, cancel := context.WithTimeoutCause(d.cfg.Life.Closing, waits, errHangs)
	defer cancel()
	err := d.store.before(ctx, w, r)
	if d.noteWaits = 2 * time.Since(began); ctx.Err() != nil {
		d.noteWaits = 2 * waits
	}
	return err
}

// noteDown makes a fact durable before the byte that it is about.
func (d *Driver) noteDown(w *OpenWrite, kind ledger.FactKind) error {
	f := ledger.Fact{Kind: kind, At: d.Clocks.Now()}
	if err := d.noteBefore(w, record{Fact: &f}); err != nil {
		return fmt.Errorf("the journal cannot be written: %w", err)
	}
	w.Ledger.Note(f)
	return nil
}

// heardBack notes how a request of the driver ended.
func (d *Driver) heardBack(w *OpenWrite, f ledger.Fact, h *Response) {
	f.At, f.Answer = d.Clocks.Now(), h.Answer
	w.Ledger.Note(f)
	if f.Kind == ledger.FenceEnded && h.Code == codeKeyReused {
		w.received.Store(true)
	}
	d.say(func() {
		q := w.noting()
		q.blocked, q.lastErr, q.reason = 0, h.Err, cmp.Or(d.whyBlocked(w, h.Err), factText(&f, code))
	})
	if !w.Ledger.Done() { // else the end says it
		d.store.note(w, f)
	}
	d.noteService(h.Class, h.Err)
}

// noteService counts the requests that nothing answered, or for which the API key was
// refused: then the service is asked for one write alone, less and less often.
func (d *Driver) noteService(c ledger.Class, err error) {
	refused := false
	if err != nil {
		j := d.cfg.Host.Judge(err)
		if refused = j.KeyRefused; j.Local || errors.Is(err, errTooLate) {
			return // what this client held back itself says nothing of the service
		}
	}
	if c == ledger.Success || c == ledger.Refusal && !refused {
		d.fails, d.downUntil = 0, time.Time{}
		return
	}
	d.downUntil = time.Now().Add(time.Second << min(d.fails, 5))
	d.fails++
}

// fence spends the write's key on a request that does nothing: the cancel of an order
// that cannot exist. Once the service has answered it, the write's own bytes can
// never run under that key, however late a copy of them arrives.
//
// Where a probe may follow, it does in the same turn: it has its place already, and the 422
// does not age behind the turns of others.
func (d *Driver) fence(w *OpenWrite, limits ledger.Limits) error {
	var probe Prepared // nil if none may follow
	if w.Ledger.ProbeFollows(d.Clocks.Now(), limits) {
		place, err := d.prepare(d.probeOf(w))
		if err != nil {
			return err
		}
		defer place.Drop()
		probe = place
	}
	if err := d.fenceAlone(w); err != nil || probe == nil {
		return err
	}
	now := d.Clocks.Now()
	if limits, _, _ = d.limits(w, now); w.Ledger.Next(now, limits).Do == ledger.Probe {
		return d.probe(w, probe)
	}
	return nil
}

// confirm asks a second, different question about a write that was turned away before its
// route: whether the key reaches the account. Something in front that has turned the
// write's answer away, and not the write, lets this one pass.
func (d *Driver) confirm(w *OpenWrite) error {
	place, err := d.prepare(w.secondQuestion())
	if err != nil {
		return err
	}
	defer place.Drop()
	h := d.sendOnce(place)
	d.heardBack(w, ledger.Fact{Kind: ledger.Confirmed}, &h)
	if w.Ledger.Done() {
		w.Answer, w.by = w.noted().denied, ByAnswer
	}
	d.say(func() { w.noting().denied = nil })
	return nil
}

// secondQuestion is one that is different from the write and reaches as far.
func (w *OpenWrite) secondQuestion() Request {
	if !w.Ledger.Keyed {
		return Request{Operation: readPaper}
	}
	return Request{Operation: readAccount, Account: w.Intent.Account}
}

// confirmHere is confirm for a write that nobody resolves, on its caller's goroutine: a question
// that cannot be asked now leaves it unknown.
func (d *Driver) confirmHere(ctx context.Context, w *OpenWrite) {
	f := ledger.Fact{Kind: ledger.Confirmed}
	if ctx.Err() == nil {
		if place, err := d.cfg.Host.Prepare(ctx, w.secondQuestion()); err == nil {
			f.Answer = place.Send(ctx, nil).Answer
			place.Drop()
		}
	}
	f.At = d.Clocks.Now()
	w.Ledger.Note(f)
}

// fenceAlone is a fence without what may follow it.
func (d *Driver) fenceAlone(w *OpenWrite) error {
	if d.namespace == namespaceUnclear || w.Ledger.Without.Fence {
		return d.noFence(w)
	}
	if d.calibrating != nil {
		if err := d.calibrate(w.Intent.Account); err != nil {
			return err
		}
	}
	f := ledger.Fact{Kind: ledger.FenceEnded, OwnRoute: d.namespace == namespaceByRoute}
	r, err := fenceOf(&w.Intent, w.Try().Key, f.OwnRoute)
	if err != nil {
		return err
	}
	place, err := d.prepare(r)
	if err != nil {
		return err
	}
	defer place.Drop()
	if d.rotated(w, place) {
		return d.noFence(w)
	}
	if err := d.noteDown(w, ledger.FenceBegun); err != nil {
		return err
	}
	h := d.sendOnce(place)
	if f.Answer = h.Answer; !f.OwnRoute && f.Holds() {
		if d.namespace == namespaceUnknown {
			_ = d.calibrate(w.Intent.Account) // what has no place yet is done before the next fence
		}
		switch d.namespace {
		case namespaceOne:
		case namespaceUnclear:
			f.Useless = true
		case namespaceUnknown, namespaceByRoute: // what the answer proves is not known yet, or nothing: then the next goes by its own route
			h = Response{Answer: ledger.Answer{Class: ledger.Foreign}, Err: errKeysUnknown} // which heardBack notes in its place
		}
	}
	d.heardBack(w, f, &h)
	return nil
}

// noFence notes that no fence of a write proves anything: the account decides, and time.
func (d *Driver) noFence(w *OpenWrite) error {
	d.heardBack(w, ledger.Fact{Kind: ledger.FenceEnded, Useless: true}, &Response{Answer: ledger.Answer{Class: ledger.Unsent}})
	return nil
}

// rotated reports whether a request goes with another API key than its write did, where the
// service may keep the idempotency keys of each apart. Of a write that an earlier run left it is
// not known.
func (d *Driver) rotated(w *OpenWrite, place Prepared) bool {
	return w.Ledger.Without.Rotation && (w.APIKey == "" || place.APIKey() != w.APIKey)
}

var errKeysUnknown = errors.New("how the service keeps idempotency keys is not known yet")

// probe sends the original bytes once more, to have the stored answer. Neither a
// context nor Close cuts it.
func (d *Driver) probe(w *OpenWrite, place Prepared) error {
	gate := shortly{time.Now(), w.Ledger.ProbeWithin(d.Clocks.Now())}
	if err := d.noteDown(w, ledger.ProbeBegun); err != nil {
		return err
	}
	// It may run now, so no read beside it shows the account before or after it.
	d.Books.SendBegan(w.account())
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(d.cfg.Life.Closing), requestPatience, transport.ErrTimeout)
	defer cancel()
	h := place.Send(ctx, gate)
	d.Books.SendEnded(w.account(), time.Now())
	d.heardBack(w, ledger.Fact{Kind: ledger.ProbeEnded}, &h)
	if h.Class == ledger.Success || h.Class == ledger.Refusal && h.Replayed {
		w.Answer = &h
		w.by = ByReplay
		if h.Class == ledger.Success && !h.Replayed {
			w.by = ByAnswer
		}
	}
	return nil
}

// NotExecuted says that a write was not executed, and cannot be under its key any more.
type NotExecuted string

func (e NotExecuted) Error() string { return string(e) }

// finish ends a write whose outcome is known.
func (d *Driver) finish(w *OpenWrite) {
	known := w.noted()
	if a := w.Answer; a != nil && (a.Refusal == nil) != (w.Ledger.Outcome() == ledger.Applied) {
		w.Answer = nil // a stored refusal with which the account does not agree
	}
	f := Final{Outcome: w.Ledger.Outcome(), Evidence: w.by, Note: known.note, Dead: w.Ledger.Held() || w.Answer != nil && w.Answer.spends() || w.by == ByAcknowledged}
	r := Found{
		Intent: w.intent(), Outcome: f.Outcome, Evidence: w.by,
		Late: w.Ledger.Late(), MaybeLate: w.Ledger.MaybeLate(), Looks: known.looks,
	}
	if n := w.newer; n != nil {
		r.Superseded, r.Overwritten = n.superseded, n.overwritten
	}
	if w.Answer != nil {
		if w.Answer.Refusal != nil {
			f.Code, r.Err = w.Answer.Code, w.Answer.Refusal
			if f.Dead && w.Name != "" {
				f.Refused = refusedBy(w.Answer)
			}
		} else {
			r.Answer = w.Answer.Body
			f.Answer = r.Answer
		}
	}
	if r.Err == nil && f.Outcome == ledger.NotApplied {
		r.Err = NotExecuted(fmt.Sprintf("not executed (%s)", w.found()))
	}
	if r.Err == nil && f.Outcome == ledger.Applied && w.Answer == nil {
		r.Err = fmt.Errorf("executed (%s), and its answer is lost", w.found())
	}
	if w.newer != nil && w.newer.err != nil {
		r.Err = errors.Join(r.Err, fmt.Errorf("the newer levels could not be set again: %w", w.newer.err))
	}
	w.finish(&f)
	d.pending.resolved.keep(w.Intent.ID, r)
	d.leaveBooks(w, f, w.Answer)
	d.report(r)
	d.schedule.remove(w)
}

// found is how it was found out what became of it.
func (w *OpenWrite) found() string {
	known := w.noted()
	why := known.reason
	if w.by == ByAcknowledged {
		why = known.note
	}
	if why == "" {
		return w.by.String()
	}
	return w.by.String() + ": " + why
}

// mayHide reports whether what the account shows may be this write's, and hide another's. Once its market is open
// again it is not: the baseline is behind it.
func mayHide(w *OpenWrite) bool { return !w.marketOpen.Load() }

// sendOnce sends a fence, or a request like one.
func (d *Driver) sendOnce(place Prepared) Response {
	ctx, cancel := context.WithTimeoutCause(d.cfg.Life.Closing, requestPatience, transport.ErrTimeout)
	defer cancel()
	return place.Send(ctx, nil)
}

package sidecar

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// How long a bot waits for an outcome that is in doubt, as the client does.
const (
	entryPatience = 30 * time.Second
	exitPatience  = 5 * time.Second
)

const (
	// exitTTL is how long an exit may wait before it is sent, for its rate limit or for a connection,
	// and be sent again: a bot that asked for it longer ago may have a newer position by now. An
	// entry has as long, as on the client.
	exitTTL = 10 * time.Second
	// exitWaits is how long an exit waits for the disk, as on the client.
	exitWaits = 250 * time.Millisecond
)

func (q *request) patience() time.Duration {
	if q.kind == hearing.Entry {
		return entryPatience
	}
	return exitPatience
}

// errGone is why nothing of a write is sent.
var errGone = errors.New("the bot that asked for it has gone")

// newID names a write. It never repeats.
func newID() string {
	const size = 12
	var b [size]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// serveWrite carries a write out, or answers it with what became of the one that it repeats.
func (s *Server) serveWrite(w http.ResponseWriter, r *http.Request, q *request) {
	p := peerOf(r)
	s.unheard.named(q.bot.Name, strings.FieldsFunc(strings.Join(r.Header.Values(headerHeard), ","), func(c rune) bool { return c == ',' || c == ' ' }))
	for {
		this := &write{Write: hearing.Write{
			ID: newID(), Place: q.place(), Digest: q.digest(), Key: q.key, Kind: q.kind, Waits: q.waits,
		}, over: make(chan struct{}), waiting: []peer{p}, asks: q.asks}
		if id, answer, ok := s.stored(r.Context(), q); ok {
			if of := s.unheard.byID(id); of != nil {
				s.deliver(w, of, answer, p)
				return
			}
			_ = answer.writeTo(w, id)
			return
		}
		if id, ok := s.unheard.again(q); ok {
			this.ID, this.begun = id, true
		}
		now := time.Now()
		switch verdict, other := s.unheard.arrive(this, now.Add(-p.age()), now); verdict {
		case hearing.Join:
			s.counts.add("repeats_total", "bot", q.bot.Name)
			if again := s.join(w, r, q, other, p); again {
				continue
			}
		case hearing.Hold:
			s.shares.refused(q, time.Now())
			s.counts.add("held_total", "bot", q.bot.Name)
			_ = q.held(s.heldBy(other)).writeTo(w, this.ID)
		default:
			answer := s.carry(r.Context(), q, this, p)
			s.counts.add("writes_total", "bot", q.bot.Name, "outcome", outcomes[answer.outcome])
			if answer.outcome == trading.NotApplied {
				s.shares.refused(q, time.Now())
			}
			s.deliver(w, this, answer, p)
		}
		return
	}
}

// heldBy is the answer to an entry of which nothing is sent, since its bot may not know of an earlier
// one. It does not name that one: who names it has heard of it.
func (s *Server) heldBy(other *write) reply {
	if other == nil {
		return unheardResult("an earlier entry in this market was not heard: nothing was sent", nil)
	}
	known, ended := s.unheard.since(other)
	why, wait := "was not certainly heard", time.Until(known.Add(hearing.Lag))
	switch {
	case !ended:
		why, wait = "still runs, and its bot has gone on without its answer", again
	case known.IsZero():
		why, wait = "has an outcome that nobody knows yet", again
	}
	reads := "positions"
	if other.Waits {
		reads = "positions and the orders"
	}
	return unheardResult(fmt.Sprintf("nothing was sent: an earlier entry in this market %s; read the %s 5 s after its outcome or later, then decide again",
		why, reads), nil).after(wait, s.random)
}

// deliver answers a write. What it answers is noted before: a quick bot hears it, and has its next
// request on another connection before this one returns.
func (s *Server) deliver(w http.ResponseWriter, of *write, r reply, p peer) {
	var a answered
	if r.outcome != trading.Unknown {
		a = p.writing()
	}
	s.unheard.delivered(of, a, time.Now())
	_ = r.writeTo(w, of.ID) // one that fails is never heard
}

// join answers a write with what became of the one that it repeats. It returns true of an exit if
// that was not executed: then this one is carried out. An entry is not: its bot may have gone on.
func (s *Server) join(w http.ResponseWriter, r *http.Request, q *request, other *write, p peer) (again bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), q.patience())
	defer cancel()
	select {
	case <-other.over:
	case <-ctx.Done():
	case <-s.closing.Done():
	}
	answer, outcome, intent := s.unheard.of(other)
	if outcome == trading.Unknown && intent != "" && ctx.Err() == nil {
		if found, err := s.client.ResolveID(ctx, intent); err == nil {
			s.resolved(ctx, other.ID, found)
		}
		answer, outcome, _ = s.unheard.of(other)
	}
	switch outcome {
	case trading.NotApplied:
		if q.kind != hearing.Entry {
			return true
		}
	case trading.Applied:
		if answer.header.Get(headerOwn) == "" {
			answer = answer.replayed(time.Now())
		}
	default:
		answer = s.undetermined(q)
	}
	s.deliver(w, other, answer, p)
	return false
}

// attended is the context of a write. It has no end of its own, but ends while nothing of the write
// is sent and its bot has gone.
type attended struct {
	context.Context
	op    trading.Operation
	write *write
	gone  func() bool
	sent  atomic.Bool
}

// attendedKey finds it.
type attendedKey struct{}

// Err implements [context.Context].
func (a *attended) Err() error {
	if !a.sent.Load() && a.gone() {
		return errGone
	}
	return nil
}

// Value implements [context.Context].
func (a *attended) Value(key any) any {
	if key == (attendedKey{}) {
		return a
	}
	return a.Context.Value(key)
}

// noteSent is called when an attempt has ended, those of the reads before a write too.
func (s *Server) noteSent(ctx context.Context, c trading.Call, attempt trading.Attempt) {
	s.shares.noteAttempt(ctx, c, attempt)
	if a, ok := ctx.Value(attendedKey{}).(*attended); ok && c.Write && attempt.Written {
		a.sent.Store(true)
	}
}

// tag attributes a write to its bot, in the journal too.
func (w *write) tag() string { return w.Place.Bot + " " + w.ID }

// carry sends a write through the client.
func (s *Server) carry(ctx context.Context, q *request, w *write, p peer) (answer reply) {
	answer, whole, intent := s.undetermined(q), false, trading.IntentID("")
	ctx = context.WithoutCancel(ctx)
	defer func() { // also where a guard of the program's panics
		answer = s.unheard.end(ctx, w, answer, whole, intent, time.Now())
	}()
	entry := q.kind == hearing.Entry
	if no := s.mayBegin(q, p); no != nil {
		answer = q.held(*no)
		return answer
	}
	if err := s.begin(ctx, w, q); err != nil {
		s.alert("the file of answers cannot be written: " + err.Error())
		if entry {
			answer = q.held(s.unavailable("nothing was sent", err))
			return answer
		}
	}
	a := &attended{Context: counted(ctx), op: q.op, write: w, gone: p.gone}
	opts := []trading.CallOption{trading.WithTag(w.tag())}
	if q.keyed {
		var used []trading.UseOption
		if q.shared {
			used = append(used, trading.Shared())
		}
		opts = append(opts, trading.WithIdempotencyKey(s.keyOf(q.bot.Name, q.key), used...))
	}
	meta, err := s.client.Do(a, q.op, trading.Raw{
		Account: trading.AccountID(q.rawAccount()), Body: q.body, Age: p.age(), Ignored: s.config.UnknownMembers,
	}, opts...)
	intent = meta.Intent
	if entry && q.env == live {
		s.noteGuard(trading.AccountID(q.account), err)
	}
	if answer, whole = s.replyTo(q, meta, err); answer.outcome == trading.Unknown && !answer.unsent {
		s.alert(fmt.Sprintf("it is not known yet what became of %s of %s (write %s): %v", q.op, q.bot.Name, w.ID, err))
	}
	return answer
}

// begin notes a write in the file of answers.
func (s *Server) begin(ctx context.Context, w *write, q *request) error {
	if w.begun {
		return nil // by an earlier run
	}
	err := s.soon(q, func() error { return s.file.begin(ctx, w, q.op, time.Now()) })
	w.begun = err == nil
	return err
}

// errHangs is why an exit goes on without the disk.
var errHangs = errors.New("the disk has not taken it in time")

// soon does something with the disk for a write. An exit waits no longer than it may.
func (s *Server) soon(q *request, do func() error) error {
	if q.kind == hearing.Entry {
		return do()
	}
	done := make(chan error, 1)
	s.work.Go(func() { done <- do() })
	timer := time.NewTimer(exitWaits)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errHangs
	}
}

// rawAccount is the account that the client is to find in the body.
func (q *request) rawAccount() string {
	if q.env == paper {
		return ""
	}
	return q.account
}

// replyTo is the answer to a request whose call has ended; whole means that it is the service's.
func (s *Server) replyTo(q *request, meta *trading.Meta, err error) (r reply, whole bool) {
	if meta.Settled && !errors.Is(err, trading.ErrKeyRefused) {
		s.halts.end(q.realKey())
		r = passed(meta).of(trading.OutcomeOf(err))
		r.unsent = r.outcome == trading.Unknown // what may have run was sent without the sidecar
		return r, true
	}
	var refusal *trading.Error
	if q.write && meta.Intent == "" && meta.Status != 0 && trading.OutcomeOf(err) == trading.Unknown && errors.As(err, &refusal) && !refusal.Local {
		return passed(meta).of(trading.Unknown), true // a cancel or a reset: nothing more is found out about it
	}
	if errors.As(err, &refusal) && refusal.Local && refusal.Code == trading.CodeIdempotencyKeyReused && !s.otherUse(q) {
		return unheardResult("it was not executed, and its key is used up", nil), false // as was found out before
	}
	var write *trading.WriteError
	if errors.As(err, &write) && write.NotSent && write.Intent == "" { // its key may have been used before
		r := s.unavailable("nothing was sent now", err).of(trading.Unknown)
		r.unsent = true
		return r, false
	}
	return s.refused(q, err), false
}

// keyOf is the idempotency key as the service sees it.
func (s *Server) keyOf(bot, key string) trading.Key {
	if s.config.KeysPerBot {
		return trading.Key(bot + "." + key)
	}
	return trading.Key(key)
}

// resolved notes what the client found out about a write.
func (s *Server) resolved(ctx context.Context, id string, found *trading.Resolution) {
	answer, whole := reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: found.Answer}, true
	var refusal *trading.Error
	switch {
	case found.Outcome == trading.Unknown:
		return
	case found.Outcome == trading.Applied && len(found.Answer) == 0:
		answer, whole = executed(nil), false
	case found.Outcome == trading.NotApplied && errors.As(found.Err, &refusal) && !refusal.Local && refusal.Meta.Status != 0:
		answer = passed(&refusal.Meta)
	case found.Outcome == trading.NotApplied:
		answer, whole = own(http.StatusConflict, trading.CodeConflict, "It was not executed.", reasonOf(found.Err)), false
	}
	s.unheard.found(ctx, id, answer.of(found.Outcome), whole, time.Now())
}

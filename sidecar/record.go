package sidecar

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// record is the file of what bots were answered.
type record struct {
	*answers.File
	alert func(string)
}

// begin notes a write before its first byte: it is on the disk when it returns.
func (r record) begin(ctx context.Context, w *write, op trading.Operation, now time.Time) error {
	begun := answers.Begun{Write: w.Write, Operation: string(op), At: now}
	if w.asks != nil {
		begun.Asks, _ = json.Marshal(w.asks) // a size that is no number stays out
	}
	return r.Begin(ctx, begun)
}

// known notes what became of a write, and the service's answer if it is whole.
func (r record) known(ctx context.Context, id string, a reply, whole bool, now time.Time) {
	noted := answers.Answer{Outcome: bookOutcome(a.outcome), At: now, Unsent: a.unsent && a.outcome == trading.Unknown}
	if whole {
		noted.Status, noted.Header, noted.Body = a.status, a.header, a.body
	}
	r.failed(r.Answer(ctx, id, noted))
}

// settle ends what was refused under the key of a write before: the key has its answer. It is of its own
// write, so that no other keeps it.
func (r record) settle(ctx context.Context, id string, outcome trading.Outcome, now time.Time) {
	for _, same := range r.Unsent(id) {
		r.failed(r.Answer(ctx, same, answers.Answer{Outcome: bookOutcome(outcome), At: now}))
	}
}

// heard notes that the bot has heard what became of a write.
func (r record) heard(id string) { r.failed(r.Heard(context.Background(), id)) }

// tidy forgets what is older than a day: the service knows a key for as long, so its name in the
// client's journal goes too.
func (s *Server) tidy(ctx context.Context, now time.Time) {
	for _, w := range s.file.Since("", time.Time{}) {
		if w.Key != "" && now.Sub(w.At) > answers.Kept {
			_ = s.client.ForgetKey(ctx, s.keyOf(w.Place.Bot, w.Key)) // one that is pending is kept
		}
	}
	s.file.failed(s.file.Tidy(ctx, now))
}

func (r record) failed(err error) {
	if err != nil {
		r.alert("the file of answers cannot be written: " + err.Error())
	}
}

// stored returns the answer that a key has: the service's own, as it came. Another request under
// the key is refused.
func (s *Server) stored(ctx context.Context, q *request) (id string, answer reply, ok bool) {
	if q.key == "" {
		return "", reply{}, false
	}
	for _, id := range s.file.Keyed(q.bot.Name, q.key) {
		w, ok, err := s.file.Get(ctx, id)
		if err != nil || !ok || !keepsUnderKey(w.Answer.Status) || w.Answer.Outcome == hearing.Unknown {
			continue
		}
		if w.Digest != q.digest() {
			return newID(), own(http.StatusUnprocessableEntity, trading.CodeIdempotencyKeyReused, "This Idempotency-Key was used for a different request.", ""), true
		}
		answer = reply{status: w.Answer.Status, header: w.Answer.Header, body: w.Answer.Body, outcome: outcomeOf(w.Answer.Outcome)}
		return id, answer.replayed(time.Now()), true
	}
	return "", reply{}, false
}

// keepsUnderKey reports whether the service repeats an answer of this status under its key: it lets go of a
// failure, and a full limit stands in front of the key.
func keepsUnderKey(status int) bool {
	return status != 0 && status < http.StatusInternalServerError && status != http.StatusTooManyRequests
}

// mayBeUsed reports whether the service may know a key that this sidecar does not: its bot wrote to
// the account without the sidecar up to when it first did with it, and the service keeps a key for
// a day.
func (s *Server) mayBeUsed(ctx context.Context, q *request, now time.Time) bool {
	if !q.keyed || !q.write {
		return false
	}
	var first time.Time
	err := s.soon(q, func() (err error) {
		first, err = s.file.First(ctx, q.bot.Name, q.place().Account, now)
		return err
	})
	s.file.failed(err)
	return err != nil || now.Sub(first) <= answers.Kept
}

// otherUse reports whether a key was first used for another request than this one.
func (s *Server) otherUse(q *request) bool {
	all := s.file.Since("", time.Time{})
	first := slices.IndexFunc(all, func(w answers.Write) bool {
		sent := !w.Answer.Unsent || w.Answer.Status != 0
		return w.Key == q.key && sent && (w.Place.Bot == q.bot.Name || !s.config.KeysPerBot)
	})
	return first >= 0 && all[first].Digest != q.digest()
}

func outcomeOf(o hearing.Outcome) trading.Outcome {
	switch o {
	case hearing.Applied:
		return trading.Applied
	case hearing.NotApplied:
		return trading.NotApplied
	default:
		return trading.Unknown
	}
}

// restore takes over the writes that earlier runs did not note as heard.
func (s *Server) restore(ctx context.Context, now time.Time) error {
	pending, err := s.client.Pending(ctx)
	if err != nil {
		return err
	}
	if s.guard != nil {
		if err := s.guard.Adopt(pending...); err != nil {
			s.alert("entries of the account are refused while it is pending: " + err.Error())
		}
	}
	open := map[string]trading.IntentID{}
	for _, p := range pending {
		if _, id, ok := strings.Cut(p.Tag, " "); ok {
			open[id] = p.ID
		}
	}
	for _, old := range s.file.Unheard() {
		if old.Answer.Unsent {
			continue // it holds no market
		}
		w := &write{Write: old.Write, over: make(chan struct{}), begun: true, lost: true, outcome: trading.Applied, ended: now}
		close(w.over)
		switch intent, is := open[old.ID]; {
		case old.Answered && old.Answer.Outcome != hearing.Unknown:
			w.outcome, w.written = outcomeOf(old.Answer.Outcome), true
		case is:
			w.outcome, w.intent, w.ended = trading.Unknown, intent, old.At
		} // else nobody will say any more what became of it: it counts as executed until its bot has read
		if w.outcome != trading.Unknown {
			w.known = now
		}
		s.unheard.restore(w, now)
	}
	if s.positions != nil {
		return s.positions.restore(ctx, s, now)
	}
	return nil
}

package risk

import (
	"context"
	"sync"

	"github.com/tradingapi/trading-go"
)

// Hooks report the outcome of every call to the breaker. They need its Guard in the
// same client: it sees the order, which the hooks do not.
func (b *Breaker) Hooks() trading.Hooks {
	return trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			if !c.Entry {
				return ctx
			}
			return context.WithValue(ctx, seenKey{b}, &seen{})
		},
		CallDone: func(ctx context.Context, _ trading.Call, d trading.Done) {
			if s, ok := ctx.Value(seenKey{b}).(*seen); ok {
				if w, ok := s.get(); ok {
					b.Note(w, d.Err)
				}
			}
		},
	}
}

// seen is the write of a call, as the guard saw it. A call whose caller has left
// can still be asking its guards.
type seen struct {
	mu    sync.Mutex
	write trading.Write
	ok    bool
}

// seenKey finds it in the context of the call; every breaker has its own.
type seenKey struct{ *Breaker }

func (s *seen) get() (trading.Write, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write, s.ok
}

// remember keeps the write for the end of its call.
func (b *Breaker) remember(ctx context.Context, w trading.Write) {
	if s, ok := ctx.Value(seenKey{b}).(*seen); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.write, s.ok = w, true
	}
}

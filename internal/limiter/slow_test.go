package limiter

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// slowStore answers after the time that each method has, or when its context ends;
// a deaf one ignores its context.
type slowStore struct {
	store                 ratelimit.Store
	take, giveBack, usage time.Duration
	deaf                  bool
	err                   error // of every answer

	asked   atomic.Int64 // for slots
	calls   atomic.Int64 // under way
	given   atomic.Int64 // slots, and not given back unsent
	blocked atomic.Int64 // buckets
}

func newSlowStore(change func(*slowStore)) *slowStore {
	s := &slowStore{store: ratelimit.NewMemoryStore()}
	change(s)
	return s
}

func (s *slowStore) after(ctx context.Context, d time.Duration) error {
	s.calls.Add(1)
	defer s.calls.Add(-1)
	if s.deaf {
		time.Sleep(d)
		return s.err
	}
	select {
	case <-time.After(d):
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) Take(ctx context.Context, client string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	s.asked.Add(1)
	if err := s.after(ctx, s.take); err != nil {
		return ratelimit.Grant{}, err
	}
	grant, err := s.store.Take(ctx, client, needs, hold)
	if err == nil && grant.Wait == 0 {
		s.given.Add(1)
	}
	return grant, err
}

func (s *slowStore) Return(ctx context.Context, slot string, needs []ratelimit.Need, sent bool) error {
	if err := s.after(ctx, s.giveBack); err != nil {
		return err
	}
	if !sent {
		s.given.Add(-1)
	}
	return s.store.Return(ctx, slot, needs, sent)
}

func (s *slowStore) Block(ctx context.Context, b ratelimit.Bucket, d time.Duration) error {
	s.blocked.Add(1)
	if err := s.after(ctx, 0); err != nil {
		return err
	}
	return s.store.Block(ctx, b, d)
}

func (s *slowStore) Usage(ctx context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	if err := s.after(ctx, s.usage); err != nil {
		return nil, err
	}
	return s.store.Usage(ctx, buckets)
}

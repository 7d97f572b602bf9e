package limiter

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

const (
	// patience is how long a call of the store may take.
	patience = time.Second
	// exitPatience is how long an exit waits for the store, for the calls of others and
	// for its own. Then it is counted in this process alone: the reserve that others leave
	// to exits has room for it.
	exitPatience = 500 * time.Millisecond
	// rest is how long a store that has failed is left alone, so that one that hangs
	// does not cost every request its patience.
	rest = 5 * time.Second
	// maxCalls bounds the calls under way, abandoned ones included.
	maxCalls = 16
	// maxAbandoned is how many abandoned calls may run on before the store is not
	// asked any more.
	maxAbandoned = 8
	// logAgain is how long after a line the next one comes, while the store is away.
	logAgain = time.Minute
)

// remote is a store that may be slow, hang or fail. A call that takes longer than the
// patience is abandoned, even if the store ignores its context.
type remote struct {
	store  ratelimit.Store
	client string // who asks
	log    func(call string, err error)
	calls  chan struct{} // one for each call under way

	mu        sync.Mutex
	restUntil time.Time
	abandoned int
	logged    time.Time // when a failure was, last; zero since the store has answered
}

func newRemote(store ratelimit.Store, log func(string, error)) *remote {
	if log == nil {
		log = func(string, error) {}
	}
	return &remote{store: store, client: rand.Text(), log: log, calls: make(chan struct{}, maxCalls)}
}

// available reports whether the store is to be asked.
func (r *remote) available() bool {
	r.mu.Lock()
	stuck := r.abandoned >= maxAbandoned
	available := !stuck && !time.Now().Before(r.restUntil)
	r.mu.Unlock()
	if stuck {
		r.logAway("Take", errStuck)
	}
	return available
}

var errStuck = fmt.Errorf("%d calls of the store have no answer, and it is asked no more until one has: %w", maxAbandoned, context.DeadlineExceeded)

// failed leaves the store alone for a while.
func (r *remote) failed(call string, err error) {
	r.mu.Lock()
	r.restUntil = time.Now().Add(rest)
	r.mu.Unlock()
	r.logAway(call, err)
}

// logAway logs that the store is away: at once, and again each minute.
func (r *remote) logAway(call string, err error) {
	r.mu.Lock()
	due := r.logged.IsZero() || time.Since(r.logged) >= logAgain
	if due {
		r.logged = time.Now()
	}
	r.mu.Unlock()
	if due {
		r.log(call, err)
	}
}

// take asks for slots. A slot that an abandoned call gets is given back.
func (r *remote) take(n needs, hold time.Duration) (ratelimit.Grant, error) {
	all := slices.Clone(n.all())
	grant, err := request(context.Background(), r, func(ctx context.Context) (ratelimit.Grant, error) {
		return r.store.Take(ctx, r.client, all, hold)
	}, func(late ratelimit.Grant) {
		if late.Wait > 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = r.store.Return(ctx, late.Slot, all, false)
	})
	if err == nil {
		err = checkGrant(grant, all)
	}
	if err != nil {
		r.failed("Take", err)
		return grant, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logged = time.Time{} // it is not away
	return grant, nil
}

// checkGrant refuses an answer that no store may give.
func checkGrant(g ratelimit.Grant, asked []ratelimit.Need) error {
	known := slices.ContainsFunc(asked, func(n ratelimit.Need) bool { return n.Bucket.Name == g.Bucket })
	if g.Wait < 0 || g.Wait > 0 && !known {
		return fmt.Errorf("the store answered with a wait of %s for the bucket %q", g.Wait, g.Bucket)
	}
	return nil
}

func (r *remote) giveBack(slot string, n []ratelimit.Need, sent bool) {
	r.note("Return", func(ctx context.Context) error { return r.store.Return(ctx, slot, n, sent) })
}

func (r *remote) block(b ratelimit.Bucket, d time.Duration) {
	r.note("Block", func(ctx context.Context) error { return r.store.Block(ctx, b, d) })
}

// note writes to the store. A store that has failed is not written to for a while: a slot that is not returned
// is free in it once its hold is over, and a bucket that is blocked meanwhile stays open there for other
// programs.
func (r *remote) note(call string, do func(context.Context) error) {
	if !r.available() {
		return
	}
	_, err := request(context.Background(), r, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, do(ctx)
	}, func(struct{}) {})
	if err != nil {
		r.failed(call, err)
	}
}

func (r *remote) usage(ctx context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	usages, err := request(ctx, r, func(ctx context.Context) ([]ratelimit.Usage, error) {
		return r.store.Usage(ctx, buckets)
	}, func([]ratelimit.Usage) {})
	if err == nil && len(usages) != len(buckets) {
		return nil, fmt.Errorf("the store answered with %d usages for %d buckets", len(usages), len(buckets))
	}
	return usages, err
}

// request makes one call of the store, and waits for it as long as the patience and ctx
// allow. The call is abandoned then: late gets its result if it succeeds after that.
func request[T any](ctx context.Context, r *remote, do func(context.Context) (T, error), late func(T)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	var none T
	select {
	case r.calls <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return none, fmt.Errorf("%d calls of the store are under way: %w", maxCalls, ctx.Err())
	}
	var (
		decided atomic.Bool           // by whoever is first: the answer, or the end of the patience
		done    = make(chan struct{}) // closed once value and err are the answer
		value   T
		err     error
	)
	go func() {
		defer func() { <-r.calls }()
		defer cancel()
		got, failed := do(ctx)
		if decided.CompareAndSwap(false, true) {
			value, err = got, failed
			close(done)
			return
		}
		if failed == nil {
			late(got)
		}
		r.abandon(-1)
	}()
	select {
	case <-done:
		return value, err
	case <-ctx.Done():
	}
	if decided.CompareAndSwap(false, true) {
		r.abandon(1) // the call may have ended since, and have counted itself off
		return none, fmt.Errorf("the store did not answer: %w", ctx.Err())
	}
	<-done
	return value, err
}

// abandon counts the calls that nobody waits for.
func (r *remote) abandon(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.abandoned += n
}

package limiter

import (
	"context"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Usage returns the state of the buckets of keys and classes, in that order. The lock
// is not held while the store is asked.
func (l *Limiter) Usage(ctx context.Context, keys, classes []string) (usages []ratelimit.Usage, err error) {
	buckets := make([]ratelimit.Bucket, 0, len(keys)+len(classes))
	l.mu.Lock()
	for _, key := range keys {
		buckets = append(buckets, l.bucket(key, l.cfg.PerKey))
	}
	for _, class := range classes {
		buckets = append(buckets, l.bucket(l.names[class], l.cfg.Classes[class]))
	}
	l.mu.Unlock()
	switch {
	case l.remote != nil:
		usages, err = l.remote.usage(ctx, buckets)
	case l.near != nil:
		usages, err = l.near.Usage(ctx, buckets)
	default: // nothing is counted
		usages, err = ratelimit.NewMemoryStore().Usage(ctx, buckets)
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range usages {
		if closed := l.closedFor(usages[i].Bucket.Name); closed > usages[i].Closed {
			usages[i].Closed, usages[i].Left = closed, 0
		}
	}
	return usages, nil
}

package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Store is a [ratelimit.Store] in Redis. It is safe for concurrent use.
type Store struct {
	client goredis.Scripter
	prefix string
	name   string        // that its slots begin with
	slots  atomic.Uint64 // that it has asked for
}

var _ ratelimit.Store = (*Store)(nil)

// New returns a store of the slots that owner's clients share: the name of a user
// or a desk, the same in all of them and in their trading.RateLimits. The client is the
// caller's to close. The trading client abandons a call that takes longer than a second;
// short time-outs in the Redis client end it soon after. New sends nothing.
func New(client goredis.Scripter, owner string) (*Store, error) {
	switch {
	case client == nil:
		return nil, errors.New("redis store: New: no client")
	case owner == "" || strings.ContainsAny(owner, "{}"):
		return nil, fmt.Errorf("redis store: New: the owner %q cannot be a hash tag: it is empty or has a brace", owner)
	}
	return &Store{client: client, prefix: "trading:ratelimit:{" + owner + "}:", name: rand.Text()}, nil
}

// Take implements [ratelimit.Store]. Where its answer is lost, the slots that it
// may have taken are free again a window after hold.
func (s *Store) Take(ctx context.Context, client string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	return s.take(ctx, client, s.name+"/"+strconv.FormatUint(s.slots.Add(1), 36), needs, hold)
}

// take takes a slot by its name. Redis clients send a script again when its answer
// was lost: a slot that is taken already is not taken twice.
func (s *Store) take(ctx context.Context, client, slot string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	args := make([]any, 0, 3+3*len(needs))
	args = append(args, slot, micros(hold), client)
	for i := range needs {
		args = append(args, needs[i].Bucket.Limit, needs[i].Reserve, micros(needs[i].Bucket.Window))
	}
	answer, err := scriptTake.Run(ctx, s.client, append(s.keysOf(needs), s.prefix+"sharers", s.prefix+"since"), args...).Int64Slice()
	switch {
	case err != nil:
		return ratelimit.Grant{}, failed("Take", err)
	case len(answer) != 4+len(needs) || slices.Min(answer) < 0 || answer[1] > int64(len(needs)):
		return ratelimit.Grant{}, failed("Take", fmt.Errorf("an answer of %v", answer))
	}
	grant := ratelimit.Grant{Sharers: int(answer[2]), Since: time.UnixMicro(answer[3]), Left: make([]int, len(needs))}
	for i, left := range answer[4:] {
		grant.Left[i] = int(left)
	}
	if answer[1] == 0 {
		grant.Slot = slot
	} else {
		grant.Wait, grant.Bucket = duration(answer[0]), needs[answer[1]-1].Bucket.Name
	}
	return grant, nil
}

// Return implements [ratelimit.Store].
func (s *Store) Return(ctx context.Context, slot string, needs []ratelimit.Need, sent bool) error {
	args := make([]any, 0, 2+len(needs))
	args = append(args, slot, sent)
	for i := range needs {
		args = append(args, micros(needs[i].Bucket.Window))
	}
	return failed("Return", scriptReturn.Run(ctx, s.client, s.keysOf(needs), args...).Err())
}

// Block implements [ratelimit.Store].
func (s *Store) Block(ctx context.Context, b ratelimit.Bucket, d time.Duration) error {
	return failed("Block", scriptBlock.Run(ctx, s.client, s.keys(nil, b), b.Limit, micros(d)).Err())
}

// Usage implements [ratelimit.Store].
func (s *Store) Usage(ctx context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	if len(buckets) == 0 {
		return nil, nil
	}
	var keys []string
	limits := make([]any, 0, len(buckets))
	for _, b := range buckets {
		keys, limits = s.keys(keys, b), append(limits, b.Limit)
	}
	const each = 4
	answer, err := scriptUsage.Run(ctx, s.client, keys, limits...).Int64Slice()
	switch {
	case err != nil:
		return nil, failed("Usage", err)
	case len(answer) != each*len(buckets):
		return nil, failed("Usage", fmt.Errorf("an answer of %d numbers for %d buckets", len(answer), len(buckets)))
	}
	usages := make([]ratelimit.Usage, 0, len(buckets))
	for i, b := range buckets {
		row := answer[each*i:]
		usages = append(usages, ratelimit.Usage{
			Bucket: b, Used: int(row[0]), Elsewhere: int(row[1]), Left: int(row[2]), Closed: duration(row[3]),
		})
	}
	return usages, nil
}

// keysOf are the keys of the needs' buckets.
func (s *Store) keysOf(needs []ratelimit.Need) []string {
	keys := make([]string, 0, 3*len(needs))
	for i := range needs {
		keys = s.keys(keys, needs[i].Bucket)
	}
	return keys
}

// keys appends a bucket's: the requests under way, the answered ones, and what the
// service has said.
func (s *Store) keys(keys []string, b ratelimit.Bucket) []string {
	name := s.prefix + b.Name
	return append(keys, name+":under-way", name+":answered", name+":closed")
}

// micros is d as the scripts count, never shorter.
func micros(d time.Duration) int64 {
	return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond)
}

func duration(micros int64) time.Duration { return time.Duration(micros) * time.Microsecond }

func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redis store: %s: %w", doing, err)
}

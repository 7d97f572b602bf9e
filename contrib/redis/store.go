package redisbudget

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tradingapi/trading-go"
)

// Store is a [trading.BudgetStore] in Redis. It is safe for concurrent use.
type Store struct {
	client redis.Scripter
	prefix string
	name   string        // of this store among those that share the places
	places atomic.Uint64 // that it has asked for
}

var _ trading.BudgetStore = (*Store)(nil)

// New returns a store of the places that owner's clients share: the name of a user
// or a desk, the same in all of them and in their [trading.Budget]. The client is the
// caller's to close; one whose time-outs are short leaves more of a call's own time,
// since the trading client gives a store a second. New sends nothing.
func New(client redis.Scripter, owner string) (*Store, error) {
	switch {
	case client == nil:
		return nil, errors.New("redisbudget: New: no client")
	case owner == "" || strings.ContainsAny(owner, "{}"):
		return nil, fmt.Errorf("redisbudget: New: the owner %q cannot be a hash tag: it is empty or has a brace", owner)
	}
	return &Store{client: client, prefix: "trading:budget:{" + owner + "}:", name: rand.Text()}, nil
}

// Take implements [trading.BudgetStore]. Where its answer is lost, the places that it
// may have taken are free again a window after hold.
func (s *Store) Take(ctx context.Context, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	return s.take(ctx, s.name+"/"+strconv.FormatUint(s.places.Add(1), 36), claims, hold)
}

// take takes a place by its name. Redis clients send a script again when its answer
// was lost: a place that is taken already is not taken twice.
func (s *Store) take(ctx context.Context, place string, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	args := make([]any, 0, 2+3*len(claims))
	args = append(args, place, micros(hold))
	for i := range claims {
		args = append(args, claims[i].Bucket.Limit, claims[i].Keep, micros(claims[i].Bucket.Window))
	}
	answer, err := scriptTake.Run(ctx, s.client, s.keysOf(claims), args...).Int64Slice()
	switch {
	case err != nil:
		return trading.Taken{}, failed("Take", err)
	case len(answer) != 2 || answer[0] < 0 || answer[1] < 0 || answer[1] > int64(len(claims)):
		return trading.Taken{}, failed("Take", fmt.Errorf("an answer of %v", answer))
	case answer[1] == 0:
		return trading.Taken{Place: place}, nil
	}
	return trading.Taken{Wait: duration(answer[0]), Lacks: claims[answer[1]-1].Bucket.Name}, nil
}

// Return implements [trading.BudgetStore].
func (s *Store) Return(ctx context.Context, place string, claims []trading.Claim, sent bool) error {
	args := make([]any, 0, 2+len(claims))
	args = append(args, place, sent)
	for i := range claims {
		args = append(args, micros(claims[i].Bucket.Window))
	}
	return failed("Return", scriptReturn.Run(ctx, s.client, s.keysOf(claims), args...).Err())
}

// Block implements [trading.BudgetStore].
func (s *Store) Block(ctx context.Context, b trading.Bucket, d time.Duration) error {
	return failed("Block", scriptBlock.Run(ctx, s.client, s.keys(nil, b), b.Limit, micros(d)).Err())
}

// Learn implements [trading.BudgetStore].
func (s *Store) Learn(ctx context.Context, b trading.Bucket, left int, d time.Duration) error {
	return failed("Learn", scriptLearn.Run(ctx, s.client, s.keys(nil, b), b.Limit, left, micros(d)).Err())
}

// Usage implements [trading.BudgetStore].
func (s *Store) Usage(ctx context.Context, buckets []trading.Bucket) ([]trading.Usage, error) {
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
	usages := make([]trading.Usage, 0, len(buckets))
	for i, b := range buckets {
		told := answer[each*i:]
		usages = append(usages, trading.Usage{
			Bucket: b, Spent: int(told[0]), Elsewhere: int(told[1]), Left: int(told[2]), Closed: duration(told[3]),
		})
	}
	return usages, nil
}

// keysOf are the keys of the claims' buckets.
func (s *Store) keysOf(claims []trading.Claim) []string {
	keys := make([]string, 0, 3*len(claims))
	for i := range claims {
		keys = s.keys(keys, claims[i].Bucket)
	}
	return keys
}

// keys appends a bucket's: the requests under way, the answered ones, and what the
// service has said.
func (s *Store) keys(keys []string, b trading.Bucket) []string {
	name := s.prefix + b.Name
	return append(keys, name+":under-way", name+":answered", name+":word")
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
	return fmt.Errorf("redisbudget: %s: %w", doing, err)
}

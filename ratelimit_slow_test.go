package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// slowStore answers as another does, after a while that each method has, or when
// its context ends.
type slowStore struct {
	trading.BudgetStore
	take, giveBack, usage time.Duration
}

func (s *slowStore) after(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) Take(ctx context.Context, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	if err := s.after(ctx, s.take); err != nil {
		return trading.Taken{}, err
	}
	return s.BudgetStore.Take(ctx, claims, hold)
}

func (s *slowStore) Return(ctx context.Context, place string, claims []trading.Claim, sent bool) error {
	if err := s.after(ctx, s.giveBack); err != nil {
		return err
	}
	return s.BudgetStore.Return(ctx, place, claims, sent)
}

func (s *slowStore) Usage(ctx context.Context, buckets []trading.Bucket) ([]trading.Usage, error) {
	if err := s.after(ctx, s.usage); err != nil {
		return nil, err
	}
	return s.BudgetStore.Usage(ctx, buckets)
}

// shared is a budget in a store that the program brings.
func shared(store trading.BudgetStore) trading.Option {
	return trading.WithBudget(trading.Budget{Store: store, Owner: "desk"})
}

// Who looks at the limits, with a store or a source of keys that takes its time,
// keeps nobody from trading.
func TestALookAtTheLimitsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		slow := join(t, r.sim, shared(&slowStore{BudgetStore: trading.NewBudgetStore(), usage: time.Hour}))
		asked := make(chan struct{})
		var locked rig
		locked = join(t, r.sim, trading.WithSandboxKeyFunc(func(ctx context.Context) (string, error) {
			if _, looking := ctx.Value(lookKey{}).(bool); looking {
				<-asked
				// A source of keys that calls the client must not lock it for good.
				_, err := locked.account().Positions(t.Context())
				assert.NoError(t, err)
			}
			return r.sim.SandboxKey(), nil
		}))
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), lookKey{}, true), time.Minute)
		defer cancel()
		for _, each := range []rig{slow, locked} {
			go func() { _, _ = each.Usage(ctx) }()
			synctest.Wait()
			began := time.Now()
			_, err := each.account().ClosePosition(t.Context(), "BTC", trading.All)
			require.ErrorIs(t, err, trading.CodeNoPosition)
			assert.Less(t, time.Since(began), time.Second)
		}
		close(asked)
		synctest.Wait()
	})
}

type lookKey struct{}

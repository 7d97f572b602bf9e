package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// waits measures what a user waits for, by the clock on the wall, against the simulator in
// process: it answers at once, so what is left are the waits that the client chooses.
func waits(ctx context.Context, w io.Writer, s settings) error {
	fmt.Fprint(w, "\n### (d) What a user waits for\n")
	t := &table{head: []string{"until", "of", "median ms", "90 % ms", "99 % ms", "longest ms"}}
	few, many := s.calls(10), s.calls(1000)
	rows := []struct {
		what    string
		of      int
		measure func(context.Context, settings, int) ([]time.Duration, error)
	}{
		{"the outcome of an order, one reply lost", many, func(ctx context.Context, _ settings, n int) ([]time.Duration, error) { return lostReplies(ctx, n, 1) }},
		{"the outcome of an order, all replies lost until it is given up", many, func(ctx context.Context, _ settings, n int) ([]time.Duration, error) {
			return lostReplies(ctx, n, sends)
		}},
		{"an exit's answer, beside entries that fill the documented limits", s.calls(30), besideEntries},
		{"the first order after a restart with few open writes", 1, restart(few, firstOrder)},
		{"the first order after a restart with many", 1, restart(many, firstOrder)},
		{"the outcome of an open write after a restart with few", few, restart(few, outcomes)},
		{"the outcome of an open write after a restart with many", many, restart(many, outcomes)},
	}
	for _, row := range rows {
		took, err := row.measure(ctx, s, row.of)
		if err != nil {
			return fmt.Errorf("%s: %w", row.what, err)
		}
		slices.Sort(took)
		at := func(percent int) string { return millis(took[(len(took)-1)*percent/100]) }
		t.row(row.what, number(float64(len(took))), at(50), at(90), at(99), at(100))
	}
	t.write(w)
	return nil
}

// sends is how often an order is sent at the most, unless its replies say more.
const sends = 4

const operationOrder = "POST /orders"

// manyAccounts is a service with so many accounts that can be traded, and no limits.
func manyAccounts(n int) *tradingsim.Sim {
	opts := []tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithBalance("1000000"),
		tradingsim.WithKeyLimit(outOfReach), tradingsim.WithUserLimits(outOfReach, outOfReach),
	}
	for i := range n {
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: accountOf(i)}))
	}
	return tradingsim.New(opts...)
}

func accountOf(i int) string { return fmt.Sprintf("acc_%d", i) }

func clientOf(sim *tradingsim.Sim, opts ...trading.Option) (*trading.Client, error) {
	return trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
	}, opts...)...)
}

// beside calls do for each number, all at once, and returns how long each took.
func beside(n int, do func(i int) error) ([]time.Duration, error) {
	took, errs := make([]time.Duration, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			began := time.Now()
			errs[i] = do(i)
			took[i] = time.Since(began)
		})
	}
	all.Wait()
	return took, errors.Join(errs...)
}

// lostReplies is the time of n orders at once, of each of which so many replies are lost.
func lostReplies(ctx context.Context, n, lost int) ([]time.Duration, error) {
	sim := manyAccounts(n)
	client, err := clientOf(sim, trading.WithRateLimits(roomy))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	for range n * lost {
		sim.Fault(operationOrder, tradingsim.DropResponse())
	}
	return beside(n, func(i int) error {
		_, err := client.Live.Account(trading.AccountID(accountOf(i))).PlaceOrder(ctx, clientOrder())
		return err
	})
}

// besideEntries is the time of n closes, one after the other, while eight goroutines send more
// entries than the limits let through.
func besideEntries(ctx context.Context, _ settings, n int) ([]time.Duration, error) {
	const entering = 8
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithBalance("100000000"),
		tradingsim.WithAccount(tradingsim.Account{ID: accountOf(0)}))
	full := make(chan struct{}, entering)
	client, err := clientOf(sim, trading.WithHooks(trading.Hooks{Waiting: func(context.Context, trading.Call, trading.Wait) {
		select {
		case full <- struct{}{}:
		default:
		}
	}}))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	acct := client.Live.Account(trading.AccountID(accountOf(0)))
	if _, err := acct.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("10"), Leverage: trading.Dec("2")}); err != nil {
		return nil, err
	}
	entries, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range entering {
		all.Go(func() {
			for entries.Err() == nil {
				_, _ = acct.PlaceOrder(entries, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.001"), Leverage: trading.Dec("2")}, trading.WithSendTTL(2*time.Minute))
			}
		})
	}
	for range entering { // each of them waits
		select {
		case <-full:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var took []time.Duration
	for range n {
		began := time.Now()
		if _, err := acct.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("1"))); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// restart measures a client that finds so many open writes in its journal, which is on disk.
func restart(open int, measure func(ctx context.Context, client *trading.Client, resolved <-chan time.Duration) ([]time.Duration, error)) func(context.Context, settings, int) ([]time.Duration, error) {
	return func(ctx context.Context, s settings, _ int) (took []time.Duration, err error) {
		dir, err := os.MkdirTemp(s.dir, "bench-")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		sim, path := manyAccounts(open+1), filepath.Join(dir, "journal")
		if err := leaveOpen(ctx, sim, path, open); err != nil {
			return nil, err
		}
		j, err := journal.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, j.Close()) }()
		resolved, began := make(chan time.Duration, open), time.Now()
		client, err := clientOf(sim, trading.WithJournal(j), trading.WithRateLimits(roomy), trading.WithHooks(trading.Hooks{
			Resolved: func(context.Context, trading.Resolution) { resolved <- time.Since(began) },
		}))
		if err != nil {
			return nil, err
		}
		defer func() { _ = client.Close() }()
		return measure(ctx, client, resolved)
	}
}

// leaveOpen leaves n writes in a journal whose replies were lost.
func leaveOpen(ctx context.Context, sim *tradingsim.Sim, path string, n int, opts ...trading.Option) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	client, err := clientOf(sim, append(opts, trading.WithJournal(j), trading.WithRateLimits(roomy), trading.WithResolveTimeout(0),
		trading.WithSendTTL(time.Minute), trading.WithRetry(trading.Retry{Attempts: 1}))...)
	if err != nil {
		return errors.Join(err, j.Close())
	}
	if _, err := client.Live.Accounts(ctx); err != nil { // what is sent before any answer has no time
		return errors.Join(err, j.Close())
	}
	sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation == "GET /health" {
			return tradingsim.Pass()
		}
		return tradingsim.DropResponse()
	})
	_, err = beside(n, func(i int) error {
		_, err := client.Live.Account(trading.AccountID(accountOf(i))).PlaceOrder(ctx, clientOrder())
		if trading.OutcomeOf(err) != trading.Unknown {
			return fmt.Errorf("the reply was to be lost: %w", err)
		}
		return nil
	})
	_ = client.Close() // says which outcomes are not known, as they are to be
	sim.FaultEach(nil)
	return errors.Join(err, j.Close())
}

// firstOrder is the time of an order on an account where nothing is open.
func firstOrder(ctx context.Context, client *trading.Client, resolved <-chan time.Duration) ([]time.Duration, error) {
	began := time.Now()
	_, err := client.Live.Account(trading.AccountID(accountOf(cap(resolved)))).PlaceOrder(ctx, clientOrder())
	return []time.Duration{time.Since(began)}, err
}

// outcomes are the times at which the open writes are known.
func outcomes(ctx context.Context, client *trading.Client, resolved <-chan time.Duration) (took []time.Duration, err error) {
	if _, err := client.Recover(ctx); err != nil {
		return nil, err
	}
	for range cap(resolved) {
		select {
		case at := <-resolved:
			took = append(took, at)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return took, nil
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// readBefore is how long before its first order a process has read the account.
const readBefore = 20 * time.Second

// onJournal has a client on the journal of a path, of a program whose accounts nobody else trades.
func onJournal(sim *tradingsim.Sim, path string, do func(*trading.Client) error) (err error) {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	client, err := clientOf(sim, trading.WithJournal(j), trading.WithRateLimits(roomy), trading.WithExclusiveAccounts())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // which says what is pending
	return do(client)
}

// afterARead is the time of the first order of a process on each of n accounts, 20 s after it has read
// them. The process before has left an order to rest on each.
func afterARead(dir string) func(context.Context, int) (waited, error) {
	return func(ctx context.Context, n int) (took waited, err error) {
		dir, err := os.MkdirTemp(dir, "bench-")
		if err != nil {
			return waited{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		sim, path := manyAccounts(n), filepath.Join(dir, "journal")
		each := func(client *trading.Client, do func(*trading.Account) error) (waited, error) {
			return waitEach(n, func(i int) error { return do(client.Live.Account(trading.AccountID(accountOf(i)))) })
		}
		err = onJournal(sim, path, func(client *trading.Client) error {
			_, err := each(client, func(a *trading.Account) error {
				o := clientOrder()
				o.LimitPrice = trading.At(trading.Dec("63000"))
				_, err := a.PlaceLimit(ctx, o)
				return err
			})
			return err
		})
		if err != nil {
			return waited{}, err
		}
		err = onJournal(sim, path, func(client *trading.Client) error {
			if _, err := each(client, func(a *trading.Account) error {
				_, err := a.Positions(ctx)
				return err
			}); err != nil {
				return err
			}
			if err := sleep(ctx, readBefore); err != nil {
				return err
			}
			took, err = each(client, func(a *trading.Account) error {
				_, err := a.PlaceOrder(ctx, clientOrder())
				return err
			})
			return err
		})
		return took, err
	}
}

// restartedEach is the time until an order is taken on each of n accounts, in each of which one is in
// doubt, by a process that is restarted again and again.
func restartedEach(dir string, lives time.Duration) func(context.Context, int) (waited, error) {
	return func(ctx context.Context, n int) (waited, error) {
		dir, err := os.MkdirTemp(dir, "bench-")
		if err != nil {
			return waited{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		sim, path := manyAccounts(n), filepath.Join(dir, "journal")
		if err := leaveOpen(ctx, sim, path, n, trading.WithExclusiveAccounts()); err != nil {
			return waited{}, err
		}
		began, took := time.Now(), make([]time.Duration, n)
		for slices.Contains(took, 0) {
			err := onJournal(sim, path, func(client *trading.Client) error {
				up, stop := context.WithTimeout(ctx, lives)
				defer stop()
				_, _ = beside(n, func(i int) error {
					for took[i] == 0 && up.Err() == nil {
						_, err := client.Live.Account(trading.AccountID(accountOf(i))).PlaceOrder(up, clientOrder())
						if err == nil {
							took[i] = time.Since(began)
						} else {
							_ = sleep(up, time.Second)
						}
					}
					return nil
				})
				return ctx.Err()
			})
			if err != nil {
				return waited{}, err
			}
		}
		return waited{took: took}, nil
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package doubt

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// crowd is a service with some accounts, all of which the program declares.
type crowd struct {
	rig.Rig
	accounts int
	opts     []trading.Option
}

const farOff = 1 << 30

// withCrowd runs a test on such a service: by its documented limits, or by none.
func withCrowd(t *testing.T, accounts int, limited bool, test func(c *crowd)) {
	t.Helper()
	sim := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithBalance("1000000")}
	opts := []trading.Option{trading.WithExclusiveAccounts()}
	if !limited {
		sim = append(sim, tradingsim.WithKeyLimit(farOff), tradingsim.WithUserLimits(farOff, farOff))
		opts = append(opts, trading.WithRateLimits(trading.RateLimits{PerKey: farOff, PerClass: farOff, PerPro: farOff}))
	}
	for i := range accounts {
		sim = append(sim, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprint("acc_", i)}))
	}
	rig.LiveTest(t, sim, nil, func(r rig.Rig) { test(&crowd{r, accounts, opts}) })
}

func (c *crowd) account(i int) *trading.Account {
	return c.Live.Account(trading.AccountID(fmt.Sprint("acc_", i)))
}

func (c *crowd) restart(disk *rig.Disk, opts ...trading.Option) {
	c.Rig = c.Restart(disk, append(opts, c.opts...)...)
}

// leaves has a program end with an order in doubt on each account, of which such a fault befell each
// send.
func (c *crowd) leaves(disk *rig.Disk, fault tradingsim.Fault) {
	c.restart(disk, trading.WithResolveTimeout(0), trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	_, err := c.Live.Accounts(c.T.Context()) // which says the service's time
	require.NoError(c.T, err)
	c.Sim.FaultEach(func(operation string) tradingsim.Fault {
		switch operation {
		case "GET /health":
			return tradingsim.Pass()
		case "POST /orders":
			return fault
		default:
			return tradingsim.DropResponse()
		}
	})
	var all sync.WaitGroup
	for i := range c.accounts {
		all.Go(func() {
			_, err := c.account(i).PlaceOrder(c.T.Context(), rig.Buy("0.01"))
			assert.Equal(c.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		})
	}
	all.Wait()
	c.Sim.FaultEach(nil)
}

// entersWithin has a program enter on each account as soon as it may, which is restarted again and again. A
// call lasts as long as its process, or knows that it has no longer.
func (c *crowd) entersWithin(disk *rig.Disk, lives, patience time.Duration, knows bool) {
	began, entered := time.Now(), make([]bool, c.accounts)
	for time.Since(began) < patience && slices.Contains(entered, false) {
		c.restart(disk)
		up, stop := context.WithTimeout(c.T.Context(), lives)
		ctx := c.T.Context()
		if knows {
			ctx = up
		}
		var all sync.WaitGroup
		for i := range c.accounts {
			all.Go(func() {
				for !entered[i] && up.Err() == nil {
					if _, err := c.account(i).PlaceOrder(ctx, rig.Buy("0.02"), trading.WithResolveTimeout(0)); err == nil {
						entered[i] = true
					} else {
						time.Sleep(time.Second)
					}
				}
			})
		}
		<-up.Done()
		stop()
		rig.CloseClient(c.T, c.Client)
		all.Wait()
	}
	assert.NotContains(c.T, entered, false, "accounts without an entry")
	c.T.Logf("all entered within %v", time.Since(began))
}

// A program is restarted again and again while orders are in doubt. What one of its processes has waited for the
// next one does not wait for anew: for the key of a write, until nothing of it is on its way, for what reads show,
// for what an earlier process has settled, for a baseline. Only two looks that agree are of one process, a lag
// apart, and so is what waits and the look behind that.
func TestRestartsWaitForNothingAnew(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"its answer is lost":  tradingsim.DropResponse(),
		"the request is lost": tradingsim.DropRequest(),
		"500 after the work":  tradingsim.FailAfter(500, "internal_error"),
	} {
		for _, accounts := range []int{1, 20} {
			for _, limited := range []bool{false, true} {
				for _, lives := range []time.Duration{6 * time.Second, 7 * time.Second, 10 * time.Second, 20 * time.Second} {
					for _, knows := range []bool{true, false} {
						within := time.Minute
						if limited && accounts > 1 { // one in which the service takes no more
							within += time.Minute
						}
						t.Run(fmt.Sprint(name, ", ", accounts, " accounts, limited ", limited, ", each ", lives, ", the call knows ", knows), func(t *testing.T) {
							withCrowd(t, accounts, limited, func(c *crowd) {
								disk := rig.NewDisk()
								c.leaves(disk, fault)
								c.entersWithin(disk, lives, within, knows)
							})
						})
					}
				}
			}
		}
	}
}

// An entry that an order in doubt holds back is told so at once, and waits for no baseline before.
func TestAnEntryBesideDoubtIsRefusedAtOnce(t *testing.T) {
	withCrowd(t, 1, true, func(c *crowd) {
		disk := rig.NewDisk()
		c.leaves(disk, tradingsim.DropRequest())
		c.restart(disk)
		began := time.Now()
		_, err := c.account(0).PlaceOrder(c.T.Context(), rig.Buy("0.02"))
		require.ErrorIs(c.T, err, trading.ErrPendingWrite)
		assert.Zero(c.T, time.Since(began))
	})
}

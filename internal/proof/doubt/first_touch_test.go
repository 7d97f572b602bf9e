package doubt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The look that a program's first entry on a declared account would wait for begins with the first touch of the
// account, so that an entry waits only for what is left of it.
func TestTheLookOfTheFirstEntryBeginsWithTheFirstTouch(t *testing.T) {
	read := func(r rig.Rig) {
		_, err := r.Account().Positions(r.T.Context())
		require.NoError(r.T, err)
	}
	lists := func(r rig.Rig) {
		read(r)
		_, err := r.Account().OpenOrders(r.T.Context())
		require.NoError(r.T, err)
		_, err = r.Account().Trades(r.T.Context())
		require.NoError(r.T, err)
	}
	for name, row := range map[string]struct {
		how   trading.Recovery
		touch func(rig.Rig)
		then  func(rig.Rig) // each half second after that
		after time.Duration // of the touch
		waits time.Duration
		reads int // that nobody called for, before the entry's call
	}{
		"a read":                          {touch: read, after: 20 * time.Second, reads: 6},
		"a read just now":                 {touch: read, after: 7 * time.Second, waits: 4 * time.Second, reads: 1},
		"a read, and 3 s ago an exit":     {touch: read, then: closeAfter(4 * time.Second), after: 7 * time.Second, waits: 7 * time.Second},
		"a list of the accounts":          {touch: listed, after: 20 * time.Second, waits: 5 * time.Second},
		"a call of Recover":               {touch: recovers, after: 20 * time.Second, reads: 6},
		"a read, and all lists by itself": {touch: read, then: lists, after: 20 * time.Second},
		"all lists, once":                 {touch: lists, after: 20 * time.Second, reads: 6},
		"without a background":            {how: trading.Recovery{WithoutBackground: true}, touch: read, after: 20 * time.Second, waits: 5 * time.Second},
		"without a baseline":              {how: trading.Recovery{WithoutBaseline: true}, touch: read, after: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				disk := rig.NewDisk()
				r = r.Restart(disk, rig.Sole)
				r.Open(rig.Buy("0.01"))
				r = r.Restart(disk, rig.Sole, trading.WithRecovery(row.how))
				called := 0
				call := func(do func(rig.Rig)) {
					before := r.Reads()
					do(r)
					called += r.Reads() - before
				}
				before := r.Reads()
				call(row.touch)
				for began := time.Now(); time.Since(began) < row.after; time.Sleep(time.Second / 2) {
					if row.then != nil {
						call(row.then)
					}
				}
				assert.Equal(r.T, row.reads, r.Reads()-before-called, "hidden reads")
				began := time.Now()
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.02"))
				require.NoError(r.T, err)
				assert.Equal(r.T, row.waits, time.Since(began).Round(time.Second))
			})
		})
	}
}

// What is lost of the first entry after that look is found out by the account.
func TestALostFirstEntryIsHeldAgainstTheLookOfTheFirstTouch(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		want  trading.Outcome
	}{
		"it ran":     {tradingsim.FailAfter(500, "internal_error"), trading.Applied},
		"it did not": {tradingsim.Fail(500, "internal_error"), trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				r = r.Restart(rig.NewDisk(), rig.Sole, trading.WithRecovery(trading.Recovery{WithoutProbe: true}))
				_, err := r.Account().State(r.T.Context())
				require.NoError(r.T, err)
				time.Sleep(20 * time.Second)
				began := time.Now()
				lost := r.Doubtful(row.fault, rig.Buy("0.05"), trading.WithResolveTimeout(0))
				assert.Less(r.T, time.Since(began), time.Second)
				resolution, err := r.Within(time.Hour, lost)
				require.NoError(r.T, err)
				assert.Equal(r.T, row.want, resolution.Outcome)
			})
		})
	}
}

func listed(r rig.Rig) {
	_, err := r.Live.Accounts(r.T.Context())
	require.NoError(r.T, err)
}

// closeAfter closes once, by its calls of each half second.
func closeAfter(d time.Duration) func(rig.Rig) {
	return func(r rig.Rig) {
		if d -= time.Second / 2; d == 0 {
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
			require.NoError(r.T, err)
		}
	}
}

func recovers(r rig.Rig) {
	_, err := r.Recover(r.T.Context())
	require.NoError(r.T, err)
}

package recovery

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// workers are how long the service works on the write: longer than an attempt lasts.
var workers = []time.Duration{6 * time.Second, 8 * time.Second, 12 * time.Second, 20 * time.Second}

// The columns of the matrix in which the service works on the write for longer than its first attempt lasts,
// over connections on which the client listens. The outcome is known when the service has it; a process that
// ends before that leaves it to the next.
func TestMatrixOfWorkers(t *testing.T) {
	for _, w := range writes {
		for _, s := range states {
			if len(w.states) > 0 && !slices.Contains(w.states, s.name) {
				continue
			}
			for _, works := range workers {
				for _, restart := range []time.Duration{inProcess, 0, time.Minute} {
					if depth.Race && works != workers[0] {
						continue
					}
					t.Run(fmt.Sprint(w.name, ", ", s.name, ", ", works, ", ", nameOf(restart)), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { playWorker(t, w, s, works, restart) })
					})
				}
			}
		}
	}
}

func playWorker(t *testing.T, w write, s state, works, restart time.Duration) {
	sim := tradingsim.New(tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour))
	begin := func(j journal.Store) (*trading.Client, *rig.Pipes) {
		pipes := rig.OverPipes(t, sim)
		return tradingtest.Client(t, sim, trading.WithJournal(j), pipes.Option(), trading.WithExclusiveAccounts(account)), pipes
	}
	j := newJournal()
	client, pipes := begin(j)
	time.Sleep(10 * time.Second)
	require.NoError(t, s.make(client.Live.Account(account), t.Context()))
	time.Sleep(time.Minute)
	before := len(sim.Ledger())
	sim.Fault("POST "+w.path, tradingsim.Delay(works))
	began := time.Now()
	placed := make(chan error, 1)
	go func() { placed <- w.place(client.Live.Account(account), t.Context()) }()
	if restart == inProcess {
		err := <-placed
		if trading.OutcomeOf(err) == trading.Unknown { // no exit's call waits for so long
			require.GreaterOrEqual(t, works, 12*time.Second, "%v", err)
			_, err = client.Resolve(t.Context(), err)
		}
		require.NoError(t, err)
		assert.LessOrEqual(t, time.Since(began), works+300*time.Millisecond)
	} else {
		time.Sleep(5500 * time.Millisecond)
		pipes.Cut()
		left := reopen(t, j)
		_ = client.Close()
		t.Log("the call ended with its client:", <-placed)
		time.Sleep(restart)
		next, _ := begin(left)
		found, err := next.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, trading.Applied, found[0].Outcome)
	}
	time.Sleep(20 * time.Minute)
	ran := 0
	for _, e := range sim.Ledger()[before:] {
		if e.Actor == "api" && e.Operation == "POST "+w.path {
			ran++
		}
	}
	assert.Equal(t, 1, ran)
}

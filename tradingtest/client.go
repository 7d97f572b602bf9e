// Package tradingtest joins a client and a simulated service for a bot's own
// tests: no socket, no key, no account, no clock of its own.
//
//	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
//	account := tradingtest.Client(t, sim).Live.Account("acc_1")
//
// Whatever a test wants to go wrong, it plans with the simulation
// ([tradingsim.Sim.Fault], [tradingsim.Sim.SetMark], [tradingsim.Sim.SetHealth]), and
// what really happened it asks the simulation too ([tradingsim.Sim.Ledger],
// [tradingsim.Sim.Report]): the client and the simulation share no code, so one is
// evidence about the other.
//
// Inside a [testing/synctest] bubble all of it runs on virtual time, the client's
// waits and time-outs as well as the service's windows. A bot that polls
// every few seconds lives through a month in less than a minute, unmodified.
// End such a run between two polls: where a deadline and a ticker are due at the same
// moment, select takes either, and two runs may differ by the last poll.
package tradingtest

import (
	"errors"
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Client returns a client of a simulation, with both keys and a journal in memory, in
// process. It is closed at the end of the test, before whatever the test opened first; the
// simulation is the test's own. That writes are pending when it closes is not an error of
// the test.
//
// Options win over what Client sets: a test of a restart gives both clients one journal.
// In a bubble, call it and make the simulation inside.
func Client(t testing.TB, sim *tradingsim.Sim, opts ...trading.Option) *trading.Client {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
		trading.WithJournal(journal.NewMemory()),
	}, opts...)...)
	if err != nil {
		t.Fatalf("tradingtest: %v", err)
	}
	t.Cleanup(func() {
		var left *trading.PendingError // which the test may mean
		if err := client.Close(); err != nil && !errors.As(err, &left) {
			t.Errorf("tradingtest: closing the client: %v", err)
		}
	})
	return client
}

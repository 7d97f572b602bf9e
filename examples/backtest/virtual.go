package main

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
)

// onVirtualTime runs f where time is virtual, for every goroutine that f starts, and
// then leaves the program with what exit returns.
//
// A bot is code that sleeps, waits for tickers and asks for the time. Only a bubble of
// testing/synctest makes all of that virtual without a change to the bot, and a bubble
// belongs to a test. So the program runs a test of its own: testing.Main is there for
// programs other than "go test" that run tests. It never returns.
func onVirtualTime(f func(t *testing.T), exit func() int) {
	test := func(t *testing.T) {
		synctest.Test(t, f)
		os.Exit(exit()) // before package testing says PASS
	}
	all := func(string, string) (bool, error) { return true, nil }
	os.Args = os.Args[:1] // the rest was for this program
	testing.Main(all, []testing.InternalTest{{Name: "backtest", F: test}}, nil, nil)
}

// errNoBubble is what a run has come to before it has run.
var errNoBubble = errors.New("the backtest did not run")

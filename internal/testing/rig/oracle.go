package rig

import (
	"slices"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Oracle holds what clients say of their writes against what their service has executed: no decision
// runs twice, what is applied has run, what is not applied has not, and a doubt ends. What no client can
// promise away is counted apart, by its name in [Exceptions].
type Oracle struct {
	Problem  func(format string, args ...any) // hears of what must not be
	Excepted map[string]int
}

// OthersLevels is no exception: the outcome of a setting of levels is what the position has.
const OthersLevels = "levels that another write has set, or that have gone with the position"

// Executed is what a service has executed of an operation under keys.
func Executed(sim *tradingsim.Sim, op trading.Operation, keys ...trading.Key) (list []tradingsim.Execution) {
	keys = slices.Sorted(slices.Values(keys))
	for _, key := range slices.Compact(keys) {
		for _, e := range sim.Executed(string(key)) {
			if e.Operation == string(op) {
				list = append(list, e)
			}
		}
	}
	return list
}

// Became is what became of a write that has run so often, as somebody finds it who sees the ledger.
func Became(ran int) trading.Outcome {
	if ran > 0 {
		return trading.Applied
	}
	return trading.NotApplied
}

// Once holds that a decision has not run twice. why names the exception behind it, if it has: "" for none.
func (o *Oracle) Once(decision string, ran int, why func() string) {
	if ran > 1 {
		o.Wrong(why, "%s was executed %d times", decision, ran)
	}
}

// Said holds a word about a write, of the client to anybody or in a journal, against how often it has run.
func (o *Oracle) Said(word string, said trading.Outcome, ran int, why func() string) {
	if said != trading.Unknown && said != Became(ran) {
		o.Wrong(why, "%s: it is %s, and was executed %d times", word, said, ran)
	}
}

// Ended holds that no doubt is left.
func (o *Oracle) Ended(when string, left []trading.PendingWrite) {
	for _, w := range left {
		o.Problem("%s: still in doubt, since %s: %s %s: %s", when, w.Decided, w.Operation, w.Key, w.Reason)
	}
}

// Wrong counts the exception behind what must not be, or reports it.
func (o *Oracle) Wrong(why func() string, format string, args ...any) {
	if why != nil {
		if exception := why(); exception != "" {
			if o.Excepted == nil {
				o.Excepted = map[string]int{}
			}
			o.Excepted[exception]++
			return
		}
	}
	o.Problem(format, args...)
}

package resolve

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// oneNamespace answers a calibration as the contract reads.
func oneNamespace(r Request) ledger.Answer {
	if r.Operation == cancelRun {
		return reused
	}
	return noOrder
}

// inTurn answers the requests of calibrations one after the other, and the last again.
func inTurn(answers ...ledger.Answer) func(Request) ledger.Answer {
	return func(Request) (next ledger.Answer) {
		next, answers = answers[0], answers[min(1, len(answers)-1):]
		return next
	}
}

// byRoute answers one as if each route had keys of its own.
func byRoute() func(Request) ledger.Answer {
	return inTurn(noOrder, noRun, replayed(noOrder), replayed(noRun), reused, reused)
}

// keeper is a service that keeps idempotency keys in one of the ways in which one could.
type keeper struct {
	byRoute     bool   // each route has keys of its own
	successOnly bool   // a refusal is not stored
	looksFirst  bool   // what is not there is refused before the key is looked at
	none        string // these routes keep none
	bytes       uint8  // what other bytes under a key meet
	unmarked    bool   // what is stored comes without a mark

	stored map[string]kept
	ran    int
}

// What other bytes under a key meet.
const (
	compared uint8 = iota // 422
	ignored               // the stored answer
	partOfIt              // nothing: they are part of the key
	bytesEnd
)

// routes are those of a part of the API.
func routes(operation string) string {
	switch {
	case strings.Contains(operation, "/runs") || operation == twap:
		return "runs"
	case strings.Contains(operation, "/cancel"):
		return "cancels"
	default:
		return "orders"
	}
}

type kept struct {
	body   string
	answer ledger.Answer
}

func (k *keeper) handle(r Request) ledger.Answer {
	answer := k.answer(r)
	if k.looksFirst && answer.Status == 404 || k.none == routes(string(r.Operation)) {
		return k.carriedOut(answer)
	}
	key := r.Key
	if k.byRoute {
		key += pending.Key(r.Operation)
	}
	if k.bytes == partOfIt {
		key += pending.Key(r.Body)
	}
	if first, found := k.stored[string(key)]; found {
		switch {
		case k.bytes == compared && first.body != string(r.Operation)+string(r.Body):
			return reused
		case k.unmarked:
			return first.answer
		default:
			return replayed(first.answer)
		}
	}
	if answer.Class == ledger.Success || !k.successOnly {
		k.stored[string(key)] = kept{string(r.Operation) + string(r.Body), answer}
	}
	return k.carriedOut(answer)
}

func (k *keeper) carriedOut(a ledger.Answer) ledger.Answer {
	if a.Class == ledger.Success {
		k.ran++
	}
	return a
}

// answer is what the service makes of a request.
func (k *keeper) answer(r Request) ledger.Answer {
	switch {
	case r.Operation == cancelOrder:
		return noOrder
	case r.Operation == cancelRun:
		return noRun
	case strings.Contains(string(r.Body), "fence-"):
		return refused(400, "asset_disabled")
	default:
		return success
	}
}

// keepers are the services that the contract allows, and those that it does not.
func keepers() iter.Seq2[string, keeper] {
	return func(yield func(string, keeper) bool) {
		for n := range 1 << 4 {
			for bytes := range bytesEnd {
				for _, none := range []string{"", "runs", "cancels", "orders"} {
					k := keeper{n&1 > 0, n&2 > 0, n&4 > 0, none, bytes, n&8 > 0, map[string]kept{}, 0}
					name := fmt.Sprintf("by route %t, 2xx stored alone %t, 404 first %t, none of %q, bytes %d, unmarked %t, ", k.byRoute, k.successOnly, k.looksFirst, none, bytes, k.unmarked)
					if !yield(name, k) {
						return
					}
				}
			}
		}
	}
}

// D 53: however a service keeps its keys, a write that arrives late does not run after it was
// said not to, and one that ran is not said not to have.
func TestEdge53_HoweverKeysAreKept(t *testing.T) {
	for name, variant := range keepers() {
		for _, operation := range []string{order, exit, twap} {
			for _, arrives := range []time.Duration{0, 7 * time.Second, 12 * time.Second, 20 * time.Minute, -1} {
				t.Run(fmt.Sprint(name, operation, arrives), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						if !variant.byRoute && variant.none == routes(operation) {
							return // what a route that trades does with a key no harmless question shows
						}
						k := variant
						k.stored = map[string]kept{}
						clean := !k.successOnly && !k.looksFirst && k.none == "" && k.bytes == compared && !k.unmarked
						s := &service{handle: k.handle, body: `{}`}
						s.look = func() (AccountLook, error) {
							l := AccountLook{Positions: map[string]accounting.Holding{}}
							ran := now(s, func() int { return k.ran })
							switch {
							case ran == 0:
							case operation == exit:
								l.Rows = []accounting.Row{{Symbol: "BTC", Side: accounting.Long, Cause: accounting.Market, Size: decimal.NewNullDecimal(decimal.NewFromInt(1))}}
							case operation == order:
								l.Positions["BTC"] = accounting.Holding{Size: decimal.NewFromInt(1)}
							default:
								l.Runs = []string{"run_1"}
							}
							return l, nil
						}
						d := client(t, s)
						w := lost(t, d, "w_1", operation)
						original := d.probeOf(w)
						if arrives >= 0 {
							go func() {
								time.Sleep(arrives)
								s.change(func() { k.handle(original) })
							}()
						}
						time.Sleep(time.Millisecond)
						r, known := waitFor(t, d, w, time.Hour)
						time.Sleep(time.Hour) // it may arrive after that
						if known && r.Outcome == ledger.NotApplied {
							assert.Zero(t, now(s, func() int { return k.ran }))
						}
						if known && r.Outcome == ledger.Applied {
							assert.Equal(t, 1, now(s, func() int { return k.ran }))
						}
						if arrives == 0 && clean {
							assert.True(t, known, "its stored answer")
						}
						assert.LessOrEqual(t, now(s, func() int { return k.ran }), 1)
					})
				})
			}
		}
	}
}

// D 32: what a fence says is believed once it is known how keys are kept, be it that the first
// try failed part-way, or a replayed answer.
func TestEdge32_AFenceIsBelievedAfterTheCalibration(t *testing.T) {
	for name, says := range map[string]ledger.Answer{
		"result unknown": partWay, "a replayed refusal": replayed(tooSmall), "no order": noOrder, "a success": success,
	} {
		for how, row := range map[string]struct {
			keys    func(Request) ledger.Answer
			outcome ledger.Outcome
			asked   string
		}{
			"one namespace": {oneNamespace, ledger.NotApplied, "fence, look, look"},
			"by route": {
				byRoute(), ledger.Applied, "fence, /orders, /orders, /orders",
			},
			"nothing that is known": {
				inTurn(noOrder, noRun, noOrder, replayed(noRun)), ledger.NotApplied, "fence, look, look, look, look, look",
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{keys: row.keys, body: `{}`, answers: map[string][]ledger.Answer{
						cancelOrder: {says}, order: {reused, reused, replayed(success)},
					}}
					d := client(t, s)
					began := time.Now()
					r, known := d.Wait(t.Context(), lost(t, d, "w_1", order))
					require.True(t, known)
					assert.Equal(t, row.outcome, r.Outcome)
					assert.Equal(t, row.asked, s.asks())
					if how == "nothing that is known" {
						assert.GreaterOrEqual(t, time.Since(began), ledger.Gone)
					}
				})
			})
		}
	}
}

package mcp

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// reached is when the service executed the first of an operation after a moment.
func (r *rig) reached(since time.Time) time.Duration {
	for _, x := range r.sim.Ledger() {
		if !x.At.Before(since) && (x.Operation == "POST /positions/close" || x.Operation == "POST /orders/cancel" || x.Operation == "POST /sandbox/positions/close") {
			return x.At.Sub(since)
		}
	}
	return time.Hour
}

// Every exit is out within a second, whatever stands beside it, on both accounts, and however late reads
// show what was done. The paper account takes one write at a time: there an exit waits for the one that
// is under way, and goes first then.
func TestExitsAreOut(t *testing.T) {
	beside := map[string]func(r *rig){
		"nothing":             func(*rig) {},
		"an entry in flight":  func(r *rig) { r.hung(tradingsim.DelayResponse(19 * time.Second)) },
		"an entry in doubt":   func(r *rig) { r.hung(tradingsim.DropRequest()); time.Sleep(3 * time.Second) },
		"an entry being read": func(r *rig) { r.hangReads(); go r.call(r.Context(), "preview_order", r.entry) },
		"64 entries judged": func(r *rig) {
			r.hangReads()
			for range 64 {
				go r.call(r.Context(), "preview_order", r.entry)
			}
		},
		"a halt":          func(r *rig) { r.must("halt", nil) },
		"a broken policy": func(r *rig) { require.NoError(r, writeFile(r.config.Policy, "{")) },
		"no health":       func(r *rig) { r.sim.SetHealth("unavailable", "down") },
		"three waiting": func(r *rig) {
			r.engine.config.Approve = ApproveEntries
			for range 3 {
				r.must("execute", ticketOf(r.ticket(r.entry)))
			}
		},
		"spent reads": func(r *rig) {
			for range readsAMinute {
				r.call(r.Context(), "status", nil)
			}
		},
		"no mark": func(r *rig) { r.sim.SetMark("ETH", "") },
		"a disk that hangs": func(r *rig) {
			r.hangFacts.Store(true)
			ticket := r.ticket(r.entry)
			go r.call(r.Context(), "execute", ticketOf(ticket))
		},
		"spent previews": func(r *rig) {
			for range 25 {
				r.call(r.Context(), "preview_order", r.entry)
			}
		},
		"an exit that hangs": func(r *rig) {
			r.sim.Fault(map[Mode]string{Paper: "POST /sandbox/positions/tpsl", Live: "POST /positions/tpsl"}[r.config.Mode], tradingsim.DelayResponse(19*time.Second))
			go r.call(r.Context(), "execute", ticketOf(r.must("preview_change", map[string]string{"change": "levels", "symbol": "BTC", "stop_loss": "60000"}).text("ticket")))
		},
		"a flatten under way": func(r *rig) { go r.call(r.Context(), "flatten", nil); time.Sleep(20 * time.Millisecond) },
		"five wrong guesses": func(r *rig) {
			require.NoError(r, SetPassphrase(r.config.Dir, phrase))
			for range 6 {
				_ = r.engine.gate.judge("wrong wrong")
			}
		},
	}
	for _, mode := range []Mode{Paper, Live} {
		for l, lag := range []time.Duration{0, 2 * time.Second, 5 * time.Second} {
			for name, stand := range beside {
				if mode == Paper && name == "a broken policy" {
					continue // there is none
				}
				for _, exit := range []string{"close", "cancel", "flatten", "halt"} {
					if mode == Paper && exit == "cancel" {
						continue // nothing rests
					}
					if *runs <= 2 && (len(name)+len(exit))%3 != l {
						continue // a sample has one lag of each
					}
					t.Run(fmt.Sprintf("%s on %s with a lag of %s beside %s", exit, mode, lag, name), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							stuck := make(chan struct{})
							var r *rig
							r = newRig(t, mode, func(c *Config) {
								c.step = func(string) {
									if r != nil && r.hangFacts.Load() {
										<-stuck
									}
								}
							}, tradingsim.WithLag(lag))
							defer close(stuck)
							r.isOut(exit, name, stand)
						})
					})
				}
			}
		}
	}
}

// isOut calls an exit beside something, and looks when it reached the service.
func (r *rig) isOut(exit, name string, stand func(*rig)) {
	time.Sleep(10 * time.Second)
	r.must("execute", ticketOf(r.ticket(r.buy())))
	var order map[string]any
	var more []string
	if r.config.Mode == Live {
		rests := r.must("execute", ticketOf(r.ticket(r.buy("symbol", "ETH", "type", "resting", "limit_price", "3000"))))
		order, _ = rests["answer"].(map[string]any)
		more = []string{"adds_to", rests.text("ticket")}
	}
	time.Sleep(11 * time.Second)
	r.entry = r.buy(append(more, "symbol", "ETH")...)
	stand(r)
	time.Sleep(50 * time.Millisecond)
	began, within := time.Now(), time.Second
	if r.config.Mode == Paper && (name == "an entry in flight" || name == "an exit that hangs") {
		within = 5 * time.Second
	}
	switch exit {
	case "close":
		r.must("close", map[string]string{"symbol": "BTC"})
	case "cancel":
		r.must("close", map[string]string{"order": fmt.Sprint(order["order"])})
	case "flatten":
		go r.call(r.Context(), "flatten", nil)
		time.Sleep(2 * within)
	case "halt":
		assert.Equal(r, true, r.must("halt", nil)["halted"])
		_, halted := r.client.Halted()
		assert.True(r, halted)
		assert.Less(r, time.Since(began), time.Second)
		return
	}
	if name == "a flatten under way" { // it may have been that one
		began = began.Add(-time.Second)
	}
	assert.LessOrEqual(r, r.reached(began), within)
}

// hung executes an entry in ETH whose answer has a fault.
func (r *rig) hung(f tradingsim.Fault) {
	r.sim.Fault(map[Mode]string{Paper: "POST /sandbox/orders", Live: "POST /orders"}[r.config.Mode], f, f, f, f, f, f)
	ticket := r.ticket(r.entry)
	go r.call(r.Context(), "execute", ticketOf(ticket))
	time.Sleep(100 * time.Millisecond)
}

// hangReads lets the reads of entries hang.
func (r *rig) hangReads() {
	for _, operation := range []string{"GET /accounts/{accountId}", "GET /sandbox/account", "GET /sandbox/prices"} {
		r.sim.Fault(operation, tradingsim.Hang(7*time.Second), tradingsim.Hang(7*time.Second), tradingsim.Hang(7*time.Second))
	}
}

// An entry that waits for a rate limit when an account is flattened is not sent, and one that has left is closed.
func TestAFlattenBesideAnEntryThatWaits(t *testing.T) {
	for left := time.Duration(1); left < 12; left++ {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Live, nil)
			time.Sleep(10 * time.Second)
			first, second := r.ticket(r.buy()), r.ticket(r.buy("symbol", "ETH", "stop_loss", "2900"))
			r.sim.Fault("POST /orders", tradingsim.RateLimit(15*time.Second))
			_, _ = r.call(r.Context(), "execute", ticketOf(first)) // which closes the limit
			time.Sleep((15 - left) * time.Second)
			go r.call(r.Context(), "execute", ticketOf(second))
			time.Sleep(100 * time.Millisecond)
			v := r.must("flatten", map[string]string{"account": "acc_1"})
			require.Equal(t, true, v["flat"], "%v", v)
			fills := r.fills()
			time.Sleep(time.Minute)
			assert.Equal(t, fills, r.fills(), "%d s: nothing is executed after the proof", left)
			assert.Equal(t, "not_applied", r.must("get_ticket", ticketOf(second)).text("outcome"))
		})
	}
}

// A halt at each step of a ticket: nothing is sent after it.
func TestAHaltAtEachStep(t *testing.T) {
	for _, step := range []string{"before consumed", "after consumed", "before sent", "after sent"} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *rig
				r = newRig(t, Live, func(c *Config) {
					c.step = func(name string) {
						if name == step {
							r.must("halt", nil)
						}
					}
				})
				time.Sleep(10 * time.Second)
				ticket := r.ticket(r.buy())
				v, _ := r.call(t.Context(), "execute", ticketOf(ticket))
				assert.Equal(t, "not_applied", v.text("outcome"), "%v", v)
				assert.Zero(t, r.fills())
			})
		})
	}
}

package mcp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func ticketOf(id string) map[string]string { return map[string]string{"ticket": id} }

// Of 64 racing calls and ten later ones with one ticket one order comes.
func TestATicketIsOneOrder(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		ticket := r.ticket(r.buy())
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() {
				v, refused := r.call(t.Context(), "execute", ticketOf(ticket))
				assert.False(t, refused, "%v", v)
			})
		}
		calls.Wait()
		for range 10 {
			assert.Equal(t, "applied", r.must("execute", ticketOf(ticket)).text("outcome"))
		}
		assert.Equal(t, 1, r.fills())
	})
}

// 64 tickets, each at a state of its own and naming the one before, do not pass a cap together while
// reads lag.
func TestTicketsAgainstOneCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Live, nil, tradingsim.WithLag(3*time.Second))
		r.config.Policy = r.policy(strings.Replace(livePolicy, `"max_position_notional":"400000"`, `"max_position_notional":"10000"`, 1))
		r.engine.config.Policy = r.config.Policy
		time.Sleep(10 * time.Second)
		last, passed := "", 0
		for i := range 64 {
			if i%20 == 19 {
				time.Sleep(time.Minute + time.Second) // the previews of a minute
			}
			args := r.buy("size", "0.05")
			if last != "" {
				args["adds_to"] = last
			}
			v, refused := r.call(t.Context(), "preview_order", args)
			if refused {
				assert.Equal(t, []any{"policy", "max_position_notional"}, []any{v["code"], v["rule"]}, "%v", v)
				continue
			}
			if v, refused := r.call(t.Context(), "execute", ticketOf(v.text("ticket"))); !refused && v.text("outcome") == "applied" {
				last = v.text("ticket")
				passed++
			}
		}
		assert.Equal(t, 3, passed) // 3,200 dollars each
		assert.Equal(t, "0.15", r.sim.Position("acc_1", "BTC").String())
	})
}

// What a ticket is bound to ends it.
func TestTicketsEnd(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		execute := func(code, ticket string) {
			t.Helper()
			r.refused(code, "execute", ticketOf(ticket))
			assert.Zero(t, r.fills())
		}
		execute("unknown_ticket", "t_aaaaaaaaaaaaaaaa")
		expired := r.ticket(r.buy())
		time.Sleep(61 * time.Second)
		execute("ticket_expired", expired)

		moved := r.ticket(r.buy())
		r.sim.SetMark("BTC", "65000")
		time.Sleep(time.Second)
		execute("mark_moved", moved)

		changed := r.ticket(r.buy())
		if r.config.Mode == Live {
			r.sim.Trade("acc_1", "short", "0.01", "BTC")
			time.Sleep(time.Second)
			execute("position_changed", changed)
			old := r.ticket(r.buy())
			require.NoError(t, writeFile(r.config.Policy, strings.Replace(livePolicy, `"5"`, `"4"`, 1)))
			execute("policy_changed", old)
		}
		halted := r.ticket(r.buy())
		r.must("halt", nil)
		execute("halted", halted)
		args := r.buy()
		r.refused("halted", "preview_order", args)
		r.stop()
		r.start()
		r.refused("halted", "preview_order", r.buy())
		execute("unknown_ticket", halted)
		require.NoError(t, r.engine.Resume())
		r.must("preview_order", r.buy())
	})
}

// A clock that is set neither keeps a ticket alive nor gives back what a day has counted.
func TestClocksThatAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := time.Duration(0)
		boot := time.Now()
		policy := t.TempDir() + "/policy.json"
		require.NoError(t, writeFile(policy, strings.Replace(livePolicy, `"max_day_notional":"1000000"`, `"max_day_notional":"10000"`, 1)))
		r := newRig(t, Live, func(c *Config) {
			c.clock = func() Moment {
				now := time.Now()
				return Moment{Wall: now.Add(set).Round(0), Up: now.Sub(boot), Boot: "boot"}
			}
			c.Policy = policy
		})
		time.Sleep(10 * time.Second)
		r.must("execute", ticketOf(r.ticket(r.buy())))
		for _, step := range []time.Duration{-48 * time.Hour, 48 * time.Hour} {
			set = step
			assert.Equal(t, "max_day_notional", r.refused("policy", "preview_order", r.buy("symbol", "ETH", "size", "2")).text("rule"))
			set = 0
			time.Sleep(time.Minute)
			ticket := r.ticket(r.buy("symbol", "ETH", "size", "0.01"))
			set = step
			if step > 0 {
				r.refused("ticket_expired", "execute", ticketOf(ticket))
			} else {
				time.Sleep(61 * time.Second)
				r.refused("ticket_expired", "execute", ticketOf(ticket))
			}
		}
		set = 0
		time.Sleep(25 * time.Hour)
		r.must("preview_order", r.buy("symbol", "ETH", "size", "2"))
	})
}

// An engine that ends at a step of a ticket, and is started again, says what became of it, or that it
// does not know; and nothing that was consumed is placed again.
func TestKillsAtEachStep(t *testing.T) {
	var steps []string
	for _, what := range []string{factConsumed, factSent, factOutcome, factAnswer} {
		steps = append(steps, "before "+what, "after "+what)
	}
	steps = append(steps, "the request is lost", "the reply is lost")
	for _, mode := range []Mode{Paper, Live} {
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s %s", mode, step), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var armed atomic.Bool
					r := newRig(t, mode, func(c *Config) {
						c.step = func(name string) {
							if armed.Load() && name == step {
								runtime.Goexit()
							}
						}
					})
					time.Sleep(10 * time.Second)
					ticket := r.ticket(r.buy())
					armed.Store(true)
					operation := map[Mode]string{Paper: "POST /sandbox/orders", Live: "POST /orders"}[mode]
					switch step {
					case "the request is lost":
						r.sim.Fault(operation, tradingsim.DropRequest(), tradingsim.DropRequest(), tradingsim.DropRequest(), tradingsim.DropRequest(), tradingsim.DropRequest())
					case "the reply is lost":
						r.sim.Fault(operation, tradingsim.DelayResponse(20*time.Second))
					}
					go r.call(context.Background(), "execute", ticketOf(ticket))
					time.Sleep(time.Second)
					armed.Store(false)
					r.stop()
					r.start()
					for range 8 {
						told, refused := r.call(t.Context(), "get_ticket", ticketOf(ticket))
						happened := r.fills() == 1
						switch {
						case refused:
							require.Equal(t, "before consumed", step, "%v", told)
							require.False(t, happened)
						case told.text("outcome") == "applied":
							require.True(t, happened, "%v", told)
						case told.text("outcome") == "not_applied":
							require.False(t, happened, "%v", told)
						}
						again, _ := r.call(t.Context(), "execute", ticketOf(ticket))
						require.NotEqual(t, "in_flight", again.text("phase"))
						require.LessOrEqual(t, r.fills(), 1)
						time.Sleep(10 * time.Second)
					}
				})
			})
		}
	}
}

// An abandoned call changes nothing about its write, and its outcome is told afterwards.
func TestAnAbandonedCall(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		r.sim.Fault(map[Mode]string{Paper: "POST /sandbox/orders", Live: "POST /orders"}[r.config.Mode], tradingsim.DelayResponse(2*time.Second))
		ticket := r.ticket(r.buy())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		v, _ := r.call(ctx, "execute", ticketOf(ticket))
		assert.Equal(t, "in_flight", v.text("phase"))
		r.refused("market_closed", "preview_order", r.buy())
		time.Sleep(3 * time.Second)
		assert.Equal(t, "applied", r.must("get_ticket", ticketOf(ticket)).text("outcome"))
		assert.Equal(t, 1, r.fills())
	})
}

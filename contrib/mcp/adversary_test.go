package mcp

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/tradingsim"
)

var runs = flag.Int("adversary.runs", 2, "runs of each model, lag and set of rules")

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// A model wants one order. Its host gives up on a call after a quarter of a second, and the service
// answers an order after 300 to 800 ms. Each model decides again in its own way; an order that
// happened twice is a double. With tickets alone they double, and with all rules none does.

type model struct {
	*rig
	random *rand.Rand
	state  string
	adds   string
	looked reply
}

const givesUp = 250 * time.Millisecond

// ask calls a tool, and gives up.
func (m *model) ask(tool string, args any) (v reply, refused, heard bool) {
	type heardReply struct {
		v       reply
		refused bool
	}
	ctx, cancel := context.WithTimeout(context.Background(), givesUp)
	defer cancel()
	answer := make(chan heardReply, 1)
	go func() {
		v, refused := m.call(ctx, tool, args)
		answer <- heardReply{v, refused}
	}()
	select {
	case a := <-answer:
		return a.v, a.refused, true
	case <-ctx.Done():
		return nil, false, false
	}
}

func (m *model) think() { time.Sleep(time.Duration(m.random.IntN(3000)) * time.Millisecond) }

// look takes a new state, and reports whether the account shows the position.
func (m *model) look() (has bool) {
	v, refused, heard := m.ask("account", nil)
	if !heard || refused {
		return false
	}
	m.state, m.looked = v.text("state"), v
	return len(v.list("positions")) > 0
}

// order previews and executes, once; done if it heard that the order happened. The answer is the
// last one.
func (m *model) order(ticket *string) (done bool, last reply) {
	args := map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "leverage": "2", "state": m.state}
	if m.adds != "" {
		args["adds_to"] = m.adds
	}
	v, refused, heard := m.ask("preview_order", args)
	if refused || !heard {
		return false, v
	}
	*ticket = v.text("ticket")
	v, refused, heard = m.ask("execute", map[string]string{"ticket": *ticket})
	return heard && !refused && v.text("outcome") == "applied", v
}

const tries = 6

var models = []struct {
	name string
	acts func(m *model)
}{
	{"executes the same ticket again", func(m *model) {
		ticket := ""
		m.look()
		for done, _ := m.order(&ticket); !done; {
			m.think()
			v, refused, heard := m.ask("execute", map[string]string{"ticket": ticket})
			done = heard && (refused || v.text("phase") != "in_flight")
		}
	}},
	{"previews again", func(m *model) {
		m.look()
		for range tries {
			ticket := ""
			if done, _ := m.order(&ticket); done {
				return
			}
			m.think()
		}
	}},
	{"looks first", func(m *model) {
		for range tries {
			if m.look() {
				return
			}
			ticket := ""
			if done, _ := m.order(&ticket); done {
				return
			}
			m.think()
		}
	}},
	{"looks beside", func(m *model) {
		m.look()
		for range tries {
			beside := make(chan string)
			go func() {
				time.Sleep(time.Duration(m.random.IntN(200)) * time.Millisecond)
				v, _, _ := m.ask("account", nil)
				beside <- v.text("state")
			}()
			ticket := ""
			done, _ := m.order(&ticket)
			if state := <-beside; state != "" {
				m.state = state
			}
			if done {
				return
			}
		}
	}},
	{"asks in a second chat", func(m *model) {
		m.look()
		ticket := ""
		if done, _ := m.order(&ticket); done {
			return
		}
		second := &model{rig: m.rig, random: m.random}
		for range tries {
			second.think()
			if second.look() {
				return
			}
			if done, _ := second.order(&ticket); done {
				return
			}
		}
	}},
	{"obeys each refusal", func(m *model) {
		m.look()
		ticket := ""
		for range tries {
			done, last := m.order(&ticket)
			if done {
				return
			}
			switch last.text("code") {
			case "market_closed", "in_flight":
				m.think()
				if v, _, heard := m.ask("get_ticket", map[string]string{"ticket": ticket}); heard && v.text("outcome") == "applied" {
					return
				}
				m.look()
			case "adds_to_needed": // it reads what its writes did, as it was told
				for _, w := range m.looked.list("writes") {
					if w.text("outcome") != "not_applied" {
						return
					}
				}
				m.look()
			default:
				m.think()
				if m.look() {
					return
				}
			}
		}
	}},
	{"has two windows", func(m *model) {
		m.look()
		var tickets []string
		for range 2 {
			if v, refused, heard := m.ask("preview_order", map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "leverage": "2", "state": m.state}); heard && !refused {
				tickets = append(tickets, v.text("ticket"))
			}
		}
		for _, ticket := range tickets {
			m.think()
			m.ask("execute", map[string]string{"ticket": ticket})
		}
	}},
	{"is a script that does not look", func(m *model) {
		for range 2 * tries {
			m.think()
			m.look()
			ticket := ""
			if done, _ := m.order(&ticket); done {
				return
			}
		}
	}},
}

// doubles counts the runs of a model in which its order happened more than once.
func doubles(t *testing.T, mode Mode, lag time.Duration, omit omitted, acts func(*model)) (n int) {
	t.Helper()
	for seed := range *runs {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, mode, func(c *Config) { c.omit = omit }, tradingsim.WithLag(lag))
			random := rand.New(rand.NewPCG(uint64(seed), uint64(lag)))
			delays := rand.New(rand.NewPCG(uint64(lag), uint64(seed))) // of the simulation alone, which takes them under a lock
			r.sim.FaultEach(func(operation string) tradingsim.Fault {
				if operation == "POST /orders" || operation == "POST /sandbox/orders" {
					return tradingsim.DelayResponse(300*time.Millisecond + time.Duration(delays.IntN(500))*time.Millisecond)
				}
				return tradingsim.Pass()
			})
			time.Sleep(10 * time.Second) // the client knows its account
			acts(&model{rig: r, random: random})
			time.Sleep(time.Minute)
			assert.Positive(t, r.fills())
			if r.fills() > 1 {
				n++
			}
		})
	}
	return n
}

func TestEachRuleIsNeeded(t *testing.T) {
	columns := []struct {
		name string
		omit omitted
	}{
		{"tickets alone", omitted{state: true, addsTo: true}},
		{"state token", omitted{addsTo: true}},
		{"judged at preview alone", omitted{addsTo: true, atExecute: true}},
		{"all rules", omitted{}},
	}
	sums := map[string]int{}
	for _, mode := range []Mode{Paper, Live} {
		for _, lag := range []time.Duration{0, 2 * time.Second, 5 * time.Second} {
			for _, m := range models {
				line := fmt.Sprintf("%-6s lag %-3s %-32s", mode, lag, m.name)
				for _, c := range columns {
					n := doubles(t, mode, lag, c.omit, m.acts)
					line += fmt.Sprintf(" %s %d of %d;", c.name, n, *runs)
					if c.name == "all rules" {
						assert.Zero(t, n, "%s on %s with a lag of %s, under all rules", m.name, mode, lag)
					}
					sums[c.name] += n
				}
				t.Log(line)
			}
		}
	}
	assert.Greater(t, sums["tickets alone"], sums["judged at preview alone"], "the state is of no use")
	assert.Greater(t, sums["judged at preview alone"], sums["state token"], "it is enough to judge a preview")
	assert.Positive(t, sums["state token"], "the state alone is enough, so adds_to is not needed")
}

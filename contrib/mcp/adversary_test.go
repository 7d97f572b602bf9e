package mcp

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
func doubles(t *testing.T, mode Mode, lag time.Duration, acts func(*model)) (n int) {
	t.Helper()
	for seed := range *runs {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, mode, nil, tradingsim.WithLag(lag))
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

func TestNoDoubles(t *testing.T) {
	sum := 0
	for _, mode := range []Mode{Paper, Live} {
		for _, lag := range []time.Duration{0, 2 * time.Second, 5 * time.Second} {
			for _, m := range models {
				n := doubles(t, mode, lag, m.acts)
				t.Logf("%-6s lag %-3s %-32s %d of %d", mode, lag, m.name, n, *runs)
				sum += n
			}
		}
	}
	assert.Zero(t, sum, "doubles in all: %d", sum)
}

// The rules against doubles, and how each is left out.
var (
	noState  = mutant{"state.go", "case w.tick > s.tick:", "case false:"}
	noFlight = mutant{"state.go", "case w.inFlight():", "case false:"}
	noAddsTo = mutant{"state.go", "if w.ID != addsTo {", "if false {"}
	noLook   = mutant{"state.go", "if s == nil || s.account != a.Account {", "if s == nil {\n\t\treturn nil\n\t}\n\tif false {"}
	noDoubt  = mutant{"state.go", "case !w.known() && !s.began.past(*w.Ended, lag):", "case false:"}
	noLast   = mutant{"ticket.go", "if r := e.mayRest(t); r != nil {", "if r := e.closedToEntries(a); r != nil {"}
	noJudge  = mutant{"ticket.go", "if _, r := e.judge(ctx, t, p, false); r != nil {", "if a.entry() {\n\t} else if _, r := e.judge(ctx, t, p, false); r != nil {"}
)

type mutant struct{ file, rule, without string }

var leaveOut = flag.Bool("adversary.mutants", false, "leave out the rules against doubles: minutes")

// Each rule is needed: without it orders happen twice.
func TestEachRuleIsNeeded(t *testing.T) {
	sums, last := map[string]int{}, ""
	for _, c := range []struct {
		name    string
		without []mutant
	}{
		{"tickets alone", []mutant{noState, noFlight, noDoubt, noLook, noAddsTo}},
		{"judged at preview alone", []mutant{noAddsTo, noLast, noJudge}},
		{"state token", []mutant{noAddsTo}},
	} {
		dir, replaced, code := t.TempDir(), map[string]string{}, map[string]string{}
		for _, m := range c.without {
			if code[m.file] == "" {
				text, err := os.ReadFile(m.file)
				require.NoError(t, err)
				code[m.file] = string(text)
			}
			require.Equal(t, 1, strings.Count(code[m.file], m.rule), "%s: %s", m.file, m.rule)
			code[m.file] = strings.Replace(code[m.file], m.rule, m.without, 1)
		}
		if !*leaveOut {
			continue
		}
		here, err := os.Getwd()
		require.NoError(t, err)
		for file, text := range code {
			replaced[filepath.Join(here, file)] = filepath.Join(dir, file)
			require.NoError(t, writeFile(filepath.Join(dir, file), text))
		}
		overlay := filepath.Join(dir, "overlay.json")
		require.NoError(t, writeFile(overlay, string(mustJSON(map[string]any{"Replace": replaced}))))
		out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^TestNoDoubles$", "-v", "-timeout", "4h", ".", "-adversary.runs", strconv.Itoa(*runs)).CombinedOutput()
		require.Error(t, err, "%s: no rule is missing: %s", c.name, out)
		found := regexp.MustCompile(`doubles in all: (\d+)`).FindSubmatch(out)
		require.NotNil(t, found, "%s: %s", c.name, out)
		sums[c.name], err = strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		t.Logf("%s\n%s", c.name, out)
		if last != "" {
			assert.Greater(t, sums[last], sums[c.name], "%s is no worse than %s", last, c.name)
		}
		last = c.name
	}
}

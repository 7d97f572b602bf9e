package observe

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

var update = flag.Bool("update", false, "write testdata/verdicts.txt anew")

// TestVerdicts has services of all kinds observed, and testdata/verdicts.txt what is said of each: read what
// changes there before it is committed. A reading is other, mixed or neither there only where the service is so,
// nothing is executed by what cannot trade, and what trades leaves its account flat.
func TestVerdicts(t *testing.T) {
	stories := map[string]func(t *testing.T) string{}
	for name, visit := range visits() {
		stories[name] = visit.told
	}
	for _, all := range []func() map[string]front{unwritten, odd} {
		for name := range all() {
			stories["recorded: "+name] = func(t *testing.T) (text string) {
				synctest.Test(t, func(t *testing.T) {
					a := newAsker(t)
					a.rt = all()[name](a.rt)
					for range 5 {
						a.run()
					}
					text = told(Judge(a.seen, about))
				})
				return text
			}
			stories["a series: "+name] = visit{set: func(_ *testing.T, s *service) {
				if s.front = shared(all()[name]); name == "instances by their connection" {
					s.front = all()[name]
				}
				if name == "a proxy that caches" {
					s.q.SecondKey = "" // it would answer GET /me of the first key
				}
			}}.told
		}
	}
	for name, c := range map[string]front{
		"the clock of trades is 5 s behind": setBack(5 * time.Second), "it is half a second behind": setBack(500 * time.Millisecond),
		"a cache that says its age": cached("Age"), "a cache that keeps the Date": cached("Date"), "a cache that says nothing": cached(""),
	} {
		stories["states: "+name] = func(t *testing.T) string { return told(judgedStates(t, c)) }
	}
	const file = "testdata/verdicts.txt"
	text, err := os.ReadFile(file)
	require.True(t, err == nil || *update, "%v", err)
	known := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\n== ") {
		name, says, _ := strings.Cut(section, "\n")
		known[name] = says
	}
	var all strings.Builder
	all.WriteString("What is said of a service: first are the readings of the simulator, other, mixed and neither have why.\n")
	for i, name := range slices.Sorted(maps.Keys(stories)) {
		if depth.Race && i%6 > 0 { // all of them are told without the detector
			delete(known, name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := stories[name](t)
			fmt.Fprintf(&all, "\n== %s\n%s", name, got)
			if !*update {
				assert.Equal(t, strings.TrimSpace(known[name]), strings.TrimSpace(got), "go test . -run TestVerdicts -update writes %s anew", file)
			}
		})
		delete(known, name)
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o644))
	} else {
		assert.Len(t, known, 1, "sections of no story: %q", slices.Sorted(maps.Keys(known)))
	}
}

// told is what a profile says.
func told(p *profile.Profile) string {
	first, unseen, others := []string{}, map[string][]string{}, ""
	for _, r := range p.Results {
		switch number := r.Experiment; r.Verdict {
		case profile.First:
			first = append(first, number)
		case profile.Unseen:
			unseen[r.Why] = append(unseen[r.Why], number)
		default:
			others += fmt.Sprintf("%s: %s in %s, %d first, %d other, %d neither: %s\n", number, r.Verdict, r.Environment, r.CountFirst, r.CountOther, r.CountNeither, cmp.Or(r.Why, "-"))
		}
	}
	text := others
	if len(first) > 0 {
		text = fmt.Sprintf("first: %s\n%s", strings.Join(first, " "), others)
	}
	for _, why := range slices.Sorted(maps.Keys(unseen)) {
		if strings.HasPrefix(why, "control ") || strings.Contains(why, "might") || strings.Contains(why, "rounds") {
			text += fmt.Sprintf("unseen, %s: %s\n", why, strings.Join(unseen[why], " "))
		}
	}
	return text
}

// visit is a service, and what it is asked: these classes once, or a series.
type visit struct {
	of  []tradingsim.Option
	set func(t *testing.T, s *service)
	ask []Class
}

func (v visit) told(t *testing.T) (text string) {
	synctest.Test(t, func(t *testing.T) {
		s := trader(t, v.of...)
		s.q.Before = nil
		if v.set != nil {
			v.set(t, s)
		}
		text = s.told(v.ask)
	})
	return text
}

// told asks, and says what is said of the service, how the visit went, and what it has left.
func (s *service) told(classes []Class) (text string) {
	left, err := filepath.Glob(s.q.Note + "*")
	require.NoError(s.t, err)
	began, state := time.Now(), map[string]tradingsim.AccountState{}
	for _, a := range s.sim.State().Accounts {
		state[a.ID] = a
	}
	requests, ledger := len(s.sim.Requests()), len(s.sim.Ledger())
	var ended string
	if len(classes) == 0 {
		text = told(s.series())
	} else {
		s.q.Classes = classes
		e, err := Ask(s.t.Context(), s.q)
		if err != nil {
			ended = err.Error()
		} else {
			p := Judge(e, About{BaseURL: s.q.BaseURL, By: "test"})
			require.NoError(s.t, p.Validate())
			encoded, err := p.Encode()
			require.NoError(s.t, err)
			assert.False(s.t, strings.Contains(string(encoded), "acc_") || strings.Contains(string(encoded), "pk_"), "the profile names somebody")
			text, ended = told(p), e.Ended
			turned := *e
			turned.Exchanges = turnTwins(e.Exchanges)
			assert.Equal(s.t, text, told(Judge(&turned, About{BaseURL: s.q.BaseURL, By: "test"})), "by the order of what was sent at once")
			void := map[string]int{}
			for _, r := range e.Rounds {
				void[r.Void]++
			}
			delete(void, "")
			for _, why := range slices.Sorted(maps.Keys(void)) {
				text += fmt.Sprintf("%d rounds are void: %s\n", void[why], why)
			}
			if m := p.Measured; m.ReadLag.N > 0 {
				text += fmt.Sprintf("reads lag %s\n", time.Duration(m.ReadLag.Median).Round(10*time.Millisecond))
			}
		}
	}
	if ended != "" {
		text += "ended: " + strings.NewReplacer(s.q.BaseURL, "$URL", s.q.Note, "$NOTE").Replace(ended) + "\n"
	}
	if p := s.q.Before; p != nil && p.Measured.KeptFor > 0 {
		text += fmt.Sprintf("answers are kept for %s\n", time.Duration(p.Measured.KeptFor).Round(time.Minute))
	}
	writes, without := 0, 0
	for _, r := range s.sim.Requests()[requests:] {
		if strings.HasPrefix(r.Operation, "POST /") && !strings.HasPrefix(r.Operation, "POST /sandbox") {
			writes++
			if !strings.Contains(string(r.Body), "accountId") {
				without++
			}
		}
	}
	executed := map[string]int{}
	for _, x := range s.sim.Ledger()[ledger:] {
		executed[x.Operation]++
	}
	text += fmt.Sprintf("%d requests, %d live writes, %d without an account, in %s; executed: %v\n", len(s.sim.Requests())-requests, writes, without, time.Since(began).Round(time.Second), executed)
	time.Sleep(time.Minute) // what is on its way arrives
	for _, a := range s.sim.State().Accounts {
		if was := state[a.ID]; len(was.Positions)+len(was.Orders)+len(was.Runs) > 0 {
			assert.Equal(s.t, []int{len(was.Positions), len(was.Orders), len(was.Runs)}, []int{len(a.Positions), len(a.Orders), len(a.Runs)}, "%s has changed", a.ID)
		} else {
			assert.Zero(s.t, len(a.Positions)+len(a.Orders)+len(a.Runs), "%s is not flat", a.ID)
		}
	}
	leaves, err := filepath.Glob(s.q.Note + "*")
	require.NoError(s.t, err)
	assert.Equal(s.t, left, leaves)
	for _, secret := range []string{"pk_live", "pk_test", "user:", "secret"} {
		assert.NotContains(s.t, text, secret)
	}
	return text
}

// infront is a set-up that has something in front of the service.
func infront(f front) func(*testing.T, *service) {
	return func(_ *testing.T, s *service) { s.front = shared(f) }
}

// resting has acc_1 hold a position, and an order rest, which it returns.
func resting(t *testing.T, s *service) (id string) {
	s.sim.Trade("acc_1", "long", "1", "BTC")
	place(t, s, "/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":2,"limitPrice":50000}`)
	for _, a := range s.sim.State().Accounts {
		if len(a.Orders) > 0 {
			id = a.Orders[0].ID
		}
	}
	require.NotEmpty(t, id)
	return id
}

// hostile is a service that reads the bodies of cancels so that they could do harm; resting is the bot's order.
func hostile(change func(resting, path string, body map[string]any) (string, map[string]any)) visit {
	return visit{set: func(t *testing.T, s *service) {
		id := resting(t, s)
		s.front = shared(changing(func(path string, body map[string]any) (string, map[string]any) { return change(id, path, body) }))
	}}
}

// refusing is a visit on which a cancel is answered otherwise.
func refusing(fault tradingsim.Fault) visit {
	return visit{set: func(_ *testing.T, s *service) { s.sim.Fault("POST /orders/cancel", fault) }, ask: []Class{Locked}}
}

func asking(change func(q *Questions)) visit {
	return visit{set: func(_ *testing.T, s *service) { change(&s.q) }, ask: []Class{Locked}}
}

func traded(class Class, set func(t *testing.T, s *service)) visit {
	return visit{set: set, ask: []Class{class}}
}

// noted is a run whose note of an earlier one says this, while somebody else may have traded.
func noted(note, trades string, class Class) visit {
	return traded(class, func(t *testing.T, s *service) {
		require.NoError(t, os.WriteFile(s.q.noteOf(Trial), []byte(note), 0o600))
		t.Cleanup(func() { _ = os.Remove(s.q.noteOf(Trial)) })
		if trades != "" {
			s.sim.Trade(trades, "long", "1", "BTC")
		}
	})
}

// turnTwins has those that were sent at once under one key the other way round: which of them is listed first is chance.
func turnTwins(all []Exchange) []Exchange {
	all = slices.Clone(all)
	for i, end := 0, 0; i < len(all); i = end {
		for end = i + 1; end < len(all) && all[i].Key != "" && all[end].Key == all[i].Key && all[end].Sent.Equal(all[i].Sent); end++ {
		}
		slices.Reverse(all[i:end])
	}
	return all
}

package rig

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// What a client says falsely is found: of a call, and of what an earlier run left.
func TestWitness(t *testing.T) {
	const id = trading.IntentID("w")
	for _, c := range []struct {
		name      string
		op        trading.Operation
		said      trading.Outcome
		before    bool // it was said before the order went
		person    bool
		exception string
		ran       int
		problem   string
	}{
		{name: "applied, and nothing ran", said: trading.Applied, problem: "POST /orders w (by me): it is applied, and was executed 0 times"},
		{name: "applied, and it ran", said: trading.Applied, ran: 1},
		{name: "not applied, and it ran", said: trading.NotApplied, ran: 1, problem: "POST /orders w (by me): it is not applied, and was executed 1 times"},
		{name: "not applied, and its key was used again", said: trading.NotApplied, ran: 1, before: true},
		{name: "it ran twice", said: trading.Unknown, ran: 2, problem: "POST /orders w (by me) was executed 2 times"},
		{name: "the test names what no client can promise", said: trading.Unknown, ran: 2, exception: FailedAfterWork},
		{name: "a person said it", said: trading.Applied, person: true},
		{name: "of levels", op: trading.OpTPSL, said: trading.Applied},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Now()
			sim := NewSim()
			w, _ := Hears(t, sim)
			w.Excepts(c.exception)
			for n := range c.ran {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sim.URL()+"/orders",
					strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2}`))
				require.NoError(t, err)
				req.Header.Set("X-API-Key", sim.LiveKey())
				req.Header.Set("Idempotency-Key", fmt.Sprint("k", n))
				resp, err := sim.Transport().RoundTrip(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				w.keys[id] = append(w.keys[id], trading.Key(fmt.Sprint("k", n)))
			}
			at := now
			if !c.before {
				at = sim.Now().Add(time.Second)
			}
			w.keys[id] = append(w.keys[id], "unused")
			w.person[id] = c.person
			if c.op == "" {
				c.op = trading.OpOrder
			}
			w.hear(said{id, c.op, c.said, "by me", at})
			var problems []string
			w.judge(&Oracle{Problem: func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }})
			assert.Equal(t, c.problem, strings.Join(problems, "; "))
			w.said = nil // so that the end of this test finds none of it
		})
	}
}

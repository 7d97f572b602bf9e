package tradingsim_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// The log can be read back, and says of each answer what a judge of the bot asks for.
func TestTheLogIsReadBack(t *testing.T) {
	var file bytes.Buffer
	sim, b := paperSim(t, tradingsim.WithLog(&file))
	var seen []tradingsim.Event
	defer sim.Watch(func(e tradingsim.Event) { seen = append(seen, e) })()
	sim.Note(tradingsim.EventStart, "the bot")
	b.post("/sandbox/orders", buyBTC).ok()
	sim.Fault(order, tradingsim.RateLimit(7*time.Second), tradingsim.GatewayJSON(403, "account_locked"), tradingsim.Fail(403, "account_locked"))
	b.post("/sandbox/orders", buyBTC)
	b.post("/sandbox/orders", buyBTC)
	b.post("/sandbox/orders", buyBTC)
	b.get("/sandbox/positions")
	sim.SetMark("BTC", "")
	b.get("/sandbox/positions")
	b.get("/sandbox/prices?symbol=BTC")
	b.get("/sandbox/account")
	sim.SetHealth("degraded", "stale")
	sim.SetStatus("acc_1", "PASSED")
	sim.Note(tradingsim.EventKill, "by the test")
	require.Panics(t, func() { sim.Note(tradingsim.EventPrice, "") })

	var read []tradingsim.Event
	lines := json.NewDecoder(&file)
	for lines.More() {
		var e tradingsim.Event
		require.NoError(t, lines.Decode(&e))
		read = append(read, e)
	}
	require.Len(t, read, len(seen))
	var changes []string
	var answers []tradingsim.Request
	for i, e := range seen {
		want, err := json.Marshal(e)
		require.NoError(t, err)
		got, err := json.Marshal(read[i])
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
		if c := read[i].Change; c != nil {
			changes = append(changes, string(e.Kind)+" "+c.Account+c.Symbol+" "+c.Value)
			require.False(t, c.At.IsZero())
		}
		if e.Kind == tradingsim.EventAnswer {
			answers = append(answers, *read[i].Request)
		}
	}
	require.Equal(t, []string{"start  the bot", "price BTC ", "health  degraded", "status acc_1 PASSED", "kill  by the test"}, changes)
	for i, want := range []struct {
		code    string
		wait    int
		missing bool
	}{{}, {"rate_limited", 7, false}, {}, {"account_locked", 0, false}, {}, {"", 0, true}, {"no_price", 0, true}, {"", 0, true}} {
		got := answers[i]
		require.Equal(t, want, struct {
			code    string
			wait    int
			missing bool
		}{got.Code, got.RetryAfter, got.MarkMissing}, "%d %s", i, got.Path)
	}
}

func TestWhatIsNoLine(t *testing.T) {
	for _, text := range []string{
		`{"event":"execution","execution":{"size":"x"}}`, `{"event":"execution","execution":{"id":"x"}}`,
		`{"event":"execution","execution":[]}`, `{"event":"answer","request":{"at":7}}`,
	} {
		require.Error(t, json.Unmarshal([]byte(text), &tradingsim.Event{}), text)
	}
}

// A line of the log, whoever wrote it, is read and written again without a change, or refused.
func FuzzLogLine(f *testing.F) {
	f.Add([]byte(`{"event":"execution","execution":{"id":1,"at":"2026-11-23T12:00:00Z","copy":false,"actor":"api","filled":true,"size":"0.01","price":"64000"}}`))
	f.Add([]byte(`{"event":"answer","request":{"id":1,"at":"2026-11-23T12:00:00Z","operation":"POST /orders","header":{"Idempotency-Key":["k"]},"body":"{}","status":429,"code":"rate_limited","retryAfter":7,"delivered":true}}`))
	f.Add([]byte(`{"event":"health","change":{"at":"2026-11-23T12:00:00Z","value":"degraded"}}`))
	f.Add([]byte(`{"event":"execution","execution":{"size":"1e999999999"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var e, again tradingsim.Event
		if json.Unmarshal(line, &e) != nil {
			return
		}
		text, err := json.Marshal(e)
		if err != nil {
			return // a year that JSON has no form for
		}
		require.NoError(t, json.Unmarshal(text, &again))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(twice))
	})
}

// At 60 a minute of the service is a second, and so are its waits.
func TestAFastClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithSpeed(60))
		b := liveBot(t, sim)
		began, real := sim.Now(), time.Now()
		require.WithinDuration(t, real, began, 0)
		sim.Fault("POST /orders", tradingsim.DelayResponse(time.Minute))
		b.post("/orders", liveBTC).ok()
		require.Equal(t, time.Second, time.Since(real))
		require.Equal(t, time.Minute, sim.Now().Sub(began))
		require.Panics(t, func() { tradingsim.New(tradingsim.WithSpeed(0)) })
	})
}

// A write of the sandbox beside the bot is no request, and is in the ledger.
func TestSomebodyElseInTheSandbox(t *testing.T) {
	for _, opts := range [][]tradingsim.Option{nil, reading(30)} {
		sim, b := paperSim(t, opts...)
		b.post("/sandbox/orders", buyBTC).ok()
		before := len(sim.Requests())
		_, err := sim.Terminal("POST /sandbox/positions/close", `{"symbol":"BTC"}`)
		require.NoError(t, err)
		require.Len(t, sim.Requests(), before)
		last := sim.Ledger()[len(sim.Ledger())-1]
		require.Equal(t, "terminal", last.Actor)
		require.Zero(t, last.Request)
		_, err = sim.Terminal("POST /sandbox/positions/close", `{"symbol":"BTC"}`)
		require.ErrorContains(t, err, "no_position")
	}
}

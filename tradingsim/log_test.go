package tradingsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// answers watches how exchanges end.
func answers(sim *tradingsim.Sim) <-chan tradingsim.Request {
	ended := make(chan tradingsim.Request, 100)
	sim.Watch(func(e tradingsim.Event) {
		if e.Kind == tradingsim.EventAnswer || e.Kind == tradingsim.EventRefused {
			ended <- *e.Request
		}
	})
	return ended
}

// TestFaults shows what each fault does to one order, and what is noted of it, in process and over
// loopback.
func TestFaults(t *testing.T) {
	const soon = time.Millisecond
	for _, c := range []struct {
		fault     tradingsim.Fault
		name      string
		status    int
		delivered bool
		copies    []bool // of each execution
	}{
		{tradingsim.Pass(), "", 200, true, []bool{false}},
		{tradingsim.RefuseConnection(), "refuse_connection", 0, false, nil},
		{tradingsim.DropRequest(), "drop_request", 0, false, nil},
		{tradingsim.DropResponse(), "drop_response", 0, false, []bool{false}},
		{tradingsim.TruncateResponse(), "truncate_response", 200, false, []bool{false}},
		{tradingsim.Delay(soon), "delay 1ms", 200, true, []bool{false}},
		{tradingsim.DelayResponse(soon), "delay_response 1ms", 200, true, []bool{false}},
		{tradingsim.Fail(500, "internal_error"), "fail 500 internal_error", 500, true, nil},
		{tradingsim.FailAfter(503, "unavailable"), "fail_after 503 unavailable", 503, true, []bool{false}},
		{tradingsim.Crash(), "crash", 0, false, nil},
		{tradingsim.CrashAfter(), "crash_after", 0, false, []bool{false}},
		{tradingsim.RateLimit(7 * time.Second), "rate_limit 7s", 429, true, nil},
		{tradingsim.GatewayError(502), "gateway_error 502", 502, true, nil},
		{tradingsim.GatewayErrorAfter(502), "gateway_error_after 502", 502, true, []bool{false}},
		{tradingsim.GatewayJSON(403, "blocked"), "gateway_json 403", 403, true, nil},
		{tradingsim.GatewayJSONAfter(403, "blocked"), "gateway_json_after 403", 403, true, []bool{false}},
		{tradingsim.Raw(200, nil, "?"), "raw 200", 200, true, nil},
		{tradingsim.RawAfter(200, nil, "?"), "raw_after 200", 200, true, []bool{false}},
		{tradingsim.Repeat(), "repeat", 200, true, []bool{false, true}},
		{tradingsim.LateCopy(time.Hour), "late_copy 1h0m0s", 200, true, []bool{false, true}},
		{tradingsim.ArriveLate(time.Hour), "arrive_late 1h0m0s", 0, false, []bool{false}},
		{tradingsim.Hang(time.Hour), "hang 1h0m0s", 0, false, []bool{false}},
		{
			tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()),
			"fail_after 500 internal_error + drop_response", 0, false, []bool{false},
		},
		{
			tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.GatewayErrorAfter(502)),
			"fail_after 500 internal_error + gateway_error_after 502", 502, true, []bool{false},
		},
	} {
		for _, how := range []string{"in process", "over loopback"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
				b := sandboxBot(t, sim)
				if how == "over loopback" {
					transport := &http.Transport{}
					defer transport.CloseIdleConnections()
					b.transport = transport
				}
				ended := answers(sim)
				sim.Fault(order, c.fault)
				if c.name == "" {
					require.Empty(t, sim.PlannedFaults()[0].Fault, "a call that goes well")
				} else {
					require.Equal(t, []tradingsim.PlannedFault{{Operation: order, Fault: c.name}}, sim.PlannedFaults())
				}
				res, err := b.try("POST", "/sandbox/orders", buyBTC)
				if err == nil {
					var body []byte
					body, err = io.ReadAll(res.Body)
					require.NoError(t, res.Body.Close())
					assert.Equal(t, c.status, res.StatusCode)
					if strings.HasPrefix(c.name, "gateway_error") {
						assert.Contains(t, res.Header.Get("Content-Type"), "text/html")
						assert.Contains(t, string(body), "<html>")
					}
				}
				assert.Equal(t, c.delivered, err == nil, "%v", err)
				r := <-ended
				assert.Equal(t, order, r.Operation)
				assert.Equal(t, "/sandbox/orders", r.Path)
				assert.Equal(t, c.name, r.Fault)
				assert.Equal(t, c.status, r.Status)
				assert.Equal(t, c.status == 0, r.AnsweredAt.IsZero())
				assert.Equal(t, c.delivered, r.Delivered)
				assert.Equal(t, tradingsim.KeyFingerprint(sim.SandboxKey()), r.KeyFingerprint)
				if how == "in process" {
					assert.Equal(t, "in-process", r.Connection)
				} else {
					assert.Regexp(t, `^127\.0\.0\.1:\d+$`, r.Connection)
				}
				if requests := sim.Requests(); c.name == "refuse_connection" {
					require.Empty(t, requests, "nothing was sent")
				} else {
					require.Equal(t, []tradingsim.Request{r}, requests)
				}

				sim.Advance(time.Hour)
				var copies []bool
				for i, e := range sim.Ledger() {
					assert.EqualValues(t, i+1, e.ID)
					assert.Equal(t, r.ID, e.Request)
					copies = append(copies, e.Copy)
				}
				require.Equal(t, c.copies, copies)
				b.get("/sandbox/account").ok() // the next call goes well
			})
		}
	}
}

// What a fault answers in the service's stead is the caller's to read.
func TestWhatAFaultAnswers(t *testing.T) {
	sim, b := paperSim(t)
	sim.Fault(order, tradingsim.Raw(200, http.Header{"X-Odd": {"1"}}, `{"ok":`), tradingsim.RateLimit(7*time.Second), tradingsim.RawAfter(204, nil, ""))
	raw := b.post("/sandbox/orders", buyBTC)
	require.Equal(t, `{"ok":`, raw.Text)
	require.Equal(t, "1", raw.Header.Get("X-Odd"))
	require.Equal(t, "7", b.post("/sandbox/orders", buyBTC).refused(429, "rate_limited").Header.Get("Retry-After"))
	require.Equal(t, 204, b.post("/sandbox/orders", buyBTC).Status)
	require.Len(t, sim.Ledger(), 1)
}

// What fills by itself names the request that placed it.
func TestWhatFillsLaterNamesItsRequest(t *testing.T) {
	sim, b := liveSim(t)
	b.get("/me")
	b.post("/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":60000}`)
	b.post("/orders/twap", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.02,"leverage":2,"durationMs":90000}`)
	sim.SetMark("BTC", "59000")
	sim.Advance(time.Hour)
	sim.Trade("acc_1", "short", "0.01", "BTC")

	filled := map[int64]int{}
	for _, e := range sim.Ledger() {
		if e.Filled {
			filled[e.Request]++
		}
	}
	require.Equal(t, 1, filled[2], "the limit")
	require.Greater(t, filled[3], 1, "the clips of the run")
	require.Equal(t, 1, filled[0], "a person's trade is no request's")
}

// A caller that gives up is not delivered to.
func TestAnAnswerThatNobodyWaitsForIsNotDelivered(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	ended := answers(sim)
	gone, cancel := context.WithCancel(t.Context())
	defer cancel()
	sim.FaultEach(func(string) tradingsim.Fault { cancel(); return tradingsim.DelayResponse(time.Hour) })
	r, err := http.NewRequestWithContext(gone, "GET", sim.URL()+"/health", nil)
	require.NoError(t, err)
	_, err = sim.Transport().RoundTrip(r)
	require.Error(t, err)
	answer := <-ended
	require.False(t, answer.Delivered)
	require.Zero(t, answer.Status)
	require.Empty(t, answer.KeyFingerprint, "it carried no key")
}

// The log on disk has everything, and no key.
func TestTheLogOnDisk(t *testing.T) {
	var file bytes.Buffer
	sim, b := paperSim(t, tradingsim.WithLog(&file), tradingsim.WithRequestLog(1))
	sim.Fault(order, tradingsim.Repeat())
	b.post("/sandbox/orders", buyBTC)
	b.key = "pk_test_unknown"
	b.send("GET", "/sandbox/account", "")
	b.key = ""
	b.send("GET", "/health", "")
	require.NoError(t, sim.Close())
	require.NotContains(t, file.String(), "pk_test_")

	type line struct {
		Event   string
		Request *struct {
			ID             int64
			Body           string
			KeyFingerprint string
			Fault          string
			Status         int
			Delivered      bool
			AnsweredAt     *time.Time
		}
		Execution *struct {
			ID, Request int64
			Copy        bool
			Size, Price string
		}
	}
	var kinds []string
	var lines []line
	for decoder := json.NewDecoder(&file); decoder.More(); {
		var l line
		require.NoError(t, decoder.Decode(&l))
		kinds, lines = append(kinds, l.Event), append(lines, l)
	}
	require.Equal(t, "request execution execution answer request answer request answer", strings.Join(kinds, " "))
	require.JSONEq(t, buyBTC, lines[0].Request.Body)
	require.Nil(t, lines[0].Request.AnsweredAt)
	require.EqualValues(t, 1, lines[1].Execution.Request)
	require.Equal(t, "64000", lines[1].Execution.Price)
	require.False(t, lines[1].Execution.Copy)
	require.True(t, lines[2].Execution.Copy)
	require.Equal(t, "repeat", lines[3].Request.Fault)
	require.True(t, lines[3].Request.Delivered)
	require.NotNil(t, lines[3].Request.AnsweredAt)
	require.Equal(t, 401, lines[5].Request.Status)
	require.Equal(t, tradingsim.KeyFingerprint("pk_test_unknown"), lines[5].Request.KeyFingerprint)
	require.Len(t, sim.Requests(), 1, "what is kept in memory is bounded")
}

// A log that cannot be written is not silent about it.
func TestALogThatCannotBeWritten(t *testing.T) {
	full := errors.New("no space left on device")
	sim := tradingsim.New(tradingsim.WithLog(failingWriter{full}))
	sandboxBot(t, sim).get("/sandbox/account")
	require.ErrorIs(t, sim.Close(), full)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// Whoever stopped watching sees nothing more.
func TestWatchEnds(t *testing.T) {
	sim := tradingsim.New()
	var first, second int
	stop := sim.Watch(func(tradingsim.Event) { first++ })
	sim.Watch(func(tradingsim.Event) { second++ })
	b := sandboxBot(t, sim)
	b.get("/sandbox/account")
	stop()
	b.get("/sandbox/account")
	require.Equal(t, 2, first)
	require.Equal(t, 4, second)
}

// TestState shows everything at once, however much reads lag.
func TestState(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	sim := tradingsim.New(tradingsim.WithManualClock(start), tradingsim.WithLag(time.Hour),
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("NEW", ""))
	st := sim.State()
	require.True(t, st.ManualClock)
	require.Len(t, st.Accounts, 1, "the paper account is opened when it is asked for")

	sandboxBot(t, sim).post("/sandbox/orders", buyBTC)
	b := liveBot(t, sim)
	b.post("/orders", `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.5,"leverage":2,"stopLossPrice":70000}`)
	b.post("/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":60000}`)
	b.post("/orders/twap", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.02,"leverage":2,"durationMs":90000}`)
	sim.RevokeKey(sim.NewSandboxKey())
	sim.SetHealth("degraded", "stale")
	sim.SetFillError("BTC", "STALE_PRICE")
	sim.SetMark("BTC", "63000")

	st = sim.State()
	require.Equal(t, "degraded stale", st.Health+" "+st.Feed)
	require.Equal(t, []bool{false, false, true}, []bool{st.Keys[0].Revoked, st.Keys[1].Revoked, st.Keys[2].Revoked})
	require.Equal(t, tradingsim.KeyFingerprint(sim.LiveKey()), st.Keys[1].Fingerprint)
	require.Equal(t, "63000", st.Markets[0].Price.Decimal.String())
	require.Equal(t, "STALE_PRICE", st.Markets[0].FillError)
	require.False(t, st.Markets[1].Price.Valid)
	require.Equal(t, []string{"", "acc_1"}, []string{st.Accounts[0].ID, st.Accounts[1].ID})
	require.Equal(t, "long", st.Accounts[0].Positions[0].Side)

	live := st.Accounts[1]
	require.Equal(t, "95000 90000 110000", live.DailyLossFloor.String()+" "+live.GlobalLossFloor.String()+" "+live.ProfitTarget.String())
	p := live.Positions[0]
	require.Equal(t, "short", p.Side)
	require.True(t, p.PnL.Decimal.IsPositive())
	require.Equal(t, "70000", p.StopLoss.Decimal.String())
	require.False(t, p.TakeProfit.Valid)
	require.Equal(t, "60000", live.Orders[0].LimitPrice.String())
	require.Equal(t, "twap", live.Runs[0].Type)

	sim.SetMark("BTC", "")
	p = sim.State().Accounts[1].Positions[0]
	require.False(t, p.PnL.Valid, "no mark is not zero")
	require.False(t, sim.State().Accounts[1].Equity.Valid)
}

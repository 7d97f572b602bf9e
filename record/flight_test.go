package record

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// flown is a client with a flight recorder.
type flown struct {
	*trading.Client
	sim    *tradingsim.Sim
	flight *Flight
}

func fly(t testing.TB) flown {
	t.Helper()
	sim, flight := tradingsim.New(), NewFlight(100)
	client, err := trading.New(sim.URL(),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithHooks(flight.Hooks()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return flown{client, sim, flight}
}

// session is a bit of everything: reads, writes, refusals, exits, a resend.
func (f flown) session(t testing.TB) {
	t.Helper()
	ctx, account := t.Context(), f.Live.Account("acc_1")
	_, err := f.Live.Accounts(ctx)
	require.NoError(t, err)
	_, err = f.Sandbox.Price(ctx, "BTC")
	require.NoError(t, err)
	_, err = account.Positions(ctx)
	require.NoError(t, err)
	f.sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err = account.PlaceOrder(ctx, buy("0.01"), trading.WithTag("<first>"))
	require.NoError(t, err)
	_, err = account.Positions(ctx)
	require.NoError(t, err)
	time.Sleep(90 * time.Second)
	limit, err := account.PlaceLimit(ctx, buy("0.01", func(o *trading.Order) {
		o.Type, o.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("50000"))
	}))
	require.NoError(t, err)
	_, err = account.OpenOrders(ctx)
	require.NoError(t, err)
	id := limit.Order.ID
	_, err = account.CancelOrder(ctx, id)
	require.NoError(t, err)
	_, err = account.ClosePosition(ctx, "ETH", trading.All)
	require.Error(t, err)
	_, err = account.ClosePosition(ctx, "BTC", trading.All)
	require.NoError(t, err)
	_, err = f.Sandbox.PlaceOrder(ctx, buy("0.01"))
	require.NoError(t, err)
	_, err = account.Trades(ctx)
	require.NoError(t, err)
	_, err = account.State(ctx)
	require.NoError(t, err)
	_, err = f.Health(ctx)
	require.NoError(t, err)
}

func (f flown) dumped(t testing.TB) []Event {
	t.Helper()
	var dump bytes.Buffer
	require.NoError(t, f.flight.Dump(&dump))
	records, err := Read(&dump)
	require.NoError(t, err)
	return records
}

func replayer(sim *tradingsim.Sim) Replayer {
	return Replayer{Transport: sim.Transport(), SandboxKey: sim.SandboxKey(), LiveKey: sim.LiveKey(), Spaced: true}
}

func TestADumpIsReadAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t)
		f.session(t)
		records := f.dumped(t)
		assert.Equal(t, f.flight.Events(), records)
		var lost *Event
		for i := range records {
			if records[i].Operation == trading.OpOrder && records[i].Attempt == 1 {
				lost = &records[i]
			}
		}
		require.NotNil(t, lost)
		assert.Zero(t, lost.Status)
		assert.NotEmpty(t, lost.Err)
		assert.Equal(t, "unknown", lost.Outcome)
		assert.Equal(t, "<first>", lost.Tag)
		assert.NotEmpty(t, lost.Key)
		assert.NotEmpty(t, lost.Intent)
		assert.Contains(t, string(lost.Request), `"size":0.01`)
		assert.True(t, lost.Written && lost.Entry)
	})
}

// The recording of a session, sent to a simulation that begins as the recorded one
// did, is answered as it was.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t)
		f.session(t)
		records := f.dumped(t)
		again := tradingsim.New()
		differences, err := replayer(again).Replay(t.Context(), records)
		require.NoError(t, err)
		assert.Empty(t, differences)

		// The same was executed, under the same keys, at the same distance.
		was, is := f.sim.Ledger(), again.Ledger()
		require.Len(t, is, len(was))
		require.NotEmpty(t, was)
		for i := range was {
			assert.Equal(t, was[i].Operation, is[i].Operation)
			assert.Equal(t, was[i].Key, is[i].Key)
			assert.Equal(t, was[i].At.Sub(was[0].At), is[i].At.Sub(is[0].At), was[i].Operation)
		}
		assert.Equal(t, len(f.sim.Requests()), len(again.Requests()))
	})
}

// Without the time between them the requests come at once.
func TestReplayWithoutSpacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t)
		f.session(t)
		r := replayer(tradingsim.New())
		r.Spaced = false
		began := time.Now()
		_, err := r.Replay(t.Context(), f.dumped(t))
		require.NoError(t, err)
		assert.Zero(t, time.Since(began))
	})
}

func TestReplayTellsWhatDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t)
		f.session(t)
		records := f.dumped(t)
		for name, row := range map[string]struct {
			other func(*tradingsim.Sim)
			want  []string
		}{
			"other values are no difference": {func(s *tradingsim.Sim) { s.SetMark("BTC", "61000.5") }, nil},
			"another health":                 {func(s *tradingsim.Sim) { s.SetHealth("degraded", "live") }, []string{"GET /health: status: want 200, got 503"}},
			"no price": {func(s *tradingsim.Sim) { s.SetMark("BTC", "") }, []string{
				"1: GET /sandbox/prices: status: want 200, got 404",
				"1: GET /sandbox/prices: code: want none, got no_price",
			}},
			"no connection": {func(s *tradingsim.Sim) { s.Fault("GET /positions", tradingsim.RefuseConnection()) }, []string{
				"GET /positions: answer: want 200, got",
			}},
			"another position than none": {func(s *tradingsim.Sim) { s.Trade("acc_1", "short", "0.01", "BTC") }, []string{
				"POST /orders: shape: want ", "POST /positions/close: ",
			}},
		} {
			other := tradingsim.New()
			row.other(other)
			r := replayer(other)
			differences, err := r.Replay(t.Context(), records)
			require.NoError(t, err)
			var lines []string
			for _, d := range differences {
				lines = append(lines, d.String())
			}
			all := strings.Join(lines, "\n")
			if row.want == nil {
				assert.Empty(t, all, name)
			}
			for _, want := range row.want {
				assert.Contains(t, all, want, name)
			}
		}
	})
}

// Ids are the simulation's own: a cancel names the order that the replay has placed.
func TestReplayNamesTheNewIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t)
		f.session(t)
		records := f.dumped(t)
		again := tradingsim.New()
		for range 4 { // so that its next order has another id
			req, err := http.NewRequestWithContext(t.Context(), "POST", again.URL()+"/orders/limit",
				strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":40000}`))
			require.NoError(t, err)
			req.Header.Set("X-API-Key", again.LiveKey())
			resp, err := again.Transport().RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, 200, resp.StatusCode)
		}
		differences, err := replayer(again).Replay(t.Context(), records)
		require.NoError(t, err)
		assert.Empty(t, differences)
		for _, request := range again.Requests() {
			if request.Operation == string(trading.OpCancelOrder) {
				assert.Contains(t, string(request.Body), `"ord_5"`, "and not one of the others, which are there too")
			}
		}
	})
}

// A replay must not reach a service, whatever is given to it.
func TestReplayCannotReachAService(t *testing.T) {
	records := []Event{{Operation: trading.OpOrder, Environment: trading.EnvLive, Written: true, Status: 200, Request: Body(`{}`)}}
	for _, rt := range []http.RoundTripper{nil, http.DefaultTransport, &http.Transport{}} {
		_, err := Replayer{Transport: rt}.Replay(t.Context(), records)
		require.Error(t, err)
	}
	var hosts []string
	_, err := Replayer{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		hosts = append(hosts, req.URL.Host, req.Host)
		return nil, fmt.Errorf("there is no host %s", req.URL.Host)
	})}.Replay(t.Context(), records)
	require.NoError(t, err)
	assert.Equal(t, []string{"replay.invalid", "replay.invalid"}, hosts)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestReplayOfWhatCannotBeSent(t *testing.T) {
	sim := tradingsim.New()
	for name, r := range map[string]Event{
		"a request that was cut": {Operation: trading.OpOrder, Written: true, Status: 200, RequestSize: 9},
		"no operation":           {Operation: "orders", Written: true, Status: 200},
		"another method":         {Operation: "DELETE /orders", Written: true, Status: 200},
		"no path":                {Operation: "GET https://elsewhere.test/", Written: true, Status: 200},
	} {
		_, err := replayer(sim).Replay(t.Context(), []Event{r})
		require.Error(t, err, name)
	}
	differences, err := replayer(sim).Replay(t.Context(), []Event{{Operation: trading.OpOrder}})
	require.NoError(t, err)
	assert.Empty(t, differences)
	assert.Empty(t, sim.Requests(), "what never left is not sent")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = replayer(sim).Replay(ctx, []Event{{Operation: trading.OpHealth, Status: 200}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestDifferingShapes(t *testing.T) {
	for _, row := range [][4]string{
		{`{"a":1,"b":[{"c":null}]}`, `{"b":[{"c":null},{"c":2}],"a":2.5}`, "", ""},
		{`{"a":1}`, `{"a":"1"}`, "a: number", "a: string"},
		{`{"a":{"b":1}}`, `{"a":{"b":null}}`, "a.b: number", "a.b: null"},
		{`{"a":{"b":1}}`, `{"a":{}}`, "a.b: number", "a.b: nothing"},
		{`{}`, `{"x":true}`, "x: nothing", "x: boolean"},
		{`[[1],[2]]`, `[[1],[{}]]`, "[1][0]: number", "[1][0]: object"},
		{`{"a":[1]}`, `{"a":[]}`, "", ""},
		{`<html>`, `{}`, "no JSON", "object"},
		{`<html>`, `<body>`, "", ""},
	} {
		run := replay{}
		found := run.compare(&Event{Status: 200, Response: Body(row[0])}, 200, []byte(row[1]))
		if row[2] == "" {
			assert.Empty(t, found, "%s, %s", row[0], row[1])
			continue
		}
		assert.Equal(t, []Difference{{What: "shape", Want: row[2], Got: row[3]}}, found)
	}
}

func TestNewIDsInARequest(t *testing.T) {
	run := replay{ids: map[string]string{"ord_1": "ord_2", "ord_2": "ord_3"}}
	for in, want := range map[string]string{
		`{"orderId":"ord_1","other":"ord_2"}`: `{"orderId":"ord_2","other":"ord_3"}`,
		`{"orderId":"ord_11"}`:                `{"orderId":"ord_11"}`,
		`{"a":"x\"ord_1","b":"ord_1"}`:        `{"a":"x\"ord_1","b":"ord_2"}`,
		`{"a":"ord_1`:                         `{"a":"ord_2`,
		`{"a":"\`:                             `{"a":"\`,
		`{}`:                                  `{}`,
	} {
		assert.Equal(t, want, string(run.withIDs([]byte(in))))
	}
}

func TestTheRingHoldsTheLast(t *testing.T) {
	f := NewFlight(3)
	h := f.Hooks()
	for i := range 5 {
		h.AttemptDone(t.Context(), trading.Call{Operation: trading.OpHealth}, trading.Attempt{Number: i})
		var got []int
		for _, r := range f.Events() {
			got = append(got, r.Attempt)
		}
		assert.Equal(t, []int{0, 1, 2, 3, 4}[max(0, i-2):i+1], got)
	}
	assert.Len(t, NewFlight(0).ring, 256)
}

func TestTheBytesOfAFlightAreBounded(t *testing.T) {
	f := NewFlight(1000)
	h := f.Hooks()
	big := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		h.AttemptDone(t.Context(), trading.Call{Operation: trading.OpTrades}, trading.Attempt{Request: []byte("{}"), Response: big})
	}
	records := f.Events()
	assert.Equal(t, maxFlightBody, len(records[0].Response))
	assert.Equal(t, len(big), records[0].ResponseSize)
	assert.LessOrEqual(t, f.bytes, maxFlight)
	assert.Greater(t, f.bytes, maxFlight/2)
	sum := 0
	for i := range records {
		sum += records[i].bytes()
	}
	assert.Equal(t, sum, f.bytes)

	copy(big, "y")
	assert.Equal(t, byte('x'), f.Events()[0].Response[0], "the client's bytes are copied")
}

func TestDumpingWhileFlying(t *testing.T) {
	f := NewFlight(10)
	h := f.Hooks()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				h.AttemptDone(t.Context(), trading.Call{Operation: trading.OpHealth}, trading.Attempt{Response: []byte(`{"ok":true}`)})
				var dump bytes.Buffer
				assert.NoError(t, f.Dump(&dump))
				if _, err := Read(&dump); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestReadOfWhatIsNoDump(t *testing.T) {
	for text, line := range map[string]string{
		"{}\n": "line 1",
		"{\"event\":\"attempt\",\"operation\":\"GET /health\"}\n\nx\n": "line 3",
		"{\"event\":\"begun\",\"operation\":\"POST /orders\"}":         "line 1",
		"[]": "line 1",
		"{\"event\":\"attempt\",\"operation\":\"GET /health\",\"at\":\"yesterday\"}": "line 1",
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, line)
	}
	records, err := Read(strings.NewReader("\n\n"))
	require.NoError(t, err)
	assert.Empty(t, records)
	_, err = Read(readerFunc(func([]byte) (int, error) { return 0, context.Canceled }))
	require.ErrorIs(t, err, context.Canceled)
}

func TestADumpThatCannotBeWritten(t *testing.T) {
	f := NewFlight(1)
	f.Hooks().AttemptDone(t.Context(), trading.Call{Operation: trading.OpHealth}, trading.Attempt{})
	require.ErrorIs(t, f.Dump(writerFunc(func([]byte) (int, error) { return 0, errFull })), errFull)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

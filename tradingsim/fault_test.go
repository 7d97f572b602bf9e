package tradingsim_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const order = "POST /sandbox/orders"

func TestRefusedConnectionWritesNothing(t *testing.T) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	sim.Fault("*", tradingsim.RefuseConnection())
	body := &countingReader{Reader: strings.NewReader(buyBTC)}
	wrote := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { wrote = true },
	})
	r, err := http.NewRequestWithContext(ctx, "POST", sim.URL()+"/sandbox/orders", body)
	require.NoError(t, err)
	_, err = sim.Transport().RoundTrip(r)
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	require.Equal(t, "dial", op.Op)
	require.Zero(t, body.read)
	require.False(t, wrote)
	require.Empty(t, sim.Requests())

	_, err = sim.Transport().RoundTrip(r)
	require.NoError(t, err)
	require.True(t, wrote)
}

type countingReader struct {
	io.Reader
	read int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read += n
	return n, err
}

func TestFaultsAreTakenInOrder(t *testing.T) {
	sim, b := paperSim(t)
	sim.Fault("GET /sandbox/account", tradingsim.Pass(), tradingsim.Fail(500, "internal_error"))
	sim.Fault("*", tradingsim.GatewayError(502))
	b.get("/sandbox/account").ok()
	b.get("/sandbox/account").refused(500, "internal_error")
	require.Equal(t, 502, b.get("/sandbox/account").Status)
	b.get("/sandbox/account").ok()

	sim.Fault("*", tradingsim.GatewayError(502))
	sim.ClearFaults()
	b.get("/sandbox/account").ok()
	require.Panics(t, func() { sim.Fault("POST /nope", tradingsim.Pass()) })
}

func TestFaultEachDecidesCallByCall(t *testing.T) {
	sim, b := paperSim(t)
	var asked []string
	sim.FaultEach(func(operation string) tradingsim.Fault {
		asked = append(asked, operation)
		if operation == order && len(sim.Ledger()) == 1 { // it may look
			return tradingsim.Fail(500, "internal_error")
		}
		return nil
	})
	sim.Fault("GET /me", tradingsim.Pass()) // planned faults come first
	b.get("/me").ok()
	b.post("/sandbox/orders", buyBTC).ok()
	b.post("/sandbox/orders", buyBTC).refused(500, "internal_error")
	require.Equal(t, []string{order, order}, asked)
	sim.FaultEach(nil)
	b.post("/sandbox/orders", instead(buyBTC, `"size":1`, `"size":0.1`)).ok()
}

func TestDelayHoldsTheWrite(t *testing.T) {
	bubble(t, paperSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		sim.Fault(order, tradingsim.Delay(2*time.Second))
		done := make(chan got)
		start := time.Now()
		go func() { done <- b.post("/sandbox/orders", buyBTC) }()
		synctest.Wait()

		b.post("/sandbox/orders", buyBTC).refused(409, "concurrent_request")
		b.post("/sandbox/reset", "").refused(409, "concurrent_request")
		require.Equal(t, 0, b.get("/sandbox/positions").ok().len("positions"), "not executed yet")
		require.Empty(t, sim.Ledger())

		(<-done).ok()
		require.Equal(t, 2*time.Second, time.Since(start))
		b.post("/sandbox/orders", buyBTC).ok()
		require.Len(t, sim.Ledger(), 2)
	})
}

func TestGivingUpDoesNotStopADelayedWrite(t *testing.T) {
	for _, f := range []struct {
		name  string
		fault tradingsim.Fault
		soon  int // executions when the caller gives up
	}{
		{"held before execution", tradingsim.Delay(10 * time.Second), 0},
		{"held after execution", tradingsim.DelayResponse(10 * time.Second), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			sim.Fault(order, f.fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, "POST", sim.URL()+"/sandbox/orders", strings.NewReader(buyBTC))
			require.NoError(t, err)
			r.Header.Set("X-API-Key", sim.SandboxKey())
			_, err = sim.Transport().RoundTrip(r)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Len(t, sim.Ledger(), f.soon, f.name)
			time.Sleep(9 * time.Second)
			require.Len(t, sim.Ledger(), 1, f.name)
		})
	}
}

func TestDelayOnAClockThatStands(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithClock(func() time.Time { return now }))
	sim.Fault(order, tradingsim.Delay(time.Millisecond))
	sandboxBot(t, sim).post("/sandbox/orders", buyBTC).ok()
	require.Equal(t, now.Add(time.Millisecond), sim.Ledger()[0].At)
}

func TestOverlappingWritesOverLoopback(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithManualClock(time.Unix(0, 0)))
	sim.Fault(order, tradingsim.Delay(time.Hour))
	b := sandboxBot(t, sim)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	b.transport = transport

	done := make(chan got)
	go func() { done <- b.post("/sandbox/orders", buyBTC) }()
	require.Eventually(t, func() bool { return len(sim.Requests()) == 1 }, time.Minute, time.Millisecond)
	b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).refused(409, "concurrent_request")
	sim.Advance(time.Hour)
	(<-done).ok()
}

func TestRequestsKeepNoKeys(t *testing.T) {
	sim, b := paperSim(t, tradingsim.WithRequestLog(3))
	for range 10 {
		b.get("/me").ok()
	}
	sim.Fault(order, tradingsim.DropRequest())
	_, err := b.try("POST", "/sandbox/orders", buyBTC, "Idempotency-Key", "k", "Authorization", "Bearer "+sim.LiveKey())
	require.Error(t, err)
	list := sim.Requests()
	require.Len(t, list, 3)
	last := list[2]
	require.Equal(t, order, last.Operation)
	require.Equal(t, buyBTC, string(last.Body))
	require.Equal(t, "k", last.Header.Get("Idempotency-Key"))
	require.Zero(t, last.Status)
	require.Equal(t, 200, list[1].Status)
	for _, r := range list {
		require.Empty(t, r.Header.Get("X-API-Key"))
		require.Empty(t, r.Header.Get("Authorization"))
	}
}

func TestSandboxIgnoresTheIdempotencyKey(t *testing.T) {
	sim, b := paperSim(t)
	for _, key := range []string{"same", "same", "not valid", ""} {
		b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":0.1}`, "Idempotency-Key", key).ok()
	}
	require.Len(t, sim.Ledger(), 4)
	require.Equal(t, "same", sim.Ledger()[0].Key)
}

func TestClosedSimulationAnswersNothing(t *testing.T) {
	sim := tradingsim.New()
	b := sandboxBot(t, sim)
	require.NoError(t, sim.Close())
	require.NoError(t, sim.Close())
	_, err := b.try("GET", "/health", "")
	require.Error(t, err)
	require.False(t, errors.Is(err, io.ErrUnexpectedEOF))
}

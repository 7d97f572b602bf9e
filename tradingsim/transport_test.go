package tradingsim_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestTransportLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	sim := tradingsim.New()
	b := sandboxBot(t, sim)
	sim.Fault("GET /me", tradingsim.LateCopy(time.Hour), tradingsim.DropResponse(), tradingsim.TruncateResponse())
	for range 3 {
		_, _ = b.try("GET", "/me", "")
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestTransportAnswersLikeHTTP(t *testing.T) {
	sim := tradingsim.New()
	client := &http.Client{Transport: sim.Transport()}
	res, err := client.Get(sim.URL() + "/health")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, "200 OK", res.Status)
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	require.Equal(t, res.ContentLength, int64(len(text)))
	require.NotEmpty(t, res.Header.Get("Date"))
	require.True(t, strings.HasSuffix(sim.URL(), "/v1"))
}

func TestBodiesAreBounded(t *testing.T) {
	sim := tradingsim.New()
	b := sandboxBot(t, sim)
	b.post("/sandbox/orders", strings.Repeat(" ", 1<<20)).refused(400, "invalid_json")
	b.post("/sandbox/orders", strings.Repeat(" ", 1<<20+1)).refused(400, "bad_request")
}

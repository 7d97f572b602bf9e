package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
)

const want = `opened long 0.1 BTC at 64000
the service is degraded, feed stale
trade in BTC: net -5.76
closed long BTC
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

type answering struct {
	status int
	asked  []string
}

func (a *answering) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	a.asked = append(a.asked, req.Method+" "+req.URL.String()+" "+string(body))
	return &http.Response{StatusCode: a.status, Status: http.StatusText(a.status), Body: io.NopCloser(strings.NewReader(""))}, err
}

func TestWebhook(t *testing.T) {
	service := &answering{status: 200}
	hook := webhook{url: "https://chat.test/hook", client: &http.Client{Transport: service}}
	require.NoError(t, hook.send(t.Context(), `closed "BTC"`))
	require.Equal(t, []string{`POST https://chat.test/hook {"text":"closed \"BTC\""}`}, service.asked)
	service.status = 500
	require.ErrorContains(t, hook.send(t.Context(), "x"), "Internal Server Error")
	hook.url = "://"
	require.Error(t, hook.send(t.Context(), "x"))
}

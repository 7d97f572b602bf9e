package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
)

// atSocket is a sidecar in a folder whose name takes quotes in a shell.
func atSocket() (sidecarAddress, error) {
	return sidecarAddress{socket: operatorSocket("my dir")}, nil
}

// Who finds out nothing about a write reads whether entries go on in its market. (The transcript of this name
// has the command without a sidecar.)
func TestFound24_AMarketThatIsOpenAgain(t *testing.T) {
	for _, open := range []bool{false, true} {
		var out bytes.Buffer
		app := &cli.App{Out: &out}
		o := &sidecarOperator{atSocket, app.Output(&cobra.Command{})}
		require.NoError(t, o.printPending([]sidecar.Pending{{MarketOpen: open}}, time.Now()))
		assert.Equal(t, open, strings.Contains(out.String(), "go on"))
		assert.Equal(t, !open, strings.Contains(out.String(), "refused"))
	}
}

// Who reads that a write is pending reads what to do next. (The transcript of status has the command
// without a sidecar.)
func TestAPendingWriteNamesTheNextStep(t *testing.T) {
	now := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
	assert.Equal(t, []string{
		"next: the bot has not found out by itself; stop it, then: trading pending resolve --all --journal a",
		"next: wait: the bot finds out by itself before 2000-01-01T01:35:00.000Z; if it does not run, or after that: trading pending resolve --all --journal 'my dir/b'",
	}, nextSteps([]pendingView{
		{Journal: "a", Decided: now}, {Journal: "my dir/b", Decided: now}, {Journal: "a", Decided: now.Add(-resolveTimeout)},
	}, now, journalFlag))

	var left bytes.Buffer
	app := &cli.App{Out: &left}
	require.NoError(t, (&sidecarOperator{atSocket, app.Output(&cobra.Command{})}).printPending([]sidecar.Pending{{ID: "one", Write: "one", Waiting: true}}, now))
	assert.Contains(t, left.String(), "\nnext: look at the account, then: trading sidecar ack one --found applied|not-applied --state-dir 'my dir'\n")

	var status bytes.Buffer
	app = &cli.App{Out: &status}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/flatten" {
			_, _ = w.Write([]byte(`[{"account":"acc_1","flat":false,"report":"NOT PROVEN FLAT"}]`))
			return
		}
		_, _ = w.Write([]byte(`{"ready":true,"refused":["acc_1 BTC"]}`))
	}))
	defer served.Close()
	o := &sidecarOperator{func() (sidecarAddress, error) { return sidecarAddress{port: served.URL}, nil }, app.Output(&cobra.Command{})}
	require.NoError(t, o.printStatus(t.Context(), "/status", nil))
	assert.Equal(t, "state  takes entries, but not in acc_1 BTC\n", status.String(), "what a sidecar does not say is not 0")
	require.Equal(t, cli.NotFlat, cli.Status(o.flatten(t.Context(), "test", []string{"acc_1"}, nil)))
	assert.Contains(t, status.String(), "\nnext: trading sidecar pending; then flatten again\n")

	for _, waiting := range []bool{false, true} {
		var out bytes.Buffer
		app := &cli.App{Out: &out}
		o := &sidecarOperator{atSocket, app.Output(&cobra.Command{})}
		require.NoError(t, o.printPending([]sidecar.Pending{{ID: "one"}, {ID: "two", Waiting: waiting}}, now))
		assert.Equal(t, waiting, strings.Contains(out.String(), "\nnext: the sidecar has not found out by itself: trading sidecar resolve two --state-dir 'my dir'\n"), "%s", out.String())
		assert.Equal(t, !waiting, strings.Contains(out.String(), "\nnext: wait: "), "%s", out.String())
	}
}

package kills

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// breathing is a price that changes by cents, or the feed would be taken for dead.
type breathing struct{}

// At is the price at a time.
func (breathing) At(t time.Time) (decimal.Decimal, bool) {
	return decimal.New(6400000+t.Unix()%7, -2), true
}

// A protection that is killed beside a run goes on counting what the run may still do: it judges
// what comes beside it, and does not refuse everything.
func TestAProtectionIsKilled(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithFeed("BTC", breathing{}))
	dir := t.TempDir()
	w := &world{sim: sim, dir: dir, address: dir + "/socket/s", protect: true}
	var err error
	w.secret, err = sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	b := newBot("repeats", w.address, w.secret)
	b.http.Timeout = time.Minute
	order := func(path, size, more string) (int, string) {
		status, text := b.ask(http.MethodPost, path, `{"accountId":"acc_1","symbol":"BTC","side":"long","leverage":5,"size":`+size+more+`}`, "")
		return status, string(text)
	}
	for n := range 3 {
		cmd, ended, err := w.sidecar(t.Context(), place{})
		require.NoError(t, err)
		said := "" // the first look has to come
		require.Eventually(t, func() bool {
			var status int
			status, said = order("/orders", "0.01"+strings.Repeat("0", n), "")
			return status == http.StatusOK
		}, 20*time.Second, 200*time.Millisecond, &said)
		if n == 0 {
			status, text := order("/orders/twap", "2", `,"durationMs":3600000`)
			require.Equal(t, http.StatusOK, status, text)
		}
		status, text := order("/orders", "2", "")
		assert.Equal(t, http.StatusBadRequest, status, text)
		assert.Contains(t, text, "PER_POSITION_CAP")
		require.NoError(t, cmd.Process.Kill())
		<-ended
	}
}

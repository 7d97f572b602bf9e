package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// busy gives the live account something of everything.
func (r *rig) busy() {
	r.done(place("--stop-loss", "60000", "--client-order-id", "a")...)
	r.done("place", "--env", "live", "--account", "acc_1", "--symbol", "ETH", "--side", "short", "--size", "2", "--leverage", "2", "--yes", "--client-order-id", "b")
	r.done(append([]string{"limit", "--limit-price", "60000", "--client-order-id", "c"}, place()[1:]...)...)
	r.done("pro", "twap", "--env", "live", "--account", "acc_1", "--symbol", "ETH", "--side", "short", "--size", "2", "--leverage", "2",
		"--duration", "1h", "--yes", "--client-order-id", "d")
}

// pendingJournal is a journal with a write that nothing is known of.
func (r *rig) pendingJournal(path string) (id trading.IntentID) {
	log, err := journal.Open(path)
	require.NoError(r.t, err)
	client := tradingtest.Client(r.t, r.sim, trading.WithJournal(log), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	r.sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err = client.Live.Account("acc_1").PlaceOrder(r.t.Context(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithSendTTL(0), trading.WithResolveTimeout(0), trading.WithTag("red \x1b[31m"))
	var write *trading.WriteError
	require.ErrorAs(r.t, err, &write)
	require.Equal(r.t, trading.Unknown, write.Outcome)
	_ = client.Close()
	require.NoError(r.t, log.Close())
	return write.Intent
}

// Amounts are strings, whatever reads the output.
func TestAmountsAreStrings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.busy()
		r.done("place", "--symbol", "BTC", "--side", "long", "--size", "0.1", "--yes")
		r.done("close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--percent", "50", "--yes")
		numbers := map[string]bool{"phase": true, "limit": true, "left": true, "closedSeconds": true, "archived": true, "try": true}
		for _, args := range [][]string{
			{"status", "--env", "live"}, {"status"}, {"positions", "--env", "live"}, {"positions"}, {"orders", "--env", "live"}, {"runs", "--env", "live"},
			{"trades", "--env", "live"}, {"trades"}, {"pending", "ls"}, place("--size", "0.01"), place("--dry-run"),
			{"close", "--symbol", "BTC", "--yes"}, {"flatten", "--env", "live", "--all-accounts", "--all-symbols", "--yes"},
		} {
			out := r.done(append(args, "-o", "json")...)
			var v any
			require.NoError(t, json.Unmarshal([]byte(out), &v), "%q: %s", args, out)
			walkNumbers(v, "", func(member string) {
				assert.True(t, numbers[member], "%q: %s is a number: %s", args, member, out)
			})
		}
	})
}

func walkNumbers(v any, member string, found func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			walkNumbers(one, name, found)
		}
	case []any:
		for _, one := range v {
			walkNumbers(one, member, found)
		}
	case float64:
		found(member)
	}
}

// An assessment that is hours old is not called safe: placing refuses on it.
func TestFound22_AnOldAssessmentIsNotSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		made := r.sim.Now()
		time.Sleep(3 * time.Hour)
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation != string(trading.OpHealth) {
				return nil
			}
			return tradingsim.Raw(200, http.Header{"Date": {r.sim.Now().UTC().Format(http.TimeFormat)}}, fmt.Sprintf(
				`{"ok":true,"status":"healthy","feed":"live","service":"x","version":"v1","asOf":%d,"cacheSeconds":5}`, made.UnixMilli()))
		})
		shown := r.done("status", "--env", "live")
		assert.Contains(t, shown, "NOT SAFE")
		assert.Contains(t, shown, "entries are refused until it makes another")
		r.ends(cli.Refused, "", place()...)
		assert.Regexp(t, `(?m)^.*\bfail\b.*\bhealth\b`, strings.ToLower(r.ends(cli.Unsound, "", "doctor")))
	})
}

// A journal that cannot be read is not one without pending writes.
func TestStatusOfAJournalThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		code, out, _ := r.run("status", "--env", "live", "--journal", t.TempDir()+"/none.journal")
		assert.Equal(t, 1, code)
		assert.Contains(t, out, "pending writes: not known")
		assert.NotContains(t, out, "no pending writes")
	})
}

// The age of the assessment is measured by the service's clock, whatever this machine's shows.
func TestStatusMeasuresTheAgeOfHealthByTheServicesClock(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, 0, time.Hour} {
		out := newRig(t, tradingsim.WithSkew(skew)).done("status", "--env", "live")
		assert.Regexp(t, `feed live, assessed [0-3]s ago\n`, out, skew)
	}

	read := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s := statusView{At: read, Health: &healthView{Status: trading.Healthy, Feed: trading.FeedLive, AsOf: read.Add(-3 * time.Hour), Age: trading.Some(2 * time.Second)}}
	assert.Contains(t, renderHealth(s, read.Add(3*time.Second), plainTheme()), "assessed 5s ago")
	s.Health.Age = trading.Opt[time.Duration]{}
	assert.Contains(t, renderHealth(s, read, plainTheme()), "assessed at 1999-12-31T21:00:00.000Z by the service's clock")
}

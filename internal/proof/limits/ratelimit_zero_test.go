package limits

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A wait of zero is a wait that was asked for, and ends at once. Only a 429 that names no wait at
// all stands for the service's window. The call that met it goes on with its own back-off, and so
// does whoever waits for the same limit.
func TestFound08_AWaitOfZeroIsNoMissingWait(t *testing.T) {
	const date = "Fri, 20 Nov 2026 10:00:30 GMT"
	soon := 6 * time.Second // the longest back-off, and its spread
	for _, row := range []struct {
		name   string
		header http.Header
		key    bool // with the headers of the key's limit, whose window ends now
		want   time.Duration
	}{
		{"zero seconds", http.Header{"Retry-After": {"0"}}, false, soon},
		{"the date of the answer", http.Header{"Retry-After": {date}, "Date": {date}}, false, soon},
		{"a date before the answer's", http.Header{"Retry-After": {"Fri, 20 Nov 2026 09:00:00 GMT"}, "Date": {date}}, false, soon},
		{"zero seconds, of the key", http.Header{"Retry-After": {"0"}}, true, soon},
		{"the key's window ends now", http.Header{}, true, soon},
		{"nothing", http.Header{}, false, time.Minute},
		{"no number", http.Header{"Retry-After": {"soon"}}, false, time.Minute},
	} {
		for _, read := range []bool{false, true} {
			name := row.name + ", an exit"
			if read {
				name = row.name + ", a read"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rig.New(t, nil)
					r.Open(rig.Buy("0.4"))
					header := row.header.Clone()
					if row.key {
						for name, values := range limitHeader("600", 0) {
							header[name] = values
						}
					}
					op := "POST /positions/close"
					if read {
						op = "GET /trades"
					}
					r.Sim.Fault(op, tradingsim.Raw(429, header, rateLimitedBody))
					began := time.Now()
					var err error
					if read {
						_, err = r.Account().Trades(t.Context())
					} else {
						_, err = r.Account().ClosePosition(t.Context(), "BTC", trading.All)
					}
					require.NoError(t, err)
					took := time.Since(began)
					assert.LessOrEqual(t, took, row.want)
					assert.GreaterOrEqual(t, took, min(row.want, time.Minute)/time.Minute*time.Minute)
					assert.NotZero(t, took, "it backs off")
				})
			})
		}
	}
}

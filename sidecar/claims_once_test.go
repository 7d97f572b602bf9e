package sidecar

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// The guard is asked before every send: an exit that waits claims once for all of them.
func TestAnExitThatIsSentAgainClaimsOnce(t *testing.T) {
	p := newPositions(&Config{}, &unheard{})
	p.of = func(*write) (reply, trading.Outcome, time.Time) { return reply{}, trading.Unknown, time.Time{} }
	w := &write{Write: hearing.Write{ID: "w_1", Waits: true, Kind: hearing.Exit, Place: hearing.Place{Account: "acc_1", Market: "BTC"}}}
	for range 3 {
		p.claim(w, &claim{Of: claimant{w.ID, w}, Symbol: "BTC", Waits: true, Exit: true})
	}
	assert.Len(t, p.set("acc_1").All(), 1)
}

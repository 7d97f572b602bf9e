package doubt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// D 13: a hundred answers that are lost at once. Each write needs two fences, and recovery has
// a third of the 150 cancels a minute: 50 fences at once and 50 in each minute that follows, so
// that the last go after three, and a few seconds more where a wait is spread at random. Each probe follows its second fence at once. A fence that has no
// place in the limits is not begun, and takes nothing back.
func TestEdge13_AHundredAnswersLostAtOnce(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Open(rig.Buy("1"))
		time.Sleep(time.Minute)
		before := len(r.Sim.Requests())
		began := time.Now()
		r.Lose(100)
		r.ExitsPass(func() {
			for len(r.PendingIDs()) > 0 && time.Since(began) < time.Hour {
				time.Sleep(time.Second)
			}
		})
		assert.LessOrEqual(r.T, time.Since(began), 3*time.Minute+10*time.Second)
		for key, n := range r.AskedOf() {
			assert.LessOrEqual(r.T, n, 5, key)
		}
		t.Logf("%s, %d requests", time.Since(began), len(r.Sim.Requests())-before)
	})
}

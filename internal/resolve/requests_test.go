package resolve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/spec"
)

// TestFencesAreTheDescriptions: what the driver sends by itself is an operation of the
// description, and answered as the driver expects.
func TestFencesAreTheDescriptions(t *testing.T) {
	refusals := map[string][]string{cancelOrder: {codeOrderNotFound, codeKeyReused}, cancelRun: {codeRunNotFound, codeKeyReused}}
	status := map[string]int{codeOrderNotFound: 404, codeRunNotFound: 404, codeKeyReused: 422}
	seen := 0
	for _, op := range spec.Endpoints() {
		for _, code := range refusals[string(op.Name)] {
			seen++
			assert.True(t, op.Documents(code, status[code]), "%s %s", op.Path, code)
		}
	}
	assert.Equal(t, 4, seen)
}

// A probe leaves for as long as the ledger allows it, and not a moment longer.
func TestAProbeLeavesShortly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := shortly{time.Now(), time.Second}
		time.Sleep(time.Second)
		assert.NoError(t, gate.MayLeave())
		time.Sleep(time.Nanosecond)
		assert.ErrorIs(t, gate.MayLeave(), errTooLate)
	})
}

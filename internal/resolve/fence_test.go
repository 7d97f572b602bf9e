package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/spec"
)

// TestFencesAreTheDescriptions: what the driver sends by itself is an operation of the
// description, and answered as the driver expects.
func TestFencesAreTheDescriptions(t *testing.T) {
	refusals := map[string][]string{cancelOrder: {codeOrderNotFound, codeKeyReused}, cancelRun: {codeRunNotFound, codeKeyReused}}
	status := map[string]int{codeOrderNotFound: 404, codeRunNotFound: 404, codeKeyReused: 422}
	seen := 0
	for _, op := range spec.Operations() {
		for _, code := range refusals[op.Method+" "+op.Path] {
			seen++
			assert.True(t, op.Documents(code, status[code]), "%s %s", op.Path, code)
		}
	}
	assert.Equal(t, 4, seen)
}

package trading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestElapsedFollowsTheClockThatRanFurther(t *testing.T) {
	now := time.Now() // has both clocks
	assert.GreaterOrEqual(t, elapsed(now), time.Duration(0))

	// While the machine slept the monotonic clock stood still.
	slept := now.Add(-time.Hour).Round(0) // the wall clock alone
	assert.GreaterOrEqual(t, elapsed(slept), time.Hour)
}

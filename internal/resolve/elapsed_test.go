package resolve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A moment is as old as the clock that ran further says.
func TestElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		time.Sleep(3 * time.Second)
		assert.Equal(t, 3*time.Second, Elapsed(from))
		assert.Equal(t, 3*time.Second, Elapsed(from.Round(0)), "a moment that only the wall clock has")
		assert.Equal(t, time.Duration(0), Elapsed(time.Now()))
	})
}

package health

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHalt(t *testing.T) {
	var h Halt
	_, halted := h.Get()
	assert.False(t, halted)
	h.Set("the desk is closed")
	reason, halted := h.Get()
	assert.True(t, halted)
	assert.Equal(t, "the desk is closed", reason)
	h.Clear()
	reason, halted = h.Get()
	assert.False(t, halted)
	assert.Empty(t, reason)
}

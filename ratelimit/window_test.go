package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Windows of keys that are not used any more are forgotten.
func TestIdleWindowsAreForgotten(t *testing.T) {
	m := NewMemoryStore()
	for _, name := range []string{"a", "b", "c"} {
		needs := []Need{{Bucket: Bucket{Name: name, Limit: 1, Window: time.Minute}}}
		_, _ = m.Take(t.Context(), "a client", needs, 0)
		_ = m.Return(t.Context(), "", needs, false)
	}
	assert.Len(t, m.windows, 1)
}

func TestPriorityString(t *testing.T) {
	for p, want := range map[Priority]string{Close: "close", Exit: "exit", Recovery: "recovery", Entry: "entry", Read: "read", 9: "Priority(9)"} {
		assert.Equal(t, want, p.String())
	}
	assert.True(t, Read < Entry && Entry < Recovery && Recovery < Exit)
}

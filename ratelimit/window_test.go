package ratelimit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A slot is held until a minute after the answer, and is then free for anybody.
func TestSlotsAreFreeAMinuteAfterTheAnswer(t *testing.T) {
	const minute = time.Minute
	w := &window{limit: 2, length: minute}
	w.underWay = 2
	assert.Equal(t, minute, w.wait(0, 0), "nobody knows when they are answered")
	w.giveBack(10, true)
	w.giveBack(20, true)
	assert.Equal(t, minute, w.wait(10, 0))
	assert.Equal(t, minute+10, w.wait(10, 1), "the second has to be free too")
	assert.Equal(t, Usage{Used: 2}, w.usage(minute+9))
	assert.Zero(t, w.wait(minute+10, 0))
	assert.Equal(t, Usage{Used: 1, Left: 1}, w.usage(minute+10))
	assert.False(t, w.idle(minute+19))
	assert.True(t, w.idle(minute+20))
	assert.Equal(t, Usage{Left: 2}, w.usage(minute+20))
}

// A block closes the window until its end, and a shorter one does not open it earlier.
func TestABlockedWindow(t *testing.T) {
	const minute = time.Minute
	w := &window{limit: 2, length: minute}
	w.underWay = 1
	w.giveBack(2*minute, true)
	w.block(4*minute, minute)
	assert.Equal(t, Usage{Closed: minute, Elsewhere: 2}, w.usage(4*minute), "ours is free by then")
	w.block(4*minute, time.Second)
	assert.Equal(t, minute, w.wait(4*minute, 0))
	assert.False(t, w.idle(5*minute-1))
	assert.Zero(t, w.wait(5*minute, 0))
	assert.Equal(t, Usage{Left: 2}, w.usage(5*minute))
}

// Windows of keys that are not used any more are forgotten.
func TestIdleWindowsAreForgotten(t *testing.T) {
	m := NewMemoryStore()
	for _, name := range []string{"a", "b", "c"} {
		needs := []Need{{Bucket: Bucket{Name: name, Limit: 1, Window: time.Minute}}}
		_, _ = m.Take(t.Context(), needs, 0)
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

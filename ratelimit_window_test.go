package trading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What the service says is left counts down with each place taken, comes back with
// one that was not used, keeps what a lane must leave others, and holds until its
// window ends.
func TestWhatTheServiceSaysIsLeft(t *testing.T) {
	const minute = time.Minute
	s := &limitState{limit: 10, length: minute}
	s.learn(0, 2, minute)
	assert.Zero(t, s.wait(0, 0))
	assert.Zero(t, s.wait(0, 1), "one can be had, and one is left to others")
	assert.Equal(t, minute, s.wait(0, 2), "not one that leaves two")
	s.take(0)
	s.take(0)
	assert.Equal(t, minute, s.wait(0, 0), "the service has no more")
	assert.Zero(t, s.usage(0).Left)
	s.giveBack(1, false)
	assert.Equal(t, minute-1, s.wait(1, 1))
	assert.Zero(t, s.wait(1, 0), "what was not sent can be had again")
	assert.Equal(t, 1, s.usage(1).Left)
	s.take(1)
	assert.Equal(t, time.Duration(1), s.wait(minute-1, 0))
	assert.Zero(t, s.wait(minute, 0), "the window has ended")
	assert.Equal(t, 8, s.usage(minute).Left, "two are under way")
	s.giveBack(minute, false)
	s.learn(minute, 3, minute)
	s.giveBack(2*minute, false)
	assert.Equal(t, 3, s.left, "a window that has ended gets nothing back")
	s.take(2 * minute)
	assert.Equal(t, 3, s.left, "and loses nothing")
}

// A place is held until a minute after the answer, and then free, whoever asks.
func TestPlacesAreFreeAMinuteAfterTheAnswer(t *testing.T) {
	const minute = time.Minute
	s := &limitState{limit: 2, length: minute}
	s.take(0)
	s.take(0)
	assert.Equal(t, minute, s.wait(0, 0), "nobody knows when they are answered")
	s.giveBack(10, true)
	s.giveBack(20, true)
	assert.Equal(t, minute, s.wait(10, 0))
	assert.Equal(t, minute+10, s.wait(10, 1), "the second has to be free too")
	assert.Equal(t, Usage{Spent: 2}, s.usage(minute+9))
	assert.Zero(t, s.wait(minute+10, 0))
	assert.Equal(t, Usage{Spent: 1, Left: 1}, s.usage(minute+10))
	assert.False(t, s.idle(minute+19))
	assert.True(t, s.idle(minute+20))
	assert.Equal(t, Usage{Left: 2}, s.usage(minute+20))

	s.take(2 * minute)
	s.giveBack(2*minute, true)
	s.block(4*minute, minute)
	assert.Equal(t, 2, s.elsewhere, "what others hold is what we do not, and ours is free by then")
	assert.Equal(t, Usage{Closed: minute, Elsewhere: 2}, s.usage(4*minute))
	s.block(4*minute, time.Second)
	assert.Equal(t, minute, s.wait(4*minute, 0), "a later word does not shorten it")
	assert.Zero(t, s.wait(5*minute, 0))
	assert.Zero(t, s.usage(5*minute).Elsewhere)
}

// Entries and reads leave the reserve to others; doubts and exits may use it up.
func TestWhoLeavesTheReserve(t *testing.T) {
	client := newTestClient(t, newScript(t), WithBudget(Budget{ReservePct: 20}))
	call := client.caller().begin(t.Context(), &endpointOrder, nil)
	call.apiKey = newAPIKey(testLiveKey)
	b := client.core.budgets
	for lane, keep := range map[Lane][]int{
		LaneRead: {120, 30}, LaneEntry: {120, 30}, LaneDoubt: {0, 0}, LaneExit: {0, 0},
	} {
		b.mu.Lock()
		claims := b.claims(nil, call.apiKey, call.endpoint, lane)
		b.mu.Unlock()
		var kept []int
		for _, claim := range claims {
			kept = append(kept, claim.Keep)
		}
		assert.Equal(t, keep, kept, lane)
	}
}

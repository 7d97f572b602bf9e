package admit

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// queue is a listener to which a test connects.
type queue struct {
	net.Listener
	next chan net.Conn
}

func (q queue) Accept() (net.Conn, error) { return <-q.next, nil }

// host is a bounded listener, and what a server does with its connections.
type host struct {
	t *testing.T
	*Listener
	queue
}

func newHost(t *testing.T, strangers, known int) *host {
	q := queue{next: make(chan net.Conn, 1)}
	return &host{t, New(q, strangers, known, time.Second), q}
}

// visit is a connection, from both ends.
type visit struct {
	h        *host
	far, own net.Conn
	request  context.Context
}

func (h *host) visit() *visit {
	own, far := net.Pipe()
	h.next <- own
	got, err := h.Listener.Accept()
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = far.Close(); _ = own.Close() })
	return &visit{h, far, own, h.Context(h.t.Context(), got)}
}

func (v *visit) busy() *visit { v.h.State(v.own, http.StateActive); return v }
func (v *visit) idle() *visit { v.h.State(v.own, http.StateIdle); return v }
func (v *visit) shows() *visit {
	Known(v.request)
	return v
}

// open reports whether the connection was not closed.
func (v *visit) open() bool {
	_ = v.own.SetWriteDeadline(time.Now().Add(-time.Second))
	_, err := v.own.Write([]byte("x"))
	return err != nil && err.Error() != "io: read/write on closed pipe"
}

func opens(all ...*visit) (is []bool) {
	for _, v := range all {
		is = append(is, v.open())
	}
	return is
}

func TestTheOldestStrangersMakeRoom(t *testing.T) {
	h := newHost(t, 3, 2)
	busy, old, young := h.visit().busy(), h.visit(), h.visit()
	h.visit()
	assert.Equal(t, []bool{true, false, true}, opens(busy, old, young), "who is idle goes before who is served")
	h.visit().busy()
	h.visit().busy()
	assert.False(t, young.open())
	h.visit()
	assert.False(t, busy.open(), "and where all are served, the oldest")
}

func TestWhoHasShownAKeyStays(t *testing.T) {
	h := newHost(t, 2, 2)
	bot := h.visit().busy().shows().idle()
	for range 10 {
		h.visit()
	}
	assert.True(t, bot.open())
	second := h.visit().busy().shows().idle()
	bot.busy().shows().idle() // it has asked again since
	third := h.visit().busy().shows()
	assert.Equal(t, []bool{true, false, true}, opens(bot, second, third), "the one that is idle for the longest goes")
	bot.busy()
	fourth := h.visit().busy().shows()
	assert.Equal(t, []bool{true, true, true}, opens(bot, third, fourth), "none that is served")
	h.State(third.own, http.StateClosed)
	fourth.shows()
	h.visit()
	h.visit()
	assert.True(t, fourth.open(), "it has its place as soon as there is one")
}

func TestAStrangerIsNotIdleForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 4, 4)
		stranger, bot, late := h.visit().busy().idle(), h.visit().busy().shows().idle(), h.visit().busy().idle()
		time.Sleep(time.Second / 2)
		late.busy().idle()
		time.Sleep(time.Second/2 + 1)
		synctest.Wait()
		assert.Equal(t, []bool{false, true, true}, opens(stranger, bot, late))
		late.busy()
		time.Sleep(2 * time.Second)
		assert.True(t, late.open(), "it is served")
		_, err := late.own.Read(make([]byte, 1))
		assert.ErrorContains(t, err, "timeout", "and what it has not sent by then is not read")
	})
}

func TestOtherListenersHaveNoGuests(t *testing.T) {
	Known(t.Context())
	h := newHost(t, 1, 1)
	own, far := net.Pipe()
	defer own.Close()
	defer far.Close()
	h.State(own, http.StateIdle)
	Known(h.Context(t.Context(), own))
}

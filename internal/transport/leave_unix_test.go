//go:build unix

package transport

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leased is a gate that lets bytes leave until a moment that can be moved on.
type leased struct{ by atomic.Int64 }

func (l *leased) MayLeave() error    { return nil }
func (l *leased) LeaveBy() time.Time { return time.Unix(0, l.by.Load()) }

// When the bytes of an attempt may leave no longer, its connection is closed with what the kernel
// still has of them: a peer that reads later gets no whole request. A moment that is moved on
// ends nothing. A caller that leaves before takes back what it left, and so does the end of the process.
func TestWhatHasNotLeftIsTakenBack(t *testing.T) {
	for name, row := range map[string]struct{ renewed, leaves bool }{"it ends": {}, "it moves on": {renewed: true}, "its caller leaves": {leaves: true}} {
		t.Run(name, func(t *testing.T) { t.Parallel(); takeBack(t, row.renewed, row.leaves) })
	}
}

func takeBack(t *testing.T, renewed, leaves bool) {
	slow := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
	}}
	listener, err := slow.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	const size = 24 << 10
	reads := make(chan struct{})
	got := make(chan int, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		<-reads // by then all of it is in the kernel of the sender
		_ = conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		all, _ := io.ReadAll(conn)
		got <- len(all)
	}()
	tr := New(nil)
	r, gate := write("http://"+listener.Addr().String(), strings.Repeat("x", size)), &leased{}
	const lasts, attempt = time.Second, 6 * time.Second
	gate.by.Store(time.Now().Add(lasts).UnixNano())
	r.Gate, r.Timeout = gate, attempt
	began := time.Now()
	ended := make(chan Exchanged, 1)
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	go func() { ended <- tr.Send(ctx, r) }()
	time.Sleep(lasts / 2)
	if leaves {
		leave()
	}
	if renewed {
		gate.by.Store(time.Now().Add(time.Hour).UnixNano())
		time.Sleep(lasts) // beyond the first moment
		close(reads)
		require.Greater(t, <-got, size, "the request is there whole")
	}
	a := <-ended
	require.Error(t, a.Err)
	assert.True(t, a.Written, "it may have")
	if !renewed {
		assert.Less(t, time.Since(began), attempt-time.Second, "it ends with the lease and not with the attempt")
		close(reads)
		assert.Less(t, <-got, size)
	}
	_ = listener.Close()
	tr.Close()
}

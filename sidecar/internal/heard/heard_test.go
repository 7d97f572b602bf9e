package heard

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhoKeepsTheConnectionHears(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		c := r.dial(t)
		q := c.asks(r)
		assert.False(t, q.answer.Heard(), "it has no answer yet")
		var calls atomic.Int32
		q.answer.OnHeard(func() { calls.Add(1) })
		q.respond()
		c.hears(r)
		assert.True(t, q.answer.Heard())
		assert.True(t, q.answer.Heard())
		assert.EqualValues(t, 1, calls.Load())
	})
}

func TestAFurtherRequestIsProofForEveryPeer(t *testing.T) {
	l, err := TCP("127.0.0.1:0", true)
	r := start(t, l, err)
	c := r.dial(t)
	first := c.asks(r)
	first.respond()
	c.hears(r)
	assert.False(t, first.answer.Heard(), "a proxy takes what the one behind it may never hear")
	heard := make(chan struct{})
	first.answer.OnHeard(func() { close(heard) })
	second := c.asks(r)
	<-heard
	assert.True(t, first.answer.Heard())
	second.respond()
	c.hears(r)
	require.NoError(t, c.Close())
	<-second.gone
	assert.False(t, second.answer.Heard())
}

// What was sent before the answer ended shows nothing.
func TestAPipelinedRequestIsNoProof(t *testing.T) {
	l, err := TCP("127.0.0.1:0", true)
	r := start(t, l, err)
	c := r.dial(t)
	first := c.asks(r)
	_, err = io.WriteString(c.Conn, "GET /positions HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	eventually(t, func() bool {
		first.conn.mu.Lock()
		defer first.conn.mu.Unlock()
		return first.conn.pending()
	})
	first.respond()
	second := <-r.asked
	assert.False(t, first.answer.Heard())
	second.respond()
	c.hears(r)
	c.hears(r)
	third := c.asks(r)
	assert.True(t, first.answer.Heard())
	assert.True(t, second.answer.Heard())
	third.respond()
	c.hears(r)
}

func TestWhoLeftBeforeTheAnswerHasNotHeard(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		for _, header := range []string{"X: y", "Connection: close"} {
			c := r.dial(t)
			q := c.asks(r, header)
			require.NoError(t, c.Close())
			<-q.gone
			assert.False(t, q.respond().Heard(), header)
		}
	})
}

// The client has closed its half of the connection, and waits: its request's context has ended.
func TestAHalfClosedClientHears(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		c := r.dial(t)
		q := c.asks(r)
		c.closeWrite()
		<-q.gone
		assert.NotEqual(t, Gone, q.conn.Present())
		q.respond()
		c.hears(r)
		eventually(t, q.answer.Heard)
	})
}

// The answer has reached the machine's kernel, and the client gives up without reading it.
func TestWhoLeavesTheAnswerUnreadHasNotHeard(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		for _, header := range []string{"X: y", "Connection: close"} {
			c := r.dial(t)
			q := c.asks(r, header)
			q.respond()
			<-q.answer.over
			require.NoError(t, c.Close())
			assert.False(t, q.answer.Heard(), header)
		}
	})
}

// heldListener hands out connections whose reads fail late: the kernel has said then that something
// was left unread, which it says once, and nobody has noted it yet.
type heldListener struct {
	net.Listener
	taken, noted chan struct{}
}

func (l heldListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &heldConn{c.(*net.UnixConn), l}, nil
}

type heldConn struct {
	*net.UnixConn
	held heldListener
}

func (c *heldConn) Read(b []byte) (int, error) {
	n, err := c.UnixConn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		select {
		case c.held.taken <- struct{}{}:
		default:
		}
		<-c.held.noted
	}
	return n, err
}

func TestWhatAReadHasTakenAndNotNoted(t *testing.T) {
	for name, heard := range map[string]bool{"unread": false, "read": true} {
		t.Run(name, func(t *testing.T) {
			l, err := Unix(filepath.Join(t.TempDir(), "own", "s"))
			require.NoError(t, err)
			held := heldListener{l.Listener, make(chan struct{}, 1), make(chan struct{})}
			l.Listener = held
			r := start(t, l, nil)
			c := r.dial(t)
			q := c.asks(r)
			q.respond()
			<-q.answer.over
			if heard {
				c.hears(r)
			}
			require.NoError(t, c.Close())
			<-held.taken
			if !heard {
				assert.False(t, q.answer.Heard())
			}
			close(held.noted)
			if heard {
				eventually(t, q.answer.Heard)
			} else {
				assert.False(t, q.answer.Heard())
			}
		})
	}
}

func TestOnAUnixSocketWhatIsUnreadIsSeen(t *testing.T) {
	l, err := Unix(filepath.Join(t.TempDir(), "own", "s"))
	r := start(t, l, err)
	c := r.dial(t)
	q := c.asks(r)
	q.respond()
	assert.False(t, q.answer.Heard())
	c.hears(r)
	assert.True(t, q.answer.Heard())
}

// The server closes at once, and the client still reads.
func TestAConnectionThatTheServerClosesLingers(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		r.body = strings.Repeat("x", 100_000)
		c := r.dial(t)
		q := c.asks(r, "Connection: close")
		q.respond()
		c.hears(r)
		eventually(t, q.answer.Heard)
		require.NoError(t, c.Close())
		assert.True(t, q.answer.Heard())
	})
}

func TestALongAnswerThatIsCutIsNotHeard(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		r.body = strings.Repeat("x", 20<<20)
		c := r.dial(t)
		q := c.asks(r)
		close(q.release)
		_, err := c.ReadByte()
		require.NoError(t, err)
		assert.False(t, q.answer.Heard(), "it is still written")
		require.NoError(t, c.Close())
		<-q.done
		assert.False(t, q.answer.Heard())
	})
}

func TestPresence(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		c := r.dial(t)
		q := c.asks(r)
		assert.Equal(t, Here, q.conn.Present())
		assert.True(t, q.conn.First())
		assert.Less(t, q.conn.Age(), 30*time.Second)
		q.respond()
		c.hears(r)
		q = c.asks(r)
		assert.False(t, q.conn.First())
		require.NoError(t, c.Close())
		<-q.gone
		assert.NotEqual(t, Here, q.conn.Present(), "TCP cannot say which half was closed")
		q.respond()
		eventually(t, func() bool { return q.conn.Present() == Gone })
	})
}

// Connections that linger end with their listener.
func TestCloseEndsWhatLingers(t *testing.T) {
	forEach(t, func(t *testing.T, r *rig) {
		c := r.dial(t)
		q := c.asks(r, "Connection: close")
		q.respond()
		<-q.answer.over
		before := time.Now()
		require.NoError(t, r.listener.Close())
		assert.Less(t, time.Since(before), lingers/2)
		require.ErrorIs(t, r.listener.Close(), net.ErrClosed)
	})
}

func TestASocketIsInAFolderOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	require.NoError(t, os.Mkdir(shared, 0o755))
	_, err := Unix(filepath.Join(shared, "s"))
	require.ErrorContains(t, err, "0700")

	path := filepath.Join(dir, "own", "s")
	l, err := Unix(path)
	require.NoError(t, err)
	info, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	_, err = Unix(path)
	require.ErrorContains(t, err, "listens on")
	l.Listener.(*net.UnixListener).SetUnlinkOnClose(false) // as after a kill
	require.NoError(t, l.Close())
	require.FileExists(t, path)
	l, err = Unix(path)
	require.NoError(t, err, "what a killed process left is in nobody's way")
	require.NoError(t, l.Close())
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Unix(path)
	require.ErrorContains(t, err, "not a socket")
}

func TestAPortIsOfThisMachineAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "localhost:0", "10.0.0.1:80", "127.0.0.1"} {
		_, err := TCP(address, false)
		require.Error(t, err, address)
	}
	l, err := TCP("[::1]:0", false)
	if err == nil { // where there is IPv6
		require.NoError(t, l.Close())
	}
}

// What waited while the process did not run is as old as that.
func TestAStallAgesWhatComesAfterIt(t *testing.T) {
	t0 := time.Now()
	s := stalls{last: t0}
	for i := range 10 {
		s.note(t0.Add(time.Duration(i) * tick))
	}
	now := t0.Add(9 * tick)
	assert.Zero(t, s.age(now.Add(tick)))
	woken := now.Add(3 * time.Second)
	assert.Equal(t, 3*time.Second, s.age(woken), "before the first tick")
	s.note(woken)
	assert.GreaterOrEqual(t, s.age(woken.Add(tick/2)), 3*time.Second, "and after it, while the backlog is taken")
	s.note(woken.Add(backlogOf))
	for i := range 20 {
		s.note(woken.Add(time.Duration(i) * tick))
	}
	assert.Zero(t, s.age(woken.Add(2*backlogOf)))
}

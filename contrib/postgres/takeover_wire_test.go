package postgres

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is the network between one machine and a server.
type wire struct {
	listener net.Listener
	accepted atomic.Int64 // connections

	mu     sync.Mutex
	to     string
	heals  *sync.Cond
	parted bool              // nothing passes, and nobody learns of it
	conns  map[net.Conn]bool // true for one that swallows what it carries
}

func newWire(t testing.TB, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: listener, to: to, conns: map[net.Conn]bool{}}
	w.heals = sync.NewCond(&w.mu)
	go w.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		w.part(false)
		w.cut()
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) part(parted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parted = parted
	w.heals.Broadcast()
}

// leads leads to another server from now on.
func (w *wire) leads(to string) {
	w.mu.Lock()
	w.to = to
	w.mu.Unlock()
	w.cut()
}

// swallow has the connections that there are carry nothing any more, and nobody learns of it.
func (w *wire) swallow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		w.conns[c] = true
	}
}

func (w *wire) swallows(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[c]
}

// cut cuts all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

func (w *wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.accepted.Add(1)
		go func() {
			far, err := net.Conn(nil), errors.New("aborted")
			if w.passes(near) {
				w.mu.Lock()
				to := w.to
				w.mu.Unlock()
				far, err = net.Dial("tcp", to)
			}
			if err != nil {
				_ = near.Close()
				return
			}
			w.mu.Lock()
			w.conns[near], w.conns[far] = false, false
			w.mu.Unlock()
			go w.pump(near, far, near)
			w.pump(far, near, near)
			w.mu.Lock()
			delete(w.conns, near)
			delete(w.conns, far)
			w.mu.Unlock()
		}()
	}
}

// pump carries bytes one way, and none while the network is parted.
func (w *wire) pump(from, to, near net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	room := make([]byte, 32<<10)
	for {
		n, err := from.Read(room)
		if n > 0 {
			if !w.passes(near) {
				_ = to.(*net.TCPConn).SetLinger(0)
				return
			}
			if w.swallows(near) {
				continue
			}
			if _, err := to.Write(room[:n]); err != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			_ = to.(*net.TCPConn).CloseWrite()
			w.passes(near)
		}
		if err != nil {
			return
		}
	}
}

// passes returns once the network passes bytes; false if the machine has aborted the connection
// meanwhile: its kernel would send none of them.
func (w *wire) passes(near net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.parted {
		return true
	}
	for w.parted {
		w.heals.Wait()
	}
	raw, err := near.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	failed := 0
	err = raw.Control(func(fd uintptr) { failed, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR) })
	if err != nil || failed != 0 {
		_ = near.Close() // the kernel says it once, and who asks next is to hear it too
		return false
	}
	return true
}

// What a machine has given up while the network was parted does not arrive once it heals: over a
// connection of before, and over one that it has opened meanwhile.
func TestAPartedWireLosesWhatWasAborted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	arrived := make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(arrived)
				return
			}
			go func() {
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					arrived <- lines.Text()
				}
			}()
		}
	}()
	w := newWire(t, listener.Addr().String())
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", w.address())
		require.NoError(t, err)
		return conn
	}
	says := func(conn net.Conn, text string) {
		_, err := conn.Write([]byte(text + "\n"))
		require.NoError(t, err)
	}
	old := dial()
	says(old, "before")
	require.Equal(t, "before", <-arrived)
	w.part(true)
	young, patient := dial(), dial()
	for _, conn := range []net.Conn{old, young} {
		says(conn, "aborted")
	}
	says(patient, "late")
	time.Sleep(50 * time.Millisecond) // the wire has read it
	for _, conn := range []net.Conn{old, young} {
		require.NoError(t, conn.(*net.TCPConn).SetLinger(0))
		require.NoError(t, conn.Close())
	}
	w.part(false)
	require.Equal(t, "late", <-arrived)
	select {
	case text := <-arrived:
		t.Fatal(text)
	case <-time.After(100 * time.Millisecond):
	}
	_ = patient.Close()
	_ = listener.Close()
}

package heard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go/internal/disk"
)

// Listener accepts connections of programs on this machine.
type Listener struct {
	net.Listener
	kind   kind
	now    func() time.Time
	stalls stalls

	stop chan struct{}
	work sync.WaitGroup
	mu   sync.Mutex
	gone bool
	last map[*Conn]bool // that linger
}

// Unix listens on a socket in a folder that its owner alone can enter. A folder that is missing is
// made. Nobody but the user of this process and root is let in.
func Unix(path string) (*Listener, error) {
	if err := ownFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("heard: %w", err)
	}
	return newListener(l, nearUnix), nil
}

// TCP listens on a port of the loopback interface. distant says that what connects may be a proxy
// for others.
func TCP(address string, isDistant bool) (*Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("heard: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("heard: the address is %q: it must be one of this machine alone, as 127.0.0.1", address)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("heard: %w", err)
	}
	if isDistant {
		return newListener(l, distant), nil
	}
	return newListener(l, nearTCP), nil
}

func newListener(inner net.Listener, k kind) *Listener {
	l := &Listener{Listener: inner, kind: k, now: time.Now, stop: make(chan struct{}), last: make(map[*Conn]bool)}
	l.stalls.last = l.now()
	l.work.Go(func() {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				l.stalls.note(l.now())
			case <-l.stop:
				return
			}
		}
	})
	return l
}

// ownFolder wants a folder that nobody else can enter.
func ownFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = disk.OwnFolder(path, disk.NoAccess)
	}
	if err != nil {
		return fmt.Errorf("heard: %w", err)
	}
	return nil
}

// removeStale removes the socket of a process that was killed.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("heard: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("heard: %s is there already, and is not a socket", path)
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		return errors.Join(fmt.Errorf("heard: somebody listens on %s already", path), c.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("heard: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("heard: %w", err)
	}
	return nil
}

// Accept implements [net.Listener]. It closes what another user opened, and goes on.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: inner, listener: l, kind: l.kind, fresh: true, arrived: l.now()}
		if c.allowed() {
			return c, nil
		}
		_ = inner.Close()
	}
}

// linger runs a connection's linger, unless the listener was closed.
func (l *Listener) linger(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone || c.Conn.SetReadDeadline(time.Now().Add(lingers)) != nil {
		return false
	}
	l.last[c] = true
	l.work.Go(func() {
		c.linger(l.stop)
		l.mu.Lock()
		delete(l.last, c)
		l.mu.Unlock()
	})
	return true
}

// Close implements [net.Listener]. Connections that linger are closed.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.gone {
		l.mu.Unlock()
		return net.ErrClosed
	}
	l.gone = true
	for c := range l.last {
		_ = c.Conn.SetReadDeadline(time.Now())
	}
	l.mu.Unlock()
	err := l.Listener.Close()
	close(l.stop)
	l.work.Wait()
	return err
}

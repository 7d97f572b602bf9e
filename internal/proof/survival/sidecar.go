package main

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// pipes are connections in memory, so that time is virtual. A sidecar takes them for bots that hear.
type pipes struct {
	arrive chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{arrive: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.arrive:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.arrive <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// local is the folder of a sidecar, and the keys of its bot.
type local struct{ dir, live, paper string }

// introduce makes the folder and the keys, and lets the bot ask for something, which nobody hears.
func introduce(dir string) (l local, err error) {
	l.dir = dir
	for key, k := range map[*string]sidecar.Key{
		&l.live:  {Name: "bot", Live: true, Accounts: []string{account}, May: sidecar.Trade},
		&l.paper: {Name: "paper", May: sidecar.Read},
	} {
		if *key, err = sidecar.AddKey(dir, k); err != nil {
			return l, err
		}
	}
	server, err := l.server(protect.Options{}, trading.WithLiveKey("pk_live_nobody"), trading.WithTransport(nobody{}))
	if err != nil {
		return l, err
	}
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost/v1/orders/cancel", strings.NewReader(`{"accountId":"`+account+`","orderId":"ord_0"}`))
	r.Header.Set("X-API-Key", l.live)
	r.Header.Set("Idempotency-Key", "first")
	server.ServeHTTP(httptest.NewRecorder(), r)
	return l, server.Close()
}

// nobody answers nothing.
type nobody struct{}

// RoundTrip implements [http.RoundTripper].
func (nobody) RoundTrip(*http.Request) (*http.Response, error) { return nil, net.ErrClosed }

// server makes the sidecar. Its service has a name of its own, since an account of a service has
// one sidecar on a machine.
func (l local) server(o protect.Options, options ...trading.Option) (*sidecar.Server, error) {
	return sidecar.New(sidecar.Config{
		BaseURL: "https://" + strings.ToLower(rand.Text()) + ".example/v1", Dir: l.dir, Journal: journal.NewMemory(), Protect: o, Options: options,
	})
}

// beside is a sidecar that protects the account.
type beside struct {
	local
	server    *sidecar.Server
	listener  *pipes
	transport *http.Transport
	ended     chan error
}

// start starts it.
func (l local) start(sim *tradingsim.Sim, limits protect.Limits) (*beside, error) {
	server, err := l.server(protect.Options{Accounts: []trading.AccountID{account}, Limits: limits},
		trading.WithLiveKey(sim.NewLiveKey()), trading.WithSandboxKey(sim.NewSandboxKey()), trading.WithTransport(distance{sim.Transport()}),
		trading.WithRetry(trading.Retry{MinWait: 1, MaxWait: 1}))
	if err != nil {
		return nil, err
	}
	b := &beside{local: l, server: server, listener: newPipes(), ended: make(chan error, 1)}
	b.transport = &http.Transport{DialContext: b.listener.dial}
	go func() { b.ended <- server.Serve(b.listener) }()
	return b, nil
}

// connect makes the client of a bot that knows the address and its keys, and nothing else.
func (b *beside) connect(_ *tradingsim.Sim, more ...trading.Option) (*trading.Client, error) {
	return trading.New("http://localhost/v1", append([]trading.Option{
		trading.WithLiveKey(b.live), trading.WithSandboxKey(b.paper), trading.WithTransport(b.transport), trading.WithRetry(trading.Retry{MinWait: 1, MaxWait: 1}),
	}, more...)...)
}

// close ends it, and says what it has left.
func (b *beside) close() (protect.Status, error) {
	b.transport.CloseIdleConnections()
	err := b.server.Close()
	var pending *trading.PendingError
	if errors.As(err, &pending) {
		err = nil
	}
	err = errors.Join(err, <-b.ended)
	status, unread := protect.ReadStatus(filepath.Join(b.dir, "protect"), account)
	return status, errors.Join(err, unread)
}

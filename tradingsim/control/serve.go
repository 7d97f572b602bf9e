package control

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/admit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Options configure [Serve].
type Options struct {
	// Addr is the address to serve on: "127.0.0.1:0" unless set.
	Addr string
	// Public allows an Addr that is not of this machine alone, as a container needs it.
	Public bool
	// Hosts are further values of the Host header that are answered, such as
	// "simulator:8081". Those of this machine are answered in any case.
	Hosts []string
	// Token is what programs send as "Authorization: Bearer …": at least 16 characters.
	// Unless set it is made anew.
	Token string
	// Open opens the page in a browser.
	Open bool
	// Ready is called once it serves.
	Ready func(Endpoint)
	// Bot trades on the simulation while it is served, for a demonstration. It shows its
	// writes on the page, each by its [Write.ID], and returns soon after ctx has ended.
	Bot func(ctx context.Context, show func(Write)) error
}

// Endpoint is where a control API is reached.
type Endpoint struct {
	URL   string // the root of the control API
	Page  string // the page, with what signs in to it behind the "#"
	Token string // for programs
	// BrowserErr is why no browser could be started, with [Options.Open].
	BrowserErr error
}

// Write is a write of a bot, as its own client knows it.
type Write struct {
	ID          string    `json:"id"`          // names the write
	At          time.Time `json:"at"`          // when it began
	Environment string    `json:"environment"` // sandbox or live
	Symbol      string    `json:"symbol"`      // of its market
	Text        string    `json:"text"`        // what it is, for a person
	Outcome     string    `json:"outcome"`     // sending, pending, applied or not applied
	Steps       []string  `json:"steps"`       // what has happened to it, for a person
}

const (
	minToken      = 16
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	mostStrangers = 64  // connections that have neither the token nor a session
	mostKnown     = 256 // and those that have
)

// Serve serves the control of a simulation until ctx ends, which is not an error.
func Serve(ctx context.Context, sim *tradingsim.Sim, o Options) error {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	if len(o.Token) < minToken {
		return fmt.Errorf("control: Token must have at least %d characters, and has %d", minToken, len(o.Token))
	}
	if err := checkAddress(o); err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Addr)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return serveOn(ctx, listener, sim, o)
}

func checkAddress(o Options) error {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("control: Addr: %w", err)
	}
	if ip := net.ParseIP(host); o.Public || host == "localhost" || ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("control: Addr %q is not a loopback address; Public serves there all the same", o.Addr)
}

// serveOn owns the listener, and leaves no goroutine behind.
func serveOn(ctx context.Context, listener net.Listener, sim *tradingsim.Sim, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(sim, o.Token, hostsOf(listener.Addr(), o.Hosts), portOf(listener.Addr()))
	stop := sim.Watch(s.feed.watch)
	defer stop()
	few := admit.New(listener, mostStrangers, mostKnown, headerTimeout)
	web := &http.Server{
		Handler:           s.handler(),
		ConnContext:       few.Context,
		ConnState:         few.State,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	failed := make(chan error, 3)
	var parts sync.WaitGroup
	start := func(part func() error) {
		parts.Go(func() {
			if err := part(); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	start(func() error { return web.Serve(few) })
	start(func() error { return s.sampleEvery(ctx, sampleTime) })
	if o.Bot != nil {
		start(func() error { return o.Bot(ctx, s.feed.show) })
	}
	at := Endpoint{URL: "http://" + s.host + root, Page: "http://" + s.host + "/#" + o.Token, Token: o.Token}
	if o.Open {
		closes, err := openBrowser(ctx, at.Page)
		defer closes()
		at.BrowserErr = err
	}
	if o.Ready != nil {
		o.Ready(at)
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	cancel()
	_ = web.Close() // what is open are streams, which end with ctx
	parts.Wait()
	return err
}

// hostsOf are the values of Host that a listener answers; the first is what it is called.
func hostsOf(addr net.Addr, more []string) []string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return more
	}
	hosts := []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("localhost", port), net.JoinHostPort("::1", port)}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() && ip.String() != "127.0.0.1" {
		hosts = append([]string{net.JoinHostPort(host, port)}, hosts...)
	}
	for _, host := range more {
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

func portOf(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	return port
}

package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	idleFor     = 10 * time.Minute
	drainWithin = 45 * time.Second
	greetWithin = 5 * time.Second
)

// Serve serves fronts on the sockets of the engine's folder, and people on a page of the loopback
// interface. It ends with ctx, after what is under way; or when no front was there for ten minutes,
// and nothing is pending or waits for a person. Fronts whose settings are others are refused.
func (e *Engine) Serve(ctx context.Context, dir, settings string) error {
	fronts, err := listen(ctx, frontSocket(dir))
	if err != nil {
		return err
	}
	defer func() { _ = fronts.Close() }()
	web, err := listen(ctx, webSocket(dir))
	if err != nil {
		return err
	}
	defer func() { _ = web.Close() }()
	page, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	host := page.Addr().String()
	e.mu.Lock()
	e.page = "http://" + host
	e.mu.Unlock()
	mux := http.NewServeMux()
	mux.Handle("/mcp", e.HTTP())
	if e.config.Mode != Read { // in which nothing waits
		mux.Handle("/operator/", e.Operator())
	}
	used, present := atomic.Int64{}, atomic.Int64{}
	touch := func() { used.Store(time.Now().UnixNano()) }
	touch()
	servers := []*http.Server{
		{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { touch(); mux.ServeHTTP(w, r) }), ReadHeaderTimeout: greetWithin},
		{Handler: e.Page(host), ReadHeaderTimeout: greetWithin, ReadTimeout: greetWithin},
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	var work sync.WaitGroup
	work.Go(func() { _ = servers[0].Serve(web) })  // ends when it is closed
	work.Go(func() { _ = servers[1].Serve(page) }) // likewise
	work.Go(func() {
		for {
			c, err := fronts.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				present.Add(1)
				defer present.Add(-1)
				defer touch()
				defer func() { _ = c.Close() }()
				stop := context.AfterFunc(ctx, func() { _ = c.Close() })
				defer stop()
				e.front(ctx, c, settings)
			})
		}
	})
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			if present.Load() == 0 && time.Since(time.Unix(0, used.Load())) > idleFor && !e.Busy() {
				end()
			}
		}
	}
	drained, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	_ = fronts.Close() // nobody joins an engine that ends
	e.Drain(drained)
	for _, s := range servers {
		_ = s.Close()
	}
	work.Wait()
	return nil
}

// front serves one front, whose first line has its settings.
func (e *Engine) front(ctx context.Context, c net.Conn, settings string) {
	in := bufio.NewReader(c)
	_ = c.SetReadDeadline(time.Now().Add(greetWithin)) // a socket has deadlines
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if strings.TrimSuffix(line, "\n") != settings {
		_, _ = fmt.Fprintf(c, "process %d runs with other settings: end it first, by kill %d\n", os.Getpid(), os.Getpid()) // to a front that is gone
		return
	}
	if _, err := io.WriteString(c, "ok\n"); err == nil {
		_ = e.ServeLines(ctx, in, c) // ends with its front
	}
}

// listen makes a socket in a folder that only this user can enter. One that an earlier engine left is
// replaced: the folder's journal is locked by then.
func listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}

// Relay joins the engine of a folder, and passes lines between it and a host. It has no key, no lock
// and no state. Where no engine answers, start starts one, once.
func Relay(ctx context.Context, dir, settings string, in io.Reader, out io.Writer, start func() error) error {
	c, from, err := join(ctx, dir, settings, start)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	go func() {
		_, _ = io.Copy(c, in) // the host has ended, or the engine
		if half, is := c.(interface{ CloseWrite() error }); is {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(out, from)
	return err
}

// join waits until the engine has greeted, at most fifteen seconds. One that ends meanwhile has a
// successor.
func join(ctx context.Context, dir, settings string, start func() error) (net.Conn, *bufio.Reader, error) {
	const tries, apart, startEach = 150, 100 * time.Millisecond, 40
	for i := range tries {
		c, err := new(net.Dialer).DialContext(ctx, "unix", frontSocket(dir))
		if err == nil {
			from := bufio.NewReader(c)
			_, _ = io.WriteString(c, settings+"\n") // what fails shows in the greeting
			switch greeting, err := from.ReadString('\n'); {
			case err == nil && greeting == "ok\n":
				return c, from, nil
			case err == nil:
				return nil, nil, errors.Join(errors.New(strings.TrimSpace(greeting)), c.Close())
			}
			_ = c.Close() // it ends
		}
		if i%startEach == 0 {
			if err := start(); err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(apart):
		}
	}
	return nil, nil, errors.New("no engine answers: see the file log in " + dir)
}

// Join makes sure that an engine runs.
func Join(ctx context.Context, dir, settings string, start func() error) error {
	c, _, err := join(ctx, dir, settings, start)
	if err != nil {
		return err
	}
	return c.Close()
}

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

const operationClose = "POST /positions/close"

// hurried is from which -less on the rows are left out that take more than some seconds.
const hurried = 100

// wait is a row of what takes seconds.
type wait struct {
	what    string
	of      int
	measure func(ctx context.Context, n int) (waited, error)
}

// waited is how long each call took, and how many of them ended Unknown.
type waited struct {
	took    []time.Duration
	unknown int
}

// seconds measures the waits that a service or a network makes long, over the client's own
// connections. Its rows wait beside each other, and not for a processor.
func seconds(ctx context.Context, w io.Writer, s settings) error {
	n := s.calls(20)
	slow := []time.Duration{3 * time.Second}
	if s.less < hurried {
		slow = append(slow, 6*time.Second, 8*time.Second, 12*time.Second, 20*time.Second)
	}
	var rows []wait
	for _, d := range slow {
		rows = append(rows, wait{fmt.Sprintf("a full close, the service works on it for %v", d), n, worksFor(operationClose, d)})
	}
	for _, d := range slow {
		rows = append(rows, wait{fmt.Sprintf("an order, the service works on it for %v", d), n, worksFor(operationOrder, d)})
	}
	for _, w := range bothWrites {
		rows = append(rows, wait{w.what + " over a connection that swallows and acknowledges", n, func(ctx context.Context, n int) (waited, error) {
			return overSwallowing(ctx, n, w.do)
		}})
	}
	left := []string{"what takes longer: the run is in a hurry"}
	if s.less < hurried {
		left = nil
		rows = append(rows,
			wait{"the first order of a process, 20 s after it has read the account", n, afterARead(s.dir)},
			wait{"an order is taken beside one in doubt, by a process that is restarted each 20 s", n, restartedEach(s.dir, 20*time.Second)},
			wait{"the same, each 10 s", n, restartedEach(s.dir, 10*time.Second)},
		)
		dropped, stop, why := overDropping(ctx, s, n)
		defer stop()
		if rows = append(rows, dropped...); why != "" {
			left = append(left, "a path that drops packets: "+why)
		}
	}

	fmt.Fprint(w, "\n### (d) What takes seconds\n")
	results, errs := make([]waited, len(rows)), make([]error, len(rows))
	var all sync.WaitGroup
	for i, row := range rows {
		all.Go(func() { results[i], errs[i] = row.measure(ctx, row.of) })
	}
	all.Wait()
	t := &table{head: []string{"until the call returns", "of", "Unknown", "median s", "longest s"}}
	for i, row := range rows {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", row.what, errs[i])
		}
		took := results[i].took
		slices.Sort(took)
		t.row(row.what, number(float64(len(took))), number(float64(results[i].unknown)), inSeconds(took[(len(took)-1)/2]), inSeconds(took[len(took)-1]))
	}
	if s.less < hurried {
		skipped, err := byTests(ctx, t)
		if err != nil {
			return err
		}
		left = append(left, skipped...)
	}
	t.write(w)
	for _, what := range left {
		fmt.Fprintf(w, "\nLeft out: %s.\n", what)
	}
	return nil
}

// waitEach calls do for each number, all at once. A call that ends Unknown is counted.
func waitEach(n int, do func(i int) error) (waited, error) {
	var unknown atomic.Int64
	took, err := beside(n, func(i int) error {
		err := do(i)
		if err != nil && trading.OutcomeOf(err) == trading.Unknown {
			unknown.Add(1)
			return nil
		}
		return err
	})
	return waited{took, int(unknown.Load())}, err
}

// served serves a simulated service on loopback, for a client with connections of its own.
func served(ctx context.Context, sim *tradingsim.Sim) (address string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: sim, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

func bareClient(base, key string, opts ...trading.Option) (*trading.Client, error) {
	return trading.New(base, append([]trading.Option{trading.WithLiveKey(key), trading.WithRateLimits(roomy), trading.WithPlaintextHTTP()}, opts...)...)
}

func fullClose(ctx context.Context, client *trading.Client, i int) error {
	_, err := client.Live.Account(trading.AccountID(accountOf(i))).ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("100")))
	return err
}

func openPosition(ctx context.Context, client *trading.Client, i int) error {
	_, err := client.Live.Account(trading.AccountID(accountOf(i))).PlaceOrder(ctx, clientOrder())
	return err
}

// bothWrites are an exit that is asked for twice, and an entry that is not.
var bothWrites = []struct {
	what string
	do   func(context.Context, *trading.Client, int) error
}{{"a full close", fullClose}, {"an order", openPosition}}

// worksFor has the service work for so long on each of n writes, which begin at once.
func worksFor(operation string, d time.Duration) func(context.Context, int) (waited, error) {
	return func(ctx context.Context, n int) (waited, error) {
		sim := manyAccounts(n)
		address, stop, err := served(ctx, sim)
		if err != nil {
			return waited{}, err
		}
		defer stop()
		client, err := bareClient("http://"+address+"/v1", sim.LiveKey())
		if err != nil {
			return waited{}, err
		}
		defer func() { _ = client.Close() }()
		do := openPosition
		if operation == operationClose {
			do = fullClose
			if _, err := beside(n, func(i int) error { return openPosition(ctx, client, i) }); err != nil {
				return waited{}, err
			}
		}
		for range n {
			sim.Fault(operation, tradingsim.Delay(d))
		}
		return waitEach(n, func(i int) error { return do(ctx, client, i) })
	}
}

// overSwallowing has n clients write over a connection whose service is gone, while something in
// between goes on acknowledging.
func overSwallowing(ctx context.Context, n int, do func(context.Context, *trading.Client, int) error) (waited, error) {
	sim := manyAccounts(n)
	behind, stop, err := served(ctx, sim)
	if err != nil {
		return waited{}, err
	}
	defer stop()
	between, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return waited{}, err
	}
	defer func() { _ = between.Close() }()
	var swallows atomic.Bool
	go func() {
		for {
			near, err := between.Accept()
			if err != nil {
				return
			}
			go forward(ctx, near, behind, !swallows.Load(), &swallows)
		}
	}()
	return writeEach(ctx, n, sim.LiveKey(), "http://"+between.Addr().String()+"/v1", do, func() error {
		swallows.Store(true)
		return nil
	})
}

// forward takes bytes to and fro. What comes over an old connection is read and dropped once
// swallows says so.
func forward(ctx context.Context, near net.Conn, behind string, old bool, swallows *atomic.Bool) {
	defer func() { _ = near.Close() }()
	far, err := new(net.Dialer).DialContext(ctx, "tcp", behind)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	go func() { _, _ = io.Copy(near, far) }()
	buffer := make([]byte, 16<<10)
	for {
		read, err := near.Read(buffer)
		if err != nil {
			return
		}
		if old && swallows.Load() {
			continue
		}
		if _, err := far.Write(buffer[:read]); err != nil {
			return
		}
	}
}

// writeEach has n clients, each with connections of its own, enter, and write once die has ended
// their paths.
func writeEach(ctx context.Context, n int, key, base string, do func(context.Context, *trading.Client, int) error, die func() error) (waited, error) {
	clients := make([]*trading.Client, 0, n)
	defer func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}()
	for i := range n {
		client, err := bareClient(base, key)
		if err != nil {
			return waited{}, err
		}
		clients = append(clients, client)
		if err := openPosition(ctx, client, i); err != nil {
			return waited{}, err
		}
	}
	if err := die(); err != nil {
		return waited{}, err
	}
	return waitEach(n, func(i int) error { return do(ctx, clients[i], i) })
}

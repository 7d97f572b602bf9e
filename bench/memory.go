package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// footprint is what a process holds while its calls wait for their answers, less
// what it held before them.
type footprint struct {
	RSS        int64 // bytes of memory that the system has given
	Heap       int64 // bytes of live objects
	Stacks     int64
	Goroutines int
}

// memory measures a thousand calls in flight, each contender in a process of its
// own that nothing else has used.
func memory(ctx context.Context, w io.Writer, s settings, base string) error {
	calls := s.calls(1000)
	all := make(map[string][]footprint)
	for range min(3, s.rounds) {
		for _, c := range contenders() {
			if c.order == nil || c.hidden || c.lone || !s.wants(c) {
				continue
			}
			f, err := ask(ctx, s, c.name, base)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = append(all[c.name], f)
		}
	}
	fmt.Fprintf(w, "\n### (d) Memory of %d orders in flight, for each\n", calls)
	t := &table{head: []string{"order by", "RSS KiB", "of by hand", "heap KiB", "of by hand", "stacks KiB", "goroutines"}}
	figure := func(name string, of func(footprint) int64) float64 {
		var values []float64
		for _, f := range all[name] {
			values = append(values, float64(of(f))/float64(calls))
		}
		return median(values)
	}
	rss := func(f footprint) int64 { return f.RSS }
	heap := func(f footprint) int64 { return f.Heap }
	stacks := func(f footprint) int64 { return f.Stacks }
	goroutines := func(f footprint) int64 { return int64(f.Goroutines) }
	for _, c := range contenders() {
		if all[c.name] == nil {
			continue
		}
		t.row(c.name,
			fmt.Sprintf("%.1f", figure(c.name, rss)/1024), quotient(figure(c.name, rss), figure(byHand, rss)),
			fmt.Sprintf("%.1f", figure(c.name, heap)/1024), quotient(figure(c.name, heap), figure(byHand, heap)),
			fmt.Sprintf("%.1f", figure(c.name, stacks)/1024), fmt.Sprintf("%.1f", figure(c.name, goroutines)))
	}
	t.write(w)
	return nil
}

func quotient(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// ask starts a process for one contender and reads its footprint.
func ask(ctx context.Context, s settings, name, base string) (footprint, error) {
	cmd, err := self(ctx, "-child", "memory", "-contender", name, "-service", base, "-less", strconv.Itoa(s.less))
	if err != nil {
		return footprint{}, err
	}
	out, err := cmd.Output()
	if err != nil {
		return footprint{}, err
	}
	var f footprint
	err = json.Unmarshal(out, &f)
	return f, err
}

// inFlight is such a process. It reports its own footprint.
func inFlight(ctx context.Context, out io.Writer, s settings) error {
	all := contenders()
	at := slices.IndexFunc(all, func(c contender) bool { return c.name == s.contender })
	if at < 0 {
		return fmt.Errorf("no such contender: %q", s.contender)
	}
	p := place{base: s.service, transport: newTransport()}
	if all[at].own {
		p.transport = nil
	}
	t, err := all[at].order(p)
	if err != nil {
		return err
	}
	defer t.close()
	f, err := held(ctx, t, s.service, s.calls(1000))
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(f)
}

// held measures while the service holds the answers of all calls.
func held(ctx context.Context, t task, base string, calls int) (footprint, error) {
	calling := context.WithoutCancel(ctx)    // a context that can end is a contender of its own
	if _, err := t.do(calling); err != nil { // whatever is made once has been made
		return footprint{}, err
	}
	before := now()
	if _, err := control(ctx, base+pathHold); err != nil {
		return footprint{}, err
	}
	var wg sync.WaitGroup
	failures := make(chan error, calls)
	for range calls {
		wg.Go(func() {
			if _, err := t.do(calling); err != nil {
				failures <- err
			}
		})
	}
	for {
		text, err := control(ctx, base+pathHeld)
		if err != nil {
			return footprint{}, err
		}
		if text == strconv.Itoa(calls) {
			break
		}
		select {
		case err := <-failures:
			return footprint{}, err
		case <-time.After(20 * time.Millisecond):
		}
	}
	during := now()
	if _, err := control(ctx, base+pathRelease); err != nil {
		return footprint{}, err
	}
	wg.Wait()
	select {
	case err := <-failures:
		return footprint{}, err
	default:
	}
	return footprint{
		RSS:        during.RSS - before.RSS,
		Heap:       during.Heap - before.Heap,
		Stacks:     during.Stacks - before.Stacks,
		Goroutines: during.Goroutines - before.Goroutines,
	}, nil
}

func now() footprint {
	f := footprint{RSS: residentBytes(), Goroutines: runtime.NumGoroutine()}
	runtime.GC()
	runtime.GC() // what pools kept is gone after the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.Heap, f.Stacks = int64(m.HeapAlloc), int64(m.StackInuse)
	return f
}

// residentBytes is the memory that the system has given this process; 0 where it does not
// say.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// control passes something to the service, over a connection that is not kept.
func control(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return "", err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

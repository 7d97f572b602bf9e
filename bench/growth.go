package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// growth measures the same with little and with much: whatever grows faster than
// the work would show here.
func growth(ctx context.Context, w io.Writer, s settings) error {
	fmt.Fprint(w, "\n### Growth with the work\n")
	t := &table{head: []string{"what", "little", "much", "little, each", "much, each", "each, much to little"}}
	for _, row := range []func(context.Context, settings, *table) error{growingMarkets, growingTrades, growingWatch, growingJournal, growingLimiter} {
		if err := row(ctx, s, t); err != nil {
			return err
		}
	}
	t.write(w)
	return nil
}

// compare adds a row: the time for each of so many, where little and much are
// what the work was done with.
func compare(t *table, what, little, much string, a, b time.Duration) {
	t.row(what, little, much, nanos(a), nanos(b), fmt.Sprintf("%.2f", float64(b)/float64(a)))
}

func nanos(d time.Duration) string {
	if d < 10*time.Microsecond {
		return fmt.Sprintf("%s ns", number(float64(d)))
	}
	return fmt.Sprintf("%s µs", micros(d))
}

// growingLists measures lists of two lengths, for each row of them.
func growingLists(ctx context.Context, s settings, few, many int, read func(context.Context, *trading.Client) (int, error)) (a, b time.Duration, err error) {
	var entrants []*entrant
	defer func() {
		for _, e := range entrants {
			e.task.close()
		}
	}()
	for _, rows := range []int{few, many} {
		client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers(rows))})
		if err != nil {
			return 0, 0, err
		}
		entrants = append(entrants, &entrant{
			name:  fmt.Sprint(rows),
			calls: max(many/rows/10, 1),
			task: closing(client, func(ctx context.Context) (any, error) {
				n, err := read(ctx, client)
				if err == nil && n != rows {
					err = fmt.Errorf("%d rows of %d", n, rows)
				}
				return nil, err
			}),
		})
	}
	if err := race(ctx, entrants, max(s.rounds/3, 1), 1); err != nil {
		return 0, 0, err
	}
	return entrants[0].done.wall() / time.Duration(few), entrants[1].done.wall() / time.Duration(many), nil
}

func growingMarkets(ctx context.Context, s settings, t *table) error {
	a, b, err := growingLists(ctx, s, 10, 1000, func(ctx context.Context, c *trading.Client) (int, error) {
		markets, err := c.Sandbox.Markets(ctx)
		return len(markets), err
	})
	if err != nil {
		return err
	}
	compare(t, "a row of markets", "10 rows", "1,000 rows", a, b)
	return nil
}

func growingTrades(ctx context.Context, s settings, t *table) error {
	many := s.calls(100_000)
	a, b, err := growingLists(ctx, s, 100, many, func(ctx context.Context, c *trading.Client) (int, error) {
		trades, err := c.Sandbox.Trades(ctx)
		return len(trades), err
	})
	if err != nil {
		return err
	}
	compare(t, "a row of trades", "100 rows", number(float64(many))+" rows", a, b)
	return nil
}

// growingJournal measures an order beside few and beside many named writes that the
// journal keeps, and what it takes to open it. The file is in memory where the
// system has a place for that, so that it is the journal that is measured and not
// the disk.
func growingJournal(ctx context.Context, s settings, t *table) error {
	const memoryDir = "/dev/shm"
	where, parent := "in memory", memoryDir
	if info, err := os.Stat(memoryDir); err != nil || !info.IsDir() {
		where, parent = "on disk", s.dir
	}
	dir, err := os.MkdirTemp(parent, "bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	many := s.calls(100_000)
	if s.million {
		many = 1_000_000
	}
	counts := []int{10, many}
	var orders, opens []time.Duration
	for _, n := range counts {
		path := filepath.Join(dir, fmt.Sprintf("%d.journal", n))
		if err := fill(ctx, path, n); err != nil {
			return err
		}
		began := time.Now()
		j, err := journal.Open(path)
		if err != nil {
			return err
		}
		opens = append(opens, time.Since(began))
		took, err := ordersBeside(ctx, s, j)
		if err := j.Close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		orders = append(orders, took)
	}
	much := number(float64(many)) + " intents"
	compare(t, "an order, its journal "+where, "10 intents", much, orders[0], orders[1])
	compare(t, "opening that journal, an intent", "10 intents", much, opens[0]/10, opens[1]/time.Duration(many))
	return nil
}

// fill makes a journal of n resolved writes, which it keeps since they have a name.
func fill(ctx context.Context, path string, n int) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	data := []byte(`{"end":{"Outcome":1,"Evidence":1,"At":"2026-11-02T09:30:00Z","Key":"d-0123456789012345678901234567890123456789012-1",` +
		`"Try":1,"Dead":true,"FirstUseKnown":true,"Digest":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=","Answer":` + answerOrder + `}}`)
	for i := range n {
		name := strconv.Itoa(i)
		if err := j.Append(ctx, false, journal.Record{Intent: "intent-" + name, Name: name, Final: true, Data: data}); err != nil {
			_ = j.Close()
			return err
		}
	}
	return j.Close()
}

// ordersBeside measures orders that are written to the journal.
func ordersBeside(ctx context.Context, s settings, j *journal.Log) (time.Duration, error) {
	client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers(0))}, trading.WithJournal(j))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	acct, order := client.Live.Account(account), clientOrder()
	e := &entrant{calls: s.calls(300), task: untilDone(func(ctx context.Context) (any, error) { return acct.PlaceOrder(ctx, order) })}
	if err := race(ctx, []*entrant{e}, max(s.rounds/3, 1), 1); err != nil {
		return 0, err
	}
	return e.done.wall(), nil
}

// growingLimiter measures reads that one goroutine, or many at once, take their
// slots for in one store: what each waits for the others is in the time.
func growingLimiter(ctx context.Context, s settings, t *table) error {
	answering := newCanned(answers(1))
	for _, row := range []struct {
		what string
		opts []trading.Option
	}{
		{"a read, uncounted", []trading.Option{trading.WithRateLimits(trading.RateLimits{Off: true})}},
		{"a read, counted", nil},
	} {
		client, err := newClient(place{base: "http://127.0.0.1", transport: answering}, row.opts...)
		if err != nil {
			return err
		}
		err = growingReads(ctx, s, t, row.what, client)
		_ = client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func growingReads(ctx context.Context, s settings, t *table, what string, client *trading.Client) error {
	var entrants []*entrant
	counts := []int{1, 64, 1024}
	for range counts {
		entrants = append(entrants, &entrant{
			name:  what,
			calls: s.calls(20_000),
			task:  untilDone(func(ctx context.Context) (any, error) { return client.Sandbox.Markets(ctx) }),
		})
	}
	for range max(s.rounds/3, 1) {
		for i, goroutines := range counts {
			if err := race(ctx, entrants[i:i+1], 1, goroutines); err != nil {
				return err
			}
		}
	}
	for i, goroutines := range counts[1:] {
		compare(t, what, "1 goroutine", number(float64(goroutines))+" goroutines", entrants[0].done.wall(), entrants[i+1].done.wall())
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// stage is an order with some of the stages on.
type stage struct {
	name string
	than string // what it has one stage more than
	live bool
	opts []trading.Option
}

func stageRows() []stage {
	ungated := trading.WithHealthGate(trading.HealthGate{Off: true})
	uncounted := trading.WithRateLimits(trading.RateLimits{Off: true})
	counted := trading.WithRateLimits(trading.RateLimits{})
	inMemory := trading.WithJournal(journal.NewMemory())
	return []stage{
		{name: "paper: no gate, no rate limits", opts: []trading.Option{ungated, uncounted}},
		{name: "paper: + gate", than: "paper: no gate, no rate limits", opts: []trading.Option{uncounted}},
		{name: "paper: + rate limits", than: "paper: no gate, no rate limits", opts: []trading.Option{ungated, counted}},
		{name: "paper: + gate and rate limits", than: "paper: no gate, no rate limits", opts: []trading.Option{counted}},
		{name: "live: no gate, no rate limits, no journal", live: true, opts: []trading.Option{ungated, uncounted}},
		{name: "live: + gate", than: "live: no gate, no rate limits, no journal", live: true, opts: []trading.Option{uncounted}},
		{name: "live: + journal in memory", than: "live: no gate, no rate limits, no journal", live: true, opts: []trading.Option{ungated, uncounted, inMemory}},
		{name: "live: + rate limits", than: "live: no gate, no rate limits, no journal", live: true, opts: []trading.Option{ungated}},
		{name: "live: + gate, journal and rate limits", than: "live: no gate, no rate limits, no journal", live: true, opts: []trading.Option{inMemory}},
	}
}

// stages measures what each stage adds to an order with the network taken away.
func stages(ctx context.Context, w io.Writer, s settings) error {
	var entrants []*entrant
	defer func() {
		for _, e := range entrants {
			e.task.close()
		}
	}()
	for _, row := range stageRows() {
		t, err := row.open()
		if err != nil {
			return err
		}
		entrants = append(entrants, &entrant{name: row.name, task: t, calls: s.calls(5000)})
	}
	if err := race(ctx, entrants, s.rounds, 1); err != nil {
		return err
	}
	fmt.Fprint(w, "\n### (e) What each stage adds\n")
	t := &table{head: []string{"order", "µs", "adds ns", "B", "adds B", "allocs", "adds allocs"}}
	for _, row := range stageRows() {
		done := named(entrants, row.name)
		bytes, allocs := median(each(done, bytesOf)), median(each(done, allocsOf))
		if row.than == "" {
			t.row(row.name, micros(done.wall()), "", number(bytes), "", number(allocs), "")
			continue
		}
		than := named(entrants, row.than)
		var added []float64
		for i := range done {
			added = append(added, float64(done[i].wall-than[i].wall))
		}
		a := spreadOf(added)
		t.row(row.name, micros(done.wall()), fmt.Sprintf("%s (%s to %s)", number(a.mid), number(a.low), number(a.high)),
			number(bytes), number(bytes-median(each(than, bytesOf))), number(allocs), number(allocs-median(each(than, allocsOf))))
	}
	t.write(w)
	return nil
}

func (row stage) open() (task, error) {
	p := place{base: "http://127.0.0.1", transport: newCanned(answers(0))}
	client, err := newClient(p, row.opts...)
	if err != nil {
		return task{}, err
	}
	order, acct := clientOrder(), client.Live.Account(account)
	if row.live {
		return closing(client, func(ctx context.Context) (any, error) { return acct.PlaceOrder(ctx, order) }), nil
	}
	return closing(client, func(ctx context.Context) (any, error) { return client.Sandbox.PlaceOrder(ctx, order) }), nil
}

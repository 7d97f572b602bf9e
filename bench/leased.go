package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/journal"
)

// leased measures orders whose intents are in PostgreSQL before they leave, beside the journal in
// a file and commits of one row, which are the least that a database costs.
func leased(ctx context.Context, w io.Writer, s settings) error {
	switch {
	case s.postgres == "" && s.only == "":
		return nil
	case s.postgres == "":
		return errors.New("-postgres is required")
	}
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := postgres.Migrate(ctx, s.postgres); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n### (c) The journal in PostgreSQL\n")
	t := &table{head: []string{"writers", "order by", "µs an order", "orders a second", "of a commit"}}
	for _, writers := range []int{1, 64} {
		entrants, err := leasedRow(ctx, s, filepath.Join(dir, fmt.Sprint(writers)), writers)
		if err == nil {
			err = race(ctx, entrants, s.rounds, writers)
		}
		for _, e := range entrants {
			e.task.close()
		}
		if err != nil {
			return err
		}
		for _, e := range entrants {
			t.row(fmt.Sprint(writers), e.name, micros(e.done.wall()), number(1/e.done.wall().Seconds()), spreadText(ratio(e.done, entrants[0].done, wallOf)))
		}
	}
	t.write(w)
	return nil
}

// leasedRow is what is measured with so many writers. What it returns is to be closed, also with an
// error.
func leasedRow(ctx context.Context, s settings, path string, writers int) (entrants []*entrant, err error) {
	calls := s.calls(100) * min(writers, 16)
	add := func(name string, t task, failed error) {
		if failed != nil {
			err = failed
			return
		}
		entrants = append(entrants, &entrant{name: name, task: t, calls: calls})
	}
	t, failed := commits(ctx, s.postgres, 1)
	add("commits of one row, one after the other", t, failed)
	if writers > 1 {
		t, failed = commits(ctx, s.postgres, writers)
		add("commits of one row, on a connection for each writer", t, failed)
	}
	file, failed := journal.Open(path)
	if failed == nil {
		t, failed = ordersOn(file)
	}
	add("this client, its journal in a file", t, failed)
	bound, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	store, failed := postgres.Open(bound, s.postgres, postgres.Options{
		Name: "bench", BaseURL: "http://127.0.0.1/v1", Accounts: []string{fmt.Sprint(account)},
	})
	if failed == nil {
		t, failed = ordersOn(store)
	}
	add("this client, its journal in PostgreSQL", t, failed)
	return entrants, err
}

// commits are single commits, on so many connections.
func commits(ctx context.Context, url string, connections int) (task, error) {
	idle := make(chan *pgx.Conn, connections)
	closeAll := func() {
		for len(idle) > 0 {
			_ = (<-idle).Close(ctx)
		}
	}
	for range connections {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			closeAll()
			return task{}, err
		}
		idle <- conn
	}
	conn := <-idle
	_, err := conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS public.bench (data bytea)")
	idle <- conn
	if err != nil {
		closeAll()
		return task{}, err
	}
	data := make([]byte, 900) // about what the beginning of a write takes
	return task{
		do: func(ctx context.Context) (any, error) {
			conn := <-idle
			defer func() { idle <- conn }()
			return conn.Exec(ctx, "INSERT INTO public.bench (data) VALUES ($1)", data)
		},
		close: closeAll,
	}, nil
}

// ordersOn is an order with the network taken away, on a journal that it closes.
func ordersOn(j interface {
	journal.Store
	io.Closer
}) (task, error) {
	client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers())},
		trading.WithJournal(j), trading.WithSendTTL(time.Minute)) // a slow disk makes no decision too old
	if err != nil {
		_ = j.Close()
		return task{}, err
	}
	acct, order := client.Live.Account(account), clientOrder()
	return task{
		do:    func(ctx context.Context) (any, error) { return acct.PlaceOrder(ctx, order) },
		close: func() { _, _ = client.Close(), j.Close() },
	}, nil
}

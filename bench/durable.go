package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tradingapi/trading-go/journal"
)

// durable measures orders whose intents are in the journal on disk before they
// leave, beside what the disk takes for a sync of its own.
func durable(ctx context.Context, w io.Writer, s settings) error {
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := os.Create(filepath.Join(dir, "pages"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	sync := untilDone(syncs(file))

	counts := []int{1, 8, 64}
	disks, journals := make(map[int]*entrant), make(map[int]*entrant)
	defer func() {
		for _, e := range journals {
			e.task.close()
		}
	}()
	for _, writers := range counts {
		t, err := journaled(filepath.Join(dir, fmt.Sprintf("%d.journal", writers)))
		if err != nil {
			return err
		}
		disks[writers] = &entrant{name: "disk", task: sync, calls: s.calls(100)}
		journals[writers] = &entrant{name: "journal", task: t, calls: s.calls(100) * min(writers, 16)}
	}
	// A disk is not always as fast: each figure has the disk's own beside it.
	for range max(s.rounds/3, 1) {
		for _, writers := range counts {
			if err := race(ctx, []*entrant{disks[writers]}, 1, 1); err != nil {
				return err
			}
			if err := race(ctx, []*entrant{journals[writers]}, 1, writers); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "\n### (c) The durable journal\n")
	t := &table{head: []string{"writers", "µs an order", "orders a second", "a sync of the disk µs", "syncs' worth an order", "of one writer", "B", "allocs"}}
	one := journals[1].done
	for _, writers := range counts {
		done := journals[writers].done
		t.row(fmt.Sprint(writers), micros(done.wall()), number(1/done.wall().Seconds()),
			micros(disks[writers].done.wall()), spreadText(ratio(done, disks[writers].done, wallOf)),
			ratioText(ratio(done, one, wallOf)), number(median(each(done, bytesOf))), number(median(each(done, allocsOf))))
	}
	t.write(w)
	return nil
}

// syncs writes a page within a file that has it already, and syncs it: the least
// that anything durable costs.
func syncs(file *os.File) func(context.Context) (any, error) {
	page := make([]byte, os.Getpagesize())
	at := int64(0)
	return func(context.Context) (any, error) {
		at++
		if _, err := file.WriteAt(page, at%64*int64(len(page))); err != nil {
			return nil, err
		}
		return nil, datasync(file)
	}
}

// journaled is an order with the network taken away and its journal on disk.
func journaled(path string) (task, error) {
	j, err := journal.Open(path)
	if err != nil {
		return task{}, err
	}
	return ordersOn(j)
}

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/tradingapi/trading-go"
)

// BenchmarkJournal begins and settles intents, each by one of so many writers: an
// operation is both, which is two commits for a lone writer. Compare it with
// BenchmarkDisk, and read the commits for each operation.
//
//	go test -run '^$' -bench 'Journal|Disk' ./journal
func BenchmarkJournal(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j, err := Open(testFile(b), Options{})
			if err != nil {
				b.Fatal(err)
			}
			var commits, ids atomic.Int64
			j.finish = func(tx *bbolt.Tx) error {
				commits.Add(1)
				return tx.Commit()
			}
			work := func() {
				in := testIntent(fmt.Sprint(ids.Add(1)))
				in.Decision = ""
				if err := j.Begin(b.Context(), in); err != nil {
					b.Error(err)
				}
				s := trading.Settlement{Outcome: trading.Applied, At: in.Created, Answer: []byte(`{"success":true}`)}
				if err := j.Settle(b.Context(), in.ID, s); err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			if writers == 1 {
				for b.Loop() {
					work()
				}
			} else {
				b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						work()
					}
				})
			}
			b.ReportMetric(float64(commits.Load())/float64(b.N), "commits/op")
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkDisk is what the disk itself takes for the bytes of one commit, within
// a file that has them already: with one sync, which is the least that anything
// durable costs, and as bbolt has to do it, with the data before the page that
// makes it valid.
func BenchmarkDisk(b *testing.B) {
	page := make([]byte, os.Getpagesize())
	for name, syncs := range map[string]int{"syncs=1": 1, "syncs=2": 2} {
		b.Run(name, func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "pages"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			const pages = 128
			write := func(at int) {
				if _, err := file.WriteAt(page, int64(at%pages*len(page))); err != nil {
					b.Fatal(err)
				}
			}
			for at := range pages {
				write(at)
			}
			if err := file.Sync(); err != nil {
				b.Fatal(err)
			}
			at := 0
			for b.Loop() {
				for range 6 { // what a Begin changes: the rows of three tables, state, root
					at += 7
					write(at)
				}
				if syncs == 2 {
					datasync(b, file)
				}
				write(0)
				datasync(b, file)
			}
		})
	}
}

// BenchmarkOpen reads a file of 10,000 entries through.
func BenchmarkOpen(b *testing.B) {
	path := testFile(b)
	j, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	j.db.NoSync = true
	for i := range 10_000 {
		in := testIntent(fmt.Sprint(i))
		mustBeginSettle(b, j, in)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		j, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func mustBeginSettle(b *testing.B, j *Journal, in trading.Intent) {
	b.Helper()
	if err := j.Begin(b.Context(), in); err != nil {
		b.Fatal(err)
	}
	if err := j.Settle(b.Context(), in.ID, trading.Settlement{Outcome: trading.Applied, At: in.Created.Add(time.Second)}); err != nil {
		b.Fatal(err)
	}
}

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// BenchmarkJournal begins and settles intents, each by one of so many writers: an
// operation is both, which is two syncs for a lone writer, and its share of the
// checkpoints. Compare it with twice BenchmarkDisk.
//
//	go test -run '^$' -bench 'Journal|Disk' ./journal
func BenchmarkJournal(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j, err := Open(testFile(b), Options{})
			if err != nil {
				b.Fatal(err)
			}
			var ids atomic.Int64
			syncs := countSyncs(j)
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
			b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkDisk is what the disk itself takes for a frame of one write, within a
// file that has the bytes already: one write and one sync, which is the least that
// anything durable costs.
func BenchmarkDisk(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "bytes"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(make([]byte, logRoom)); err != nil {
		b.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	frame := make([]byte, 400)
	at := 0
	for b.Loop() {
		if _, err := file.WriteAt(frame, int64(at)); err != nil {
			b.Fatal(err)
		}
		if err := datasync(file); err != nil {
			b.Fatal(err)
		}
		at = (at + len(frame)) % (logFull)
	}
}

// BenchmarkOpen reads a file of 10,000 entries through.
func BenchmarkOpen(b *testing.B) {
	path := testFile(b)
	j, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	noSync(j)
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

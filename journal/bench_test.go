package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	write := bareDisk(b)
	for b.Loop() {
		write()
	}
}

func bareDisk(b *testing.B) (write func()) {
	file, err := os.Create(filepath.Join(b.TempDir(), "bytes"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	if _, err := file.Write(make([]byte, logRoom)); err != nil {
		b.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	frame, at := make([]byte, 400), 0
	return func() {
		if _, err := file.WriteAt(frame, int64(at)); err != nil {
			b.Fatal(err)
		}
		if err := datasync(file); err != nil {
			b.Fatal(err)
		}
		at = (at + len(frame)) % logFull
	}
}

// BenchmarkLoneWrite begins intents one by one, in turn with a bare write and sync,
// so that what else the disk has to do counts for both. It reports the medians and
// their ratio.
func BenchmarkLoneWrite(b *testing.B) {
	j, err := Open(testFile(b), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	bare := bareDisk(b)
	var journal, disk []time.Duration
	for i := 0; b.Loop(); i++ {
		in := testIntent(fmt.Sprint(i))
		start := time.Now()
		if err := j.Begin(b.Context(), in); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		j.work.Wait()
		free := time.Now()
		bare()
		journal, disk = append(journal, begun.Sub(start)), append(disk, time.Since(free))
	}
	compare(b, journal, disk)
}

// compare reports medians, which a busy machine moves less than means.
func compare(b *testing.B, journal, disk []time.Duration) {
	slices.Sort(journal)
	slices.Sort(disk)
	ours, least := journal[len(journal)/2], disk[len(disk)/2]
	b.ReportMetric(float64(ours), "journal-ns")
	b.ReportMetric(float64(least), "disk-ns")
	b.ReportMetric(float64(ours)/float64(least), "ratio")
}

// BenchmarkCheckpoint is what a write waits for at most, besides its own sync:
// writes of so many bytes go to tables of 10,000 entries. It is compared with a bare
// write and sync.
func BenchmarkCheckpoint(b *testing.B) {
	for _, size := range []int64{logIdle, logFull} {
		b.Run(fmt.Sprintf("KiB=%d", size>>10), func(b *testing.B) {
			j, err := Open(testFile(b), Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			fill(b, j, 10_000)
			n, sync := 0, j.disk.sync
			bare := bareDisk(b)
			var took, disk []time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				bare()
				disk = append(disk, time.Since(start))
				j.disk.sync = func(*os.File) error { return nil }
				for ; j.log.used() < size; n++ {
					if err := j.commit([]*write{beginOf(b, j, fmt.Sprint("more ", n))}); err != nil {
						b.Fatal(err)
					}
				}
				j.disk.sync = sync
				b.StartTimer()
				start = time.Now()
				if err := j.tidy(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			compare(b, took, disk)
			if j.log.used() != 0 {
				b.Error("there was no checkpoint")
			}
		})
	}
}

func beginOf(b *testing.B, j *Journal, id string) *write {
	in := testIntent(id)
	record, err := encodeIntent(&in)
	if err != nil {
		b.Fatal(err)
	}
	return &write{apply: func(c *change) error { return j.begin(c, in.ID, in.Decision, record, in.Created) }}
}

// fill begins and settles intents, many in a batch and without syncs.
func fill(b *testing.B, j *Journal, count int) {
	b.Helper()
	j.work.Wait()
	d := j.disk
	noSync(j)
	defer func() { j.disk, j.db.NoSync = d, false }()
	const batch = 10_000
	for at := 0; at < count; at += batch {
		var writes []*write
		for i := at; i < min(at+batch, count); i++ {
			id := fmt.Sprintf("%08d", i)
			s := trading.Settlement{Outcome: trading.Applied, Answer: []byte(`{"success":true}`)}
			settled := encodeSettlement(&s)
			writes = append(writes, beginOf(b, j, id), &write{apply: func(c *change) error {
				return j.settle(c, trading.IntentID(id), settled, s.At)
			}})
		}
		if err := j.commit(writes); err != nil {
			b.Fatal(err)
		}
		if err := j.tidy(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens and closes files of so many settled entries. Each is read
// through.
func BenchmarkOpen(b *testing.B) {
	for _, count := range []int{10, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("intents=%d", count), func(b *testing.B) {
			if testing.Short() && count > 10_000 {
				b.Skip("takes a minute to write")
			}
			path := testFile(b)
			j, err := Open(path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			fill(b, j, count)
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(used(b, path))))
			for b.Loop() {
				j, err := Open(path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

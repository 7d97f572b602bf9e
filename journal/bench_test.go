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
)

// BenchmarkAppend is a durable Append of 300 bytes by so many writers. Compare it
// with BenchmarkDisk, which is the least that anything durable costs.
//
//	go test -run '^$' -bench . ./journal
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l, err := Open(filepath.Join(b.TempDir(), "bot.journal"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			var intents atomic.Int64
			work := func() {
				r := Record{Intent: fmt.Sprint(intents.Add(1)), Final: true, Data: make([]byte, 270)}
				if err := l.Append(b.Context(), true, r); err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			if writers == 1 {
				for b.Loop() {
					work()
				}
				return
			}
			b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					work()
				}
			})
		})
	}
}

// BenchmarkDisk writes and syncs 300 bytes within a file that has the room.
func BenchmarkDisk(b *testing.B) {
	write := bareDisk(b)
	for b.Loop() {
		write()
	}
}

// BenchmarkAlone is a lone writer in turn with a bare write and sync, so that what
// else the disk has to do counts for both. It reports medians, and their ratio.
func BenchmarkAlone(b *testing.B) {
	l, bare := filled(b, 0), bareDisk(b)
	var journal, disk []time.Duration
	for i := 0; b.Loop(); i++ {
		r := Record{Intent: fmt.Sprint(i), Final: true, Data: make([]byte, 270)}
		start := time.Now()
		if err := l.Append(b.Context(), true, r); err != nil {
			b.Fatal(err)
		}
		appended := time.Now()
		bare()
		journal, disk = append(journal, appended.Sub(start)), append(disk, time.Since(appended))
	}
	slices.Sort(journal)
	slices.Sort(disk)
	ours, least := float64(journal[len(journal)/2]), float64(disk[len(disk)/2])
	b.ReportMetric(ours, "journal-ns")
	b.ReportMetric(least, "disk-ns")
	b.ReportMetric(ours/least, "ratio")
}

func bareDisk(b *testing.B) (write func()) {
	file, err := os.Create(filepath.Join(b.TempDir(), "bytes"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	if _, err := file.Write(make([]byte, usual.growth)); err != nil {
		b.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	frame, at := make([]byte, 300), int64(0)
	return func() {
		if _, err := file.WriteAt(frame, at); err != nil {
			b.Fatal(err)
		}
		if err := datasync(file); err != nil {
			b.Fatal(err)
		}
		at = (at + 300) % (usual.growth - 300)
	}
}

// BenchmarkRewrite is what an Append waits for at most, beside its own sync: so
// many resolved intents with a name are written anew.
func BenchmarkRewrite(b *testing.B) {
	for _, kept := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprintf("kept=%d", kept), func(b *testing.B) {
			l := filled(b, kept)
			for b.Loop() {
				if err := l.rewrite(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens and closes a journal with so many resolved intents.
func BenchmarkOpen(b *testing.B) {
	for _, kept := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprintf("kept=%d", kept), func(b *testing.B) {
			l := filled(b, kept)
			for b.Loop() {
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				var err error
				if l, err = Open(l.path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func filled(b *testing.B, kept int) *Log {
	b.Helper()
	l, err := Open(filepath.Join(b.TempDir(), "bot.journal"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	for i := range kept {
		r := Record{Intent: fmt.Sprint(i), Name: fmt.Sprint(i), Final: true, Data: make([]byte, 270)}
		if err := l.Append(b.Context(), false, r); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Append(b.Context(), true); err != nil {
		b.Fatal(err)
	}
	return l
}

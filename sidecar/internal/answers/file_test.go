package answers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func begun(id string) Begun {
	return Begun{
		Write: hearing.Write{
			ID: id, Place: hearing.Place{Bot: "grid", Account: "acc_1", Market: "BTC"},
			Digest: "d" + id, Key: "k" + id, Kind: hearing.Entry, Waits: true,
		},
		Operation: "POST /orders", At: t0,
	}
}

func applied() Answer {
	return Answer{
		Outcome: hearing.Applied, Status: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"success":true}`), At: t0.Add(time.Second),
	}
}

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path, t0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// kill copies the file as a killed process leaves it, and opens the copy.
func kill(t *testing.T, path string) *File {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "answers")
	require.NoError(t, os.WriteFile(other, text, 0o600))
	return open(t, other)
}

// When a bot first wrote to an account stays known, over a kill and after it was tidied.
func TestFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	at := t0.Add(-90 * time.Minute)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			first, err := f.First(t.Context(), "grid", "acc_1", at)
			assert.NoError(t, err)
			assert.Equal(t, at, first)
		})
	}
	all.Wait()
	require.NoError(t, f.Begin(t.Context(), begun("w1")))
	require.NoError(t, f.Tidy(t.Context(), t0.Add(72*time.Hour)))
	g := kill(t, path)
	first, err := g.First(t.Context(), "grid", "acc_1", t0.Add(72*time.Hour))
	require.NoError(t, err)
	assert.True(t, at.Equal(first))
	other, err := g.First(t.Context(), "grid", "acc_2", t0.Add(72*time.Hour))
	require.NoError(t, err)
	assert.True(t, other.Equal(t0.Add(72*time.Hour)))
}

func get(t *testing.T, f *File, id string) Write {
	t.Helper()
	w, ok, err := f.Get(t.Context(), id)
	require.NoError(t, err)
	require.True(t, ok)
	return w
}

// What was noted is there after a kill, at each step of a write.
func TestAKillLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	ctx := t.Context()
	unknown := Answer{Status: 409, Body: []byte(`{"error":"idempotency_in_flight"}`), At: t0}
	refused := Answer{Outcome: hearing.NotApplied, Status: 400, Body: []byte(`{}`), At: t0}

	steps := []struct {
		what string
		do   func() error
		want Write
	}{
		{"begun", func() error { return f.Begin(ctx, begun("1")) }, Write{Begun: begun("1")}},
		{"heard too early", func() error { return f.Heard(ctx, "1") }, Write{Begun: begun("1")}},
		{"answered that nothing is known", func() error { return f.Answer(ctx, "1", unknown) }, Write{Begun: begun("1"), Answer: unknown, Answered: true}},
		{"of which nothing is heard", func() error { return f.Heard(ctx, "1") }, Write{Begun: begun("1"), Answer: unknown, Answered: true}},
		{"answered", func() error { return f.Answer(ctx, "1", applied()) }, Write{Begun: begun("1"), Answer: applied(), Answered: true}},
		{"answered again", func() error { return f.Answer(ctx, "1", refused) }, Write{Begun: begun("1"), Answer: applied(), Answered: true}},
		{"heard", func() error { return f.Heard(ctx, "1") }, Write{Begun: begun("1"), Answer: applied(), Answered: true, Heard: true}},
		{"heard again", func() error { return f.Heard(ctx, "1") }, Write{Begun: begun("1"), Answer: applied(), Answered: true, Heard: true}},
	}
	for _, step := range steps {
		require.NoError(t, step.do(), step.what)
		assert.Equal(t, step.want, get(t, f, "1"), step.what)
		after := kill(t, path)
		assert.Equal(t, step.want, get(t, after, "1"), step.what)
		short := step.want
		short.Answer.Header, short.Answer.Body = nil, nil
		assert.Equal(t, []Write{short}, after.Since("grid", t0), step.what)
		assert.Equal(t, !step.want.Heard, len(after.Unheard()) == 1, step.what)
	}
	require.Error(t, f.Begin(ctx, begun("1")), "an id is of one write")
	require.Error(t, f.Answer(ctx, "2", applied()))
	require.Error(t, f.Begin(ctx, begun("a b")))
	require.Error(t, f.Begin(ctx, begun("")))
}

// The one who waits for an answer may leave at any moment: what is noted does not depend on it.
func TestTheEndOfARequestEndsNoNote(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "answers"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, f.Begin(ctx, begun("1")))
	require.NoError(t, f.Answer(ctx, "1", applied()))
	require.NoError(t, f.Heard(ctx, "1"))
	assert.True(t, get(t, f, "1").Heard)
}

func TestLookingUp(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "answers"))
	for i, id := range []string{"1", "2", "3"} {
		b := begun(id)
		b.Key = "same"
		b.At = t0.Add(time.Duration(i) * time.Minute)
		if id == "2" {
			b.Place.Bot = "twap"
		}
		require.NoError(t, f.Begin(t.Context(), b))
	}
	assert.Equal(t, []string{"1", "3"}, f.Keyed("grid", "same"))
	assert.Equal(t, []string{"2"}, f.Keyed("twap", "same"))
	assert.Empty(t, f.Keyed("grid", "other"))
	assert.Len(t, f.Since("grid", t0.Add(time.Second)), 1)
	assert.Len(t, f.Since("", t0.Add(time.Minute)), 2)
	_, ok, err := f.Get(t.Context(), "4")
	require.NoError(t, err)
	assert.False(t, ok)
}

// After 24 hours a write is forgotten, whatever became of it, and stays so.
func TestWhatIsOldIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	ctx := t.Context()
	for _, id := range []string{"begun", "unknown", "answered", "heard", "young"} {
		b := begun(id)
		if id == "young" {
			b.At = t0.Add(Kept)
		}
		require.NoError(t, f.Begin(ctx, b))
	}
	require.NoError(t, f.Answer(ctx, "unknown", Answer{At: t0}))
	require.NoError(t, f.Answer(ctx, "answered", applied()))
	require.NoError(t, f.Answer(ctx, "heard", applied()))
	require.NoError(t, f.Heard(ctx, "heard"))
	require.NoError(t, f.Tidy(ctx, t0.Add(Kept)))
	assert.Len(t, f.Since("", t0), 5, "not yet")
	require.NoError(t, f.Tidy(ctx, t0.Add(Kept+1)))
	for _, f := range []*File{f, kill(t, path)} {
		left := f.Since("", t0)
		require.Len(t, left, 1)
		assert.Equal(t, "young", left[0].ID)
	}
	require.NoError(t, f.Close())
	f, err := Open(ctx, path, t0.Add(3*Kept))
	require.NoError(t, err)
	assert.Empty(t, f.Since("", t0), "and at the next start")
	require.NoError(t, f.Close())
}

// Memory and file are bounded: what was heard makes room, and nothing else does.
func TestTooMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	f.most = 4
	ctx := t.Context()
	for i := range 4 {
		require.NoError(t, f.Begin(ctx, begun(fmt.Sprint(i))))
	}
	require.ErrorIs(t, f.Begin(ctx, begun("4")), ErrFull)
	require.NoError(t, f.Answer(ctx, "1", applied()))
	require.ErrorIs(t, f.Begin(ctx, begun("4")), ErrFull, "it may be asked for again")
	require.NoError(t, f.Heard(ctx, "1"))
	require.NoError(t, f.Begin(ctx, begun("4")))
	require.NoError(t, f.Answer(ctx, "2", Answer{Outcome: hearing.NotApplied, Status: 400}))
	require.NoError(t, f.Begin(ctx, begun("5")))
	var ids []string
	for _, w := range kill(t, path).Since("", t0) {
		ids = append(ids, w.ID)
	}
	assert.Equal(t, []string{"0", "3", "4", "5"}, ids)

	long := applied()
	long.Body = []byte(strings.Repeat("x", mostBody+1))
	require.NoError(t, f.Answer(ctx, "3", long))
	assert.Equal(t, Answer{Outcome: hearing.Applied, At: long.At}, get(t, f, "3").Answer)
}

func TestAFileIsOfOneProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	open(t, path)
	_, err := Open(t.Context(), path, t0, journal.WithLockTimeout(0))
	require.ErrorIs(t, err, journal.ErrLocked)
}

// The end of a file that is torn, as by a power cut, costs nothing that was begun.
func TestATornTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	require.NoError(t, f.Begin(t.Context(), begun("1")))
	require.NoError(t, f.Answer(t.Context(), "1", applied()))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, f.Begin(t.Context(), begun("2")))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, after, len(before))
	from := 12288 // where frames begin
	for from < len(before) && before[from] == after[from] {
		from++
	}
	for cut := from; cut < from+64; cut += 5 {
		copy(before[from:], after[from:cut]) // a part of the second
		other := filepath.Join(t.TempDir(), "answers")
		require.NoError(t, os.WriteFile(other, before, 0o600))
		f, err := Open(t.Context(), other, t0)
		require.NoError(t, err)
		assert.Equal(t, applied(), get(t, f, "1").Answer)
		assert.Len(t, f.Since("", t0), 1)
		require.NoError(t, f.Close())
	}
}

func TestAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	f := open(t, path)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 8 {
				id := fmt.Sprintf("%d-%d", i, n)
				b := begun(id)
				b.At = t0.Add(time.Duration(n%2) * time.Hour)
				assert.NoError(t, f.Begin(t.Context(), b))
				assert.NoError(t, f.Answer(t.Context(), id, applied()))
				assert.NoError(t, f.Heard(t.Context(), id))
				f.Since("", t0)
			}
			assert.NoError(t, f.Tidy(t.Context(), t0))
		})
	}
	all.Wait()
	assert.Len(t, f.Since("", time.Time{}), 128)
	require.NoError(t, f.Tidy(t.Context(), t0.Add(Kept+1)))
	assert.Len(t, f.Since("", time.Time{}), 64)
	assert.Len(t, kill(t, path).Since("", time.Time{}), 64)
}

// set is a moment of this process after this machine's clock was set: its wall clock says another time, and
// its monotonic one goes on. A time.Time of a running clock has the seconds of the first in its first word.
func set(t time.Time, by time.Duration) time.Time {
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] += uint64(int64(by/time.Second)) << 30
	return t
}

// A clock that is set neither ages what was written nor keeps it young: neither what this run has noted, nor what it
// has found.
func TestAClockThatIsSet(t *testing.T) {
	for _, by := range []time.Duration{48 * time.Hour, -48 * time.Hour} {
		for _, found := range []bool{false, true} {
			t.Run(fmt.Sprintf("by %s, found %t", by, found), func(t *testing.T) {
				path, now := filepath.Join(t.TempDir(), "answers"), time.Now()
				soon, tomorrow := set(now.Add(time.Minute), by), set(now.Add(Kept+time.Minute), by)
				require.Equal(t, time.Minute, soon.Sub(now))
				require.Equal(t, by+time.Minute, soon.Round(0).Sub(now.Round(0)))
				f, err := Open(t.Context(), path, now)
				require.NoError(t, err)
				b := begun("1")
				b.At = now
				require.NoError(t, f.Begin(t.Context(), b))
				_, err = f.First(t.Context(), "grid", "acc_1", now)
				require.NoError(t, err)
				if found {
					require.NoError(t, f.Close())
					f, err = Open(t.Context(), path, now)
					require.NoError(t, err)
				}
				require.NoError(t, f.Tidy(t.Context(), soon))
				assert.Len(t, f.Unheard(), 1, "it is a minute old")
				first, err := f.First(t.Context(), "grid", "acc_1", soon)
				require.NoError(t, err)
				assert.Equal(t, time.Minute, soon.Sub(first))
				require.NoError(t, f.Tidy(t.Context(), tomorrow))
				assert.Empty(t, f.Unheard(), "it is more than a day old")
				require.NoError(t, f.Close())
			})
		}
	}
}

// What a clock of later has noted is as old as the run that finds it.
func TestAClockThatWasSetBack(t *testing.T) {
	path, before := filepath.Join(t.TempDir(), "answers"), t0.AddDate(-1, 0, 0)
	f := open(t, path)
	require.NoError(t, f.Begin(t.Context(), begun("1")))
	_, err := f.First(t.Context(), "grid", "acc_1", t0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	f, err = Open(t.Context(), path, before)
	require.NoError(t, err)
	first, err := f.First(t.Context(), "grid", "acc_1", before)
	require.NoError(t, err)
	assert.Equal(t, before, first)
	require.NoError(t, f.Tidy(t.Context(), before.Add(Kept+1)))
	assert.Empty(t, f.Unheard())
	require.NoError(t, f.Close())
}

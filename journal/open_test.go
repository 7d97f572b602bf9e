package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// TestRefusedPaths has Open refuse what cannot be a journal, name the path and the
// rule, and change nothing.
func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	victim := []byte("something else, that is longer than a header. ")
	victim = bytes.Repeat(victim, 500)
	for name, content := range map[string][]byte{"victim": victim, "empty": nil, "text": []byte("text")} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(in("victim"), in("link")))
	must(os.Symlink(in("nowhere"), in("dangling")))
	must(os.Link(in("victim"), in("hard link")))
	must(os.Symlink(in("victim"), in("locked.lock")))
	must(os.Mkdir(in("folder"), 0o700))
	for _, test := range []struct{ path, says string }{
		{"", "must not be empty"},
		{in("folder"), "is a folder"},
		{in("folder") + "/", "is a folder"},
		{in("missing/bot.journal"), "must exist"},
		{in("victim/bot.journal"), "not a directory"},
		{in("link"), "is a symbolic link"},
		{in("dangling"), "is a symbolic link"},
		{in("locked"), "locked.lock"},
		{os.DevNull, "must be a regular file"},
		{in("hard link"), "not that of a journal"},
		{in("victim"), "not that of a journal"},
		{in("empty"), "not a journal"},
		{in("text"), "not a journal"},
	} {
		l, err := journal.Open(test.path)
		if err == nil {
			l.Close()
			t.Errorf("%q is opened", test.path)
			continue
		}
		if !strings.HasPrefix(err.Error(), "journal: ") || strings.Contains(err.Error(), "journal: journal") ||
			!strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), strings.TrimSuffix(test.path, "/")) {
			t.Errorf("Open(%q): %v, want that it %q", test.path, err, test.says)
		}
		for _, err := range journal.Read(test.path) {
			if err == nil {
				t.Errorf("Read(%q) yields something", test.path)
			}
		}
	}
	if b, err := os.ReadFile(in("victim")); err != nil || !bytes.Equal(b, victim) {
		t.Errorf("the file elsewhere has changed (%v)", err)
	}
	if _, err := os.Lstat(in("nowhere")); err == nil {
		t.Error("a file was created through a link")
	}
	if _, err := os.Lstat(in("locked")); err == nil {
		t.Error("a journal was created without its lock")
	}
}

// TestPlantedTemporary has a link where the file is written anew.
func TestPlantedTemporary(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "bot.journal")
	if err := errors.Join(os.WriteFile(victim, []byte("text"), 0o600), os.Symlink(victim, path+".tmp")); err != nil {
		t.Fatal(err)
	}
	l, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if b, err := os.ReadFile(victim); err != nil || string(b) != "text" {
		t.Errorf("the file elsewhere is %q, %v", b, err)
	}
}

func TestNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	for i := range 3 {
		l, err := journal.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if l.New() != (i == 0) || l.Repaired() != 0 {
			t.Errorf("opened %d times, New returns %t and Repaired %d", i+1, l.New(), l.Repaired())
		}
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v, want the journal and its lock", entries, err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s has mode %s, %v", entry.Name(), info.Mode(), err)
		}
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	first, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(path, journal.WithLockTimeout(-1)); err == nil || !strings.Contains(err.Error(), "must not be negative") {
		t.Errorf("Open with a negative time-out: %v", err)
	}
	wantLocked := func(t *testing.T, want time.Duration, opts ...journal.Option) {
		began := time.Now()
		if _, err := journal.Open(path, opts...); !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open: %v, want ErrLocked with the path", err)
		}
		if waited := time.Since(began); waited != want {
			t.Errorf("Open has waited %s, want %s", waited, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		wantLocked(t, 0, journal.WithLockTimeout(0))
		wantLocked(t, 5*time.Second)
		wantLocked(t, time.Minute, journal.WithLockTimeout(time.Minute))
	})
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(time.Second)
			first.Close()
		}()
		l, err := journal.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
}

func TestClosed(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "bot.journal"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := l.Named(t.Context(), "n")
	for what, err := range map[string]error{
		"Append": l.Append(t.Context(), true, journal.Record{Intent: "a"}),
		"Forget": l.Forget(t.Context(), "n"),
		"Named":  err,
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", what, err)
		}
	}
	for _, err := range l.Pending(t.Context()) {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("Pending: %v, want ErrClosed", err)
		}
	}
}

// TestLargest appends as much as fits into one call, and a byte more.
func TestLargest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	l := open(t, path)
	data := make([]byte, 1<<20)
	for len(data) > 0 {
		err := l.Append(t.Context(), false, journal.Record{Intent: "a", Data: data})
		if err == nil {
			break
		}
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "1048576") {
			t.Fatalf("Append: %v, want ErrInvalid with the limit", err)
		}
		data = data[1:]
	}
	if len(data) < 1<<20-100 {
		t.Errorf("no more than %d bytes can be appended", len(data))
	}
	if err := l.Append(t.Context(), true, journal.Record{Intent: "b"}); err != nil {
		t.Errorf("after records that are too large: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path)
	for h, err := range l.Pending(t.Context()) {
		if err != nil || h.Intent == "a" && len(h.Records[0]) != len(data) {
			t.Errorf("%s has %d bytes, %v", h.Intent, len(h.Records[0]), err)
		}
	}
}

// TestRead reads beside the process that writes, and what is before a damage.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	l := open(t, path)
	read := func() (intents string, err error) {
		for h, e := range journal.Read(path) {
			intents, err = intents+h.Intent, e
		}
		return intents, err
	}
	for i, intent := range []string{"a", "b", "c"} {
		if err := l.Append(t.Context(), i != 2, journal.Record{Intent: intent}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := read(); got != "abc" || err != nil {
		t.Errorf("Read yields %q, %v", got, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndexByte(b, 'c')
	b[at] = 'C'
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *journal.DamageError
	if got, err := read(); got != "ab" || !errors.As(err, &damage) || damage.Path != path || damage.Offset >= int64(at) {
		t.Errorf("Read yields %q, %v, want what is before the damage", got, err)
	}
	if _, err := journal.Open(path); !errors.As(err, &damage) {
		t.Errorf("Open: %v, want a *DamageError", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
		t.Errorf("a damaged journal was changed (%v)", err)
	}
}

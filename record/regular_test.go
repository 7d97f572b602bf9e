//go:build unix

package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is no file is not opened: to read it would take forever.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"/dev/zero":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"a terminal": func(path string) error { return os.Symlink("/dev/tty", path) },
	} {
		for _, at := range []string{"audit.jsonl", "audit.jsonl.000000000001"} {
			t.Run(name+" at "+at, func(t *testing.T) {
				dir := t.TempDir()
				if err := plant(filepath.Join(dir, at)); err != nil {
					t.Skip(err)
				}
				path := filepath.Join(dir, "audit.jsonl")
				_, err := OpenAudit(path, Options{})
				require.ErrorContains(t, err, "must be a")
				require.ErrorContains(t, err, at)
				_, err = VerifyFile(path)
				require.ErrorContains(t, err, "must be a")
			})
		}
	}
}

// A line that no audit has costs little memory.
func TestALongLineCostsLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(path, append(bytes.Repeat([]byte("x"), 24<<20), '\n'), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := OpenAudit(path, Options{})
	runtime.ReadMemStats(&after)
	var tampered *TamperedError
	require.ErrorAs(t, err, &tampered)
	assert.Contains(t, tampered.Reason, "longer than any line")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(12<<20))
}

// The longest line that is written can be read.
func TestTheLongestLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{MaxBody: maxBody})
	require.NoError(t, err)
	escaped := strings.Repeat("\x01", maxBody)
	e := Event{Kind: KindDone, Request: Body(escaped), Response: Body(escaped), Err: errorText(errors.New(escaped), a)}
	for _, name := range []*string{&e.Symbol, &e.Tag, &e.Bucket, (*string)(&e.Account), (*string)(&e.Key), (*string)(&e.Code), (*string)(&e.Intent)} {
		*name = escaped
	}
	require.NotZero(t, a.write(&e))
	require.NoError(t, a.Close())
	_, err = VerifyFile(path)
	require.NoError(t, err)
}

func errorText(err error, a *Audit) string { return cutText(err.Error(), a.options.MaxBody) }

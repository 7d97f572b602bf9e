package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines is a log in memory.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "\n")
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// What is wrong is said at once, and each minute while it lasts: not with each try.
func TestFound25_TroubleIsSaidEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		tr := &trouble{log: log.logger(), lease: "bot"}
		for i := range 601 { // each second, for ten minutes; the text differs each time
			tr.is(slog.LevelWarn, "waiting for the lease", fmt.Errorf("port %d", i/300))
			time.Sleep(time.Second)
		}
		assert.Equal(t, 11, log.count())
		tr.over()
		tr.is(slog.LevelWarn, "waiting for the lease", errors.New("port 2"))
		assert.Equal(t, 12, log.count(), "after its end it is new")

		log = &lines{}
		tr = &trouble{log: log.logger(), lease: "bot"}
		for range 30 { // each try hangs for 20 s
			answered := tr.asks()
			time.Sleep(4500 * time.Millisecond)
			assert.True(t, log.has("does not answer"), "within five seconds")
			time.Sleep(15500 * time.Millisecond)
			answered()
		}
		assert.LessOrEqual(t, log.count(), 11)
		assert.GreaterOrEqual(t, log.count(), 7)

		log = &lines{}
		tr = &trouble{log: log.logger(), lease: "bot"}
		for range 100 {
			answered := tr.asks()
			time.Sleep(time.Second)
			answered()
		}
		assert.Zero(t, log.count(), "each was answered")
	})
}

// A bot that waits says for what: for a database that is away, that answers nothing, that is no database
// to write to, or for another bot.
func TestFound25_ABotThatWaitsSaysForWhat(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	at, held := address(t), options()
	opened(t, at, held)
	readOnly := database(t)
	execute(t, readOnly, "DO $$ BEGIN EXECUTE 'ALTER DATABASE '||current_database()||' SET default_transaction_read_only = on'; END $$")
	for name, row := range map[string]struct {
		url  string
		o    Options
		says []string
	}{
		"nothing listens":     {fmt.Sprintf("postgres://bot@127.0.0.1:%d/x?sslmode=disable", freePort(t)), options(), []string{"waiting for the lease", "refused"}},
		"nothing answers":     {fmt.Sprintf("postgres://bot@%s/x?sslmode=disable", silent.Addr()), options(), []string{"does not answer"}},
		"it takes no writes":  {readOnly, options(), []string{"waiting for the lease", "takes no writes"}},
		"another bot has it":  {at, held, []string{"waiting for the lease", "held by"}},
		"no such name at all": {"postgres://bot@database.invalid/x?sslmode=disable", options(), []string{"waiting for the lease", "database.invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lines{}
			row.o.Logger = log.logger()
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				_, _ = Open(ctx, row.url, row.o)
			}()
			for _, text := range row.says {
				require.Eventually(t, func() bool { return log.has(text) }, patience, 10*time.Millisecond, text)
			}
			cancel()
			<-over
		})
	}
}

// A holder whose database goes away says so, and that it is back.
func TestFound25_AHolderWithoutItsDatabaseSaysSo(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	log := &lines{}
	o.Logger = log.logger()
	w := newWire(t, fmt.Sprint("127.0.0.1:", shared.port))
	opened(t, strings.Replace(at, fmt.Sprint("127.0.0.1:", shared.port), w.address(), 1), o)
	w.part(true)
	require.Eventually(t, func() bool { return log.has("the journal takes nothing") }, patience, 10*time.Millisecond)
	w.part(false)
	require.Eventually(t, func() bool { return log.has("lease taken again") }, patience, 10*time.Millisecond)
}

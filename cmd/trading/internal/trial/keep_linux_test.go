package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A kill takes all descendants: those in other sessions, and those whose parent has ended.
func TestAKillTakesAllDescendants(t *testing.T) {
	mark := t.Name() + strings.ReplaceAll(t.TempDir(), "/", "-")
	p := sleeper(t, "sh", "-c", "setsid sh -c 'sleep 600; exit' & (sh -c 'sleep 600; exit' &) ; echo up; sleep 600; exit")
	p.env = append(p.env, "MARK="+mark)
	require.NoError(t, p.Start())
	for marked(mark) < 7 { // the keeper, three shells and three sleeps
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, p.end())
	require.Zero(t, marked(mark))
}

// marked is how many processes have a text in their environment.
func marked(text string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if env, _ := os.ReadFile(file); strings.Contains(string(env), text) {
			n++
		}
	}
	return n
}

package protect

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

const killDir = "PROTECT_TEST_KILL_DIR"

// TestKillWhileWriting kills a process that writes its state again and again. Whatever
// moment that is, the state is one that it has written, whole, and no older than the last
// one that it told.
func TestKillWhileWriting(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		writeForEver(dir)
		return
	}
	for round := range 5 {
		dir := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillWhileWriting$")
		child.Env = append(os.Environ(), killDir+"="+dir)
		pipe, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(pipe)
		told := 0
		for range 10 + 7*round {
			require.True(t, lines.Scan())
			_, err := fmt.Sscan(lines.Text(), &told)
			require.NoError(t, err)
		}
		require.NoError(t, child.Process.Kill())
		for lines.Scan() { // what it told before it died
			_, _ = fmt.Sscan(lines.Text(), &told)
		}
		_ = child.Wait() // it was killed
		r, err := load(dir, acc)
		require.NoError(t, err)
		require.GreaterOrEqual(t, r.Again, told)
		s, err := openStore(dir) // the lock died with it
		require.NoError(t, err)
		require.NoError(t, s.close())
	}
}

func writeForEver(dir string) {
	s, err := openStore(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; ; n++ {
		if err := s.save(&record{Account: acc, State: Flattening, Again: n}, true); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n)
	}
}

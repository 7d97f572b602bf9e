package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the program faketime shares between a bot's processes goes with them: a later bot of the
// same number would not start.
func TestTrialSweepsUpAfterFaketime(t *testing.T) {
	dir := t.TempDir()
	faketime := "#!/bin/sh\n: >/dev/shm/faketime_shm_$$\n: >/dev/shm/sem.faketime_sem_$$\necho $$\nexec sleep 60\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "faketime"), []byte(faketime), 0o700))
	cmd := exec.Command(os.Args[0], "trial", "keep", "--", "faketime")
	cmd.Env = append(os.Environ(), childCommand+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	number, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.Error(t, cmd.Wait(), "it was killed")
	for _, name := range []string{"faketime_shm_", "sem.faketime_sem_"} {
		file := "/dev/shm/" + name + strings.TrimSpace(number)
		assert.NoFileExists(t, file)
		_ = os.Remove(file)
	}
}

// Behind a sidecar a scenario kills the one or the other, and its end both.
func TestTrialLeavesNothingBehindASidecar(t *testing.T) {
	result := tryProgram(t, `{"period":"10ms","markets":{"BTC":{"price":"64000"}}}`,
		[]string{"--sidecar", "--counts", "3,0", "--only", "lost reply"}, "sleep", "600")
	require.Len(t, result(t).Runs, 3)
	assert.EventuallyWithT(t, func(t *assert.CollectT) { // whom it has killed takes a moment to go
		tasks, err := filepath.Glob("/proc/self/task/*/children")
		require.NoError(t, err)
		for _, task := range tasks {
			children, err := os.ReadFile(task)
			if os.IsNotExist(err) {
				continue // the task has ended
			}
			require.NoError(t, err)
			assert.Empty(t, string(children))
		}
	}, 10*time.Second, 20*time.Millisecond)
}

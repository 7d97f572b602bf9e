package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	before := children(t) // of other tests
	result := tryProgram(t, `{"period":"10ms","markets":{"BTC":{"price":"64000"}}}`,
		[]string{"--sidecar", "--counts", "3,0", "--only", "lost reply"}, "sleep", "600")
	require.Len(t, result(t).Runs, 3)
	for child, what := range children(t) {
		assert.Contains(t, before, child, what)
	}
}

// children are the processes that this one has, with their commands.
func children(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, task := range tasks {
		of, err := os.ReadFile(task)
		if os.IsNotExist(err) { // the task has ended
			continue
		}
		require.NoError(t, err)
		for _, child := range strings.Fields(string(of)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline") // empty if it waits to be heard of
			all[child] = strings.ReplaceAll(string(command), "\x00", " ")
		}
	}
	return all
}

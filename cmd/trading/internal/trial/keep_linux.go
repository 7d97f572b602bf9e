package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const killsLess = "" // a kill takes everything

// adopt has what a descendant leaves behind become a child of ours, also where it has a session of
// its own.
func adopt() error {
	const subreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); errno != 0 {
		return errno
	}
	return nil
}

// killAll kills all children, again and again: theirs become ours.
func killAll(*os.Process) {
	for ; ; time.Sleep(time.Millisecond) {
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, task := range tasks {
			text, _ := os.ReadFile(task) // it may have ended
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
	}
}

// outlive returns when nothing runs any more that a program has left behind, and removes what faketime
// shares under its number: a later program of that number would not start.
func outlive(pid int) {
	for err := error(nil); err == nil || errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(-1, nil, 0, nil)
	}
	for _, shared := range []string{"faketime_shm_", "sem.faketime_sem_"} {
		_ = os.Remove(fmt.Sprintf("/dev/shm/%s%d", shared, pid))
	}
}

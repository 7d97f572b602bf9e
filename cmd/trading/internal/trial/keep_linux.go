package trial

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// subreaper is PR_SET_CHILD_SUBREAPER: what a descendant leaves behind becomes a child of ours,
// also where it has a session of its own.
const subreaper = 36

const killsLess = "" // a kill takes everything

// Keep runs a program and everything that it starts. It ends when nothing of it runs any more,
// with the program's exit code; or, once stdin ends, after it has killed all of it.
func Keep(argv []string) int {
	path, err := exec.LookPath(argv[0])
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); errno != 0 {
		err = errno
	}
	var main *os.Process
	if err == nil {
		main, err = os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		return 126
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		for ; ; time.Sleep(time.Millisecond) {
			killChildren() // their own become ours
		}
	}()
	code := 0
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // nothing runs any more
			for _, shared := range []string{"faketime_shm_", "sem.faketime_sem_"} { // a later program of this number would not start
				_ = os.Remove(fmt.Sprintf("/dev/shm/%s%d", shared, main.Pid))
			}
			return code
		case pid == main.Pid && status.Signaled():
			code = 128 + int(status.Signal())
		case pid == main.Pid:
			code = status.ExitStatus()
		}
	}
}

func killChildren() {
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

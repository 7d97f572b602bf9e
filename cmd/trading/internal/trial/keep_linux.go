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
)

// subreaper is PR_SET_CHILD_SUBREAPER: what a descendant leaves behind becomes a child of ours,
// also where it has a session of its own.
const subreaper = 36

// Keep runs a program and everything that it starts. It ends when nothing of it runs any more,
// with the program's exit code; or, once stdin ends, after it has killed all of it.
func Keep(argv []string) int {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); errno != 0 {
		fmt.Fprintln(os.Stderr, "trial: no subreaper:", errno)
		return 126
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		return 127
	}
	main, err := os.StartProcess(path, argv, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "trial:", err)
		return 126
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		for {
			for _, pid := range descendants(os.Getpid()) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
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

// descendants are the processes below one.
func descendants(of int) (list []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // its name may hold anything
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[of]; len(next) > 0; {
		list = append(list, next[0])
		next = append(next[1:], children[next[0]]...)
	}
	return list
}

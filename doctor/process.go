package doctor

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Process is what the system shows of a bot that runs.
type Process struct {
	PID, UID  int    // the process and its user; UID is -1 if that is not known
	OpenFiles int    // how many files it may open; 0 if that is not known
	Unit      string // the systemd unit that it runs in; empty for none
	Folder    string // its working folder
}

// FromProcess reads the environment, limits, user and unit of a process, on Linux. That
// needs its user or root.
func FromProcess(pid int) (*Process, []string, error) {
	return fromProcess("/proc/"+strconv.Itoa(pid), pid)
}

func fromProcess(folder string, pid int) (*Process, []string, error) {
	raw, err := os.ReadFile(filepath.Join(folder, "environ"))
	if err != nil {
		return nil, nil, fmt.Errorf("the environment of process %d: %w", pid, err)
	}
	var environ []string
	for pair := range bytes.SplitSeq(raw, []byte{0}) {
		if len(pair) > 0 {
			environ = append(environ, string(pair))
		}
	}
	p := &Process{PID: pid, UID: -1}
	if status, err := os.ReadFile(filepath.Join(folder, "status")); err == nil {
		p.UID = field(status, "Uid:", 0, -1)
	}
	if limits, err := os.ReadFile(filepath.Join(folder, "limits")); err == nil {
		p.OpenFiles = field(limits, "Max open files", 0, 0)
	}
	if group, err := os.ReadFile(filepath.Join(folder, "cgroup")); err == nil {
		p.Unit = unitOf(string(group))
	}
	p.Folder, _ = os.Readlink(filepath.Join(folder, "cwd")) // empty where it is hidden
	return p, environ, nil
}

// field is the nth number behind a label that begins a line.
func field(text []byte, label string, n, without int) int {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, label); ok {
			if words := strings.Fields(rest); len(words) > n {
				if v, err := strconv.Atoi(words[n]); err == nil {
					return v
				}
			}
		}
	}
	return without
}

// unitOf is the systemd service of a control group.
func unitOf(group string) string {
	for line := range strings.Lines(group) {
		if name := path.Base(strings.TrimSpace(line)); strings.HasSuffix(name, ".service") {
			return name
		}
	}
	return ""
}

package crash

import (
	"os"
	"runtime"
	"testing"
)

// Real processes are killed with SIGKILL at their steps, and the same holds.
func TestSIGKILL(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	tmp := t.TempDir()
	// They wait for their disks more than for a processor.
	playAll(t, 3*runtime.GOMAXPROCS(0), func(t *testing.T, s schedule) *world {
		dir, err := os.MkdirTemp(tmp, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		killAt := s.killAt(t)
		w := bubble(t, s, killAt, func(w *world) { w.inChildren(dir) })
		if inProcess := bubble(t, s, killAt, func(*world) {}); inProcess.end != w.end {
			w.differs(inProcess)
		}
		return w
	})
}

// differs notes that a schedule has come to something else in process. What happens
// in one instant has no order, so it may where the bot does two things at once.
func (w *world) differs(inProcess *world) {
	if w.beside == none {
		w.problems = append(w.problems, "in process it came to something else:\n"+inProcess.end+"and with real processes to\n"+w.end)
	}
	w.otherwise = true
}

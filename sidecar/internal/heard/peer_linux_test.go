package heard

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another user is not let in, also where the folder and the socket would let it.
func TestAnotherUserIsNotLetIn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: it takes root to be somebody else")
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("NOT TESTED: there is no curl on this machine")
	}
	dir, err := os.MkdirTemp("/tmp", "heard") // whose parents everybody can enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := Unix(path)
	r := start(t, l, err)
	const everybody = 0o777
	require.NoError(t, os.Chmod(dir, everybody))
	require.NoError(t, os.Chmod(path, everybody))
	go func() {
		for q := range r.asked {
			close(q.release)
		}
	}()
	t.Cleanup(func() { close(r.asked) })
	for uid, answered := range map[uint32]bool{0: true, 65534: false} {
		cmd := exec.CommandContext(t.Context(), curl, "--silent", "--show-error", "--max-time", "10", "--unix-socket", path, "http://x/")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		t.Log(string(out), err)
		assert.Equal(t, answered, err == nil)
	}
}

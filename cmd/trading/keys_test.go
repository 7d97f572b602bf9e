package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Nothing that fails prints a key, not even where the service or something in front of
// it repeats it.
func TestKeysAreNotPrinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		live, sandbox := r.sim.LiveKey(), r.sim.SandboxKey()
		echo := `{"error":"` + live + `","message":"the key ` + live + sandbox + `"}`
		for _, fault := range []tradingsim.Fault{
			tradingsim.Raw(400, nil, echo), tradingsim.Raw(403, nil, "<html>"+live+sandbox), tradingsim.Raw(200, nil, echo),
			tradingsim.Raw(301, map[string][]string{"Location": {"https://example.com/" + live}}, ""), tradingsim.RefuseConnection(),
		} {
			for _, args := range [][]string{
				{"status", "--env", "live"}, {"status"}, place("--timeout", "3s"), {"positions", "--env", "live"}, {"contract"},
				{"status", "--env", "live", "-o", "json"}, place("--timeout", "3s", "-o", "json"),
				{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes", "--timeout", "3s"},
			} {
				r.sim.FaultEach(func(string) tradingsim.Fault { return fault })
				code, _, errs := r.run(args...)
				assert.NotZero(t, code, "%q: %s", args, errs)
			}
		}
	})
}

func TestKeyFile(t *testing.T) {
	r := newRig(t)
	live := r.sim.LiveKey()
	r.env = append(r.env[:1:1], r.env[3:]...)
	write := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "keys")
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	linked, twice, foreign := filepath.Join(t.TempDir(), "link"), write(live, 0o600), write(live, 0o600)
	require.NoError(t, errors.Join(os.Symlink(write(live, 0o600), linked), os.Link(twice, twice+".too")))
	says := "belongs to user 1001"
	if err := os.Chown(foreign, 1001, 1001); err != nil { // it takes root
		foreign, says = linked, "symbolic link"
	}
	for name, c := range map[string]struct{ path, says string }{
		"another user's": {foreign, says},
		"a link":         {linked, "symbolic link"},
		"with two names": {twice, "2 names"},
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			code, _, errs := r.run("status", "--env", "live", "--key-file", c.path)
			assert.Equal(t, cli.Usage, code)
			assert.Contains(t, errs, c.says)
		})
	}
}

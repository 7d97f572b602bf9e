package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFromProcess(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"environ": "TRADING_LIVE_KEY=pk_live_stolen\x00HOME=/bot\x00",
		"status":  "Name:\tbot\nUid:\t1001\t1001\t1001\t1001\n",
		"limits":  "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \n",
		"cgroup":  "0::/system.slice/bot.service\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	p, environ, err := fromProcess(folder, 7)
	require.NoError(t, err)
	assert.Equal(t, &Process{PID: 7, UID: 1001, OpenFiles: 1024, Unit: "bot.service"}, p)
	assert.Equal(t, []string{"TRADING_LIVE_KEY=pk_live_stolen", "HOME=/bot"}, environ)
	_, _, err = fromProcess(filepath.Join(folder, "none"), 8)
	require.ErrorContains(t, err, "process 8")
}

func TestSettingsDoNotPrint(t *testing.T) {
	s := Setting{"pk_live_stolen", "TRADING_LIVE_KEY"}
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", s, s, s, Options{LiveKey: s}.LiveKey), "stolen")
}

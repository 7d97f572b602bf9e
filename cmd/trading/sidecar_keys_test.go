package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

func TestSidecarKeys(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	keys := func(args ...string) []string { return append([]string{"sidecar", "keys"}, args...) }
	secret := strings.TrimSpace(r.done(keys("add", "grid", "--account", "acc_1", "--account", "acc_2", "--state-dir", dir)...))
	assert.True(t, strings.HasPrefix(secret, "pk_live_local_"), secret)
	r.env = append(r.env, "TRADING_STATE_DIR="+dir)
	var made keyView
	require.NoError(t, json.Unmarshal([]byte(r.done(keys("add", "tests", "--paper", "--may", "read", "-o", "json")...)), &made))
	assert.True(t, strings.HasPrefix(made.Key, "pk_test_local_"), made.Key)

	_, _, errs := r.run(keys("remove", "grid")...)
	assert.Contains(t, errs, "taken back")
	var listed []keyView
	require.NoError(t, json.Unmarshal([]byte(r.done(keys("list", "-o", "json")...)), &listed))
	require.Len(t, listed, 2)
	assert.Equal(t, []string{"acc_1", "acc_2"}, listed[0].Accounts)
	assert.NotEmpty(t, listed[0].TakenBack)
	assert.Equal(t, keyView{Name: "tests", Env: "sandbox", Accounts: []string{}, May: "read", Made: listed[1].Made}, listed[1])
	table := r.done(keys("list")...)
	assert.Contains(t, table, "acc_1 acc_2")
	assert.NotContains(t, table+errs, secret)
}

func TestSidecarKeysRefused(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	r.done("sidecar", "keys", "add", "grid", "--account", "*", "--state-dir", dir)
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "keys"), []byte("{"), 0o600))
	r.refuses("sidecar keys", []refusal{
		{cli.Usage, "which folder?", "add grid --account acc_1"},
		{cli.Usage, "which account?", "add grid --state-dir " + dir},
		{cli.Usage, "which account?", "add grid --paper --account acc_1 --state-dir " + dir},
		{cli.Usage, "mkdir", "add grid --account acc_1 --state-dir " + filepath.Join(dir, "none")},
		{cli.Usage, "read or exits or trade", "add grid --account acc_1 --may everything --state-dir " + dir},
		{cli.NotApplied, "take it back first", "add grid --account acc_1 --state-dir " + dir},
		{cli.NotApplied, "letters", "add a/b --account acc_1 --state-dir " + dir},
		{cli.NotApplied, "no such key", "remove nobody --state-dir " + dir},
		{cli.NotApplied, "cannot be used", "list --state-dir " + broken},
	})
}

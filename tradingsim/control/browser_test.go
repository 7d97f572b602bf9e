package control

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Other users of the machine see the arguments of the browser, and not the token.
func TestFound21_TokenInArguments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program that opens a browser has another name")
	}
	dir := t.TempDir()
	told := filepath.Join(dir, "told")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" > "+told+".new\nmv "+told+".new "+told+"\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ready := make(chan Endpoint, 1)
	const token = "a-token-of-16</script>"
	go func() {
		ended <- Serve(ctx, tradingsim.New(), Options{Open: true, Token: token, Ready: func(at Endpoint) { ready <- at }})
	}()
	at := <-ready
	require.NoError(t, at.BrowserErr)
	var arguments []byte
	require.Eventually(t, func() bool {
		var err error
		arguments, err = os.ReadFile(told)
		return err == nil
	}, time.Minute, time.Millisecond)
	assert.NotContains(t, string(arguments), "a-token")
	file := strings.TrimSpace(string(arguments))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), `location.replace("`+strings.TrimSuffix(at.Page, token))
	assert.Equal(t, 1, strings.Count(string(text), "</script>"), "nothing in the token ends the script")
	stop()
	require.NoError(t, <-ended)
	assert.NoFileExists(t, file)
}

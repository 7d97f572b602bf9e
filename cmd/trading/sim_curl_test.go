package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// simulator starts the command with its control, and returns the variables that it prints.
func simulator(t *testing.T) (printed []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "sim", "--control", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), childCommand+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context has ended it
	text := make([]byte, 0, 1024)
	for part := make([]byte, 1024); bytes.Count(text, []byte("\n")) < 6; {
		n, err := out.Read(part)
		require.NoError(t, err, "%s", text)
		text = append(text, part[:n]...)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// blocks are the code of a page in one language.
func blocks(t *testing.T, page, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// What the page shows is typed as it is, against a simulator that runs.
func TestCurlOfTheGuide(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err == nil {
		_, err = exec.LookPath("curl")
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("bash and curl are needed for this test")
		}
		t.Skip("NOT TESTED: there is no bash or curl on this machine")
	}
	const page = "../../docs/simulator.md"
	var script string
	for _, block := range blocks(t, page, "sh") {
		if strings.Contains(block, "curl ") {
			script += block
		}
	}
	require.Equal(t, 5, strings.Count(script, "\ncurl "))
	env := simulator(t)
	typed := func(lines string) string {
		return run(t, t.TempDir(), append(os.Environ(), append(env, "no_proxy=*")...), bash, "-euc", lines)
	}

	said := json.NewDecoder(strings.NewReader(typed(script)))
	for _, list := range []string{"executions", "requests"} {
		var v map[string]any
		require.NoError(t, said.Decode(&v))
		assert.Contains(t, v, list)
	}
	require.False(t, said.More())

	auth := strings.SplitN(script, "\n", 2)[0] + "\n"
	get := func(path string, v any) {
		require.NoError(t, json.Unmarshal([]byte(typed(auth+`curl -fsS -H "$auth" "$TRADING_SIM_CONTROL/`+path+`"`)), v))
	}
	var state struct {
		Markets []struct {
			Symbol string
			Price  *string
		}
	}
	get("state", &state)
	prices := map[string]*string{}
	for _, m := range state.Markets {
		prices[m.Symbol] = m.Price
	}
	require.NotNil(t, prices["BTC"])
	assert.Equal(t, "70000", *prices["BTC"])
	assert.Contains(t, prices, "ETH")
	assert.Nil(t, prices["ETH"])

	// The next live order is executed, and its reply never comes.
	variables := map[string]string{}
	for _, one := range env {
		name, value, _ := strings.Cut(one, "=")
		variables[name] = value
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, variables["TRADING_BASE_URL"]+"/orders",
		strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
	require.NoError(t, err)
	request.Header.Set("X-API-Key", variables["TRADING_LIVE_KEY"])
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	require.Error(t, err, "a reply came")
	var ledger struct{ Executions []struct{ Operation string } }
	get("ledger", &ledger)
	require.Len(t, ledger.Executions, 1)
	assert.Equal(t, "POST /orders", ledger.Executions[0].Operation)

	bodies := blocks(t, page, "json")
	require.NotEmpty(t, bodies)
	for _, body := range bodies {
		typed(auth + `curl -fsS -H "$auth" -H "Content-Type: application/json" "$TRADING_SIM_CONTROL/faults" -d '` + body + `'`)
	}
	var faults struct{ Planned []any }
	get("faults", &faults)
	assert.Len(t, faults.Planned, len(bodies))
}

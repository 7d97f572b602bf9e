package mutants

import (
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Four bots in three languages share one real key, two of them greedy: the service refuses none,
// the calm ones notice nothing, and the greedy ones get out.
func TestFourBots(t *testing.T) {
	bots := []struct{ name, program, file string }{
		{"greedy-py", "python3", "greedy.py"}, {"greedy-sh", "bash", "greedy.sh"},
		{"calm-py", "python3", "calm.py"}, {"calm-js", "node", "calm.mjs"},
	}
	for _, b := range append(bots, bots[0]) {
		if exec.CommandContext(t.Context(), b.program, "--version").Run() != nil || exec.CommandContext(t.Context(), "curl", "--version").Run() != nil {
			t.Skipf("NOT TESTED: there is no %s or curl on this machine", b.program)
		}
	}
	options := []tradingsim.Option{tradingsim.WithMark("BTC", "64000")}
	for _, b := range bots {
		options = append(options, tradingsim.WithAccount(tradingsim.Account{ID: b.name}))
	}
	sim := tradingsim.Start(t, options...)
	_, dir, env := behindAt(t, sim)
	keys := map[string]string{}
	for _, b := range bots {
		key, err := sidecar.AddKey(dir, sidecar.Key{Name: b.name, Live: true, Accounts: []string{b.name}, May: sidecar.Trade})
		require.NoError(t, err)
		keys[b.name] = key
	}
	said := make([]string, len(bots))
	var all sync.WaitGroup
	for i, b := range bots {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), b.program, "testdata/"+b.file, b.name)
			cmd.Env = append(slices.Clip(env), "TRADING_LIVE_KEY="+keys[b.name])
			out, err := cmd.CombinedOutput()
			said[i] = string(out)
			assert.NoError(t, err, said[i])
		})
	}
	all.Wait()
	t.Log(strings.Join(said, ""))
	refused := regexp.MustCompile(`refused (\d+)`)
	for _, greedy := range said[:2] {
		assert.Contains(t, greedy, "opened 200")
		assert.Contains(t, greedy, "closed 200")
		if found := refused.FindStringSubmatch(greedy); assert.NotNil(t, found) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			assert.Greater(t, n, 300, "it asked for more than all have")
		}
	}
	for _, calm := range said[2:] {
		assert.Regexp(t, `answered \{"200": ?21\}`, calm)
	}
	for _, request := range sim.Requests() {
		assert.NotEqual(t, http.StatusTooManyRequests, request.Status, request.Operation)
	}
	for _, b := range bots {
		assert.Equal(t, "0", sim.Position(b.name, "BTC").String())
	}
}

package tradingsim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// wholeRun tells whether nothing chose among the tests.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}

func missingCodes() (status int) {
	for _, code := range theContract().codes() {
		if _, ok := produced.Load(code); !ok {
			fmt.Println("no test of tradingsim produces", code, "which a rule of its leads to")
			status = 1
		}
	}
	return status
}

// TestAnyCodeCanBePlanned is for those that no rule of the simulation leads to.
func TestAnyCodeCanBePlanned(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var rules strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".gen.go") || file == "health.go" {
			continue // the statuses of health are no codes
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		rules.Write(source)
	}
	planned := 0
	for _, code := range theContract().codes() {
		if strings.Contains(rules.String(), `"`+code+`"`) {
			continue
		}
		planned++
		sim := tradingsim.New()
		sim.Fault("POST /orders", tradingsim.Fail(409, code))
		liveBot(t, sim).post("/orders", liveBTC).refused(409, code)
		require.Empty(t, sim.Ledger())
	}
	require.Positive(t, planned)
}

func TestEveryOperationOfTheContractIsServed(t *testing.T) {
	sim := tradingsim.New()
	served := map[string]bool{"GET /openapi.json": true}
	for path, item := range theContract().Paths {
		for method := range item {
			method = strings.ToUpper(method)
			if method != "GET" && method != "POST" {
				continue
			}
			served[method+" "+path] = true
			require.Contains(t, tradingsim.Operations(), method+" "+path, "add its row to tradingsim/routes.go")
			b := sandboxBot(t, sim)
			if !strings.HasPrefix(path, "/sandbox") {
				b.key = sim.LiveKey()
			}
			g := b.send(method, strings.ReplaceAll(path, "{accountId}", "acc_1"), "")
			require.False(t, g.Status == 404 && g.text("error") == "not_found", "%s %s", method, path)
		}
	}
	for _, name := range tradingsim.Operations() {
		require.Contains(t, served, name, "tradingsim/routes.go has a row that the contract does not")
	}
}

func TestTheServedContractIsTheContract(t *testing.T) {
	spec, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	served := sandboxBot(t, tradingsim.New()).get("/openapi.json").ok().Text
	require.True(t, string(spec) == served, "run go generate ./tradingsim")
}

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

// missingCodes names the codes that a rule of the simulation leads to, and no test has seen.
func missingCodes() (status int) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	var rules strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".gen.go") || file == "health.go" {
			continue // the statuses of health are no codes
		}
		source, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		rules.Write(source)
	}
	for _, code := range theContract().codes() {
		if _, ok := produced.Load(code); !ok && strings.Contains(rules.String(), `"`+code+`"`) {
			fmt.Println("no test of tradingsim produces", code, "which a rule of its leads to")
			status = 1
		}
	}
	return status
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
	b := sandboxBot(t, tradingsim.New())
	b.key = "" // it needs none
	served := b.get("/openapi.json").ok().Text
	require.True(t, string(spec) == served, "run go generate ./tradingsim")
}

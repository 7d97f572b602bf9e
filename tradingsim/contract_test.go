package tradingsim_test

import (
	"flag"
	"fmt"
	"os"
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
			fmt.Println("no test produces", code)
			status = 1
		}
	}
	return status
}

// TestAnyCodeCanBePlanned is for those that the service gives only where
// nothing more specific fits.
func TestAnyCodeCanBePlanned(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
	}{
		{400, "bad_request"}, {401, "unauthorized"}, {403, "forbidden"}, {404, "not_found"}, {409, "conflict"},
		{422, "unprocessable"}, {500, "internal_error"}, {502, "unavailable"}, {503, "unavailable"},
	} {
		sim := tradingsim.New()
		sim.Fault("POST /orders", tradingsim.Fail(c.status, c.code))
		liveBot(t, sim).post("/orders", liveBTC).refused(c.status, c.code)
		require.Empty(t, sim.Ledger())
	}
}

func TestEveryOperationOfTheContractIsServed(t *testing.T) {
	sim := tradingsim.New()
	count := 0
	for path, item := range theContract().Paths {
		for method := range item {
			method = strings.ToUpper(method)
			if method != "GET" && method != "POST" {
				continue
			}
			count++
			require.Contains(t, tradingsim.Operations(), method+" "+path, "add its row to tradingsim/routes.go")
			b := sandboxBot(t, sim)
			if !strings.HasPrefix(path, "/sandbox") {
				b.key = sim.LiveKey()
			}
			g := b.send(method, strings.ReplaceAll(path, "{accountId}", "acc_1"), "")
			require.False(t, g.Status == 404 && g.text("error") == "not_found", "%s %s", method, path)
		}
	}
	require.Positive(t, count)
}

func TestTheServedContractIsTheContract(t *testing.T) {
	spec, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	served := sandboxBot(t, tradingsim.New()).get("/openapi.json").ok().Text
	require.True(t, string(spec) == served, "run go generate ./tradingsim")
}

package otherlanguages

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const decision = "entry-1"

// program is a command that runs a bot. What it needs is looked for, and without it the
// test is skipped, but not where the variable CI is set.
func program(t *testing.T, name ...string) []string {
	t.Helper()
	path, err := exec.LookPath(name[0])
	if err == nil {
		return append([]string{path}, name[1:]...)
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is needed for this test", name[0])
	}
	t.Skipf("NOT TESTED: there is no %s on this machine", name[0])
	return nil
}

// commandOf is a command on the account of a simulation, for a minute at most. env comes last.
func commandOf(t *testing.T, sim *tradingsim.Sim, command []string, env ...string) (cmd *exec.Cmd, printed *bytes.Buffer, cancel context.CancelFunc) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd, printed = exec.CommandContext(ctx, command[0], command[1:]...), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), "TRADING_BASE_URL="+sim.URL(), "TRADING_LIVE_KEY="+sim.LiveKey(),
		"TRADING_SANDBOX_KEY="+sim.SandboxKey(), "TRADING_ACCOUNT=acc_1", "no_proxy=*")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = printed, printed
	return cmd, printed, cancel
}

// run runs a bot on the account of a simulation, and returns its exit code and what it
// printed. env comes last.
func run(t *testing.T, sim *tradingsim.Sim, command []string, env ...string) (code int, out string) {
	t.Helper()
	cmd, printed, cancel := commandOf(t, sim, command, env...)
	defer cancel()
	err := cmd.Run()
	if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	t.Logf("exit code %d\n%s", cmd.ProcessState.ExitCode(), printed.String())
	require.NotContains(t, printed.String(), sim.LiveKey())
	return cmd.ProcessState.ExitCode(), printed.String()
}

// asked counts the requests of an operation.
func asked(sim *tradingsim.Sim, operation string) int { return sim.Report().Requests[operation] }

// sent counts the requests to place an order.
func sent(sim *tradingsim.Sim) int { return asked(sim, "POST /orders") }

// orders counts the orders that were executed.
func orders(sim *tradingsim.Sim) (n int) {
	for _, one := range sim.Ledger() {
		if one.Operation == "POST /orders" {
			n++
		}
	}
	return n
}

func TestPython(t *testing.T) { testBot(t, program(t, "python3", "bot.py")) }

func TestBash(t *testing.T) {
	program(t, "curl")
	testBot(t, program(t, "bash", "bot.sh"))
}

// TestTypeScript runs what .ci/lint-openapi has made of bot.ts, with the types of
// openapi.json: TRADING_BOT_JS is the file.
func TestTypeScript(t *testing.T) {
	compiled := os.Getenv("TRADING_BOT_JS")
	if compiled == "" {
		t.Skip(".ci/lint-openapi compiles bot.ts and runs this test")
	}
	testBot(t, program(t, "node", compiled))
}

// testBot holds a bot to the ledger of the service under each fault: how often its order
// was executed, and that the bot says so.
func testBot(t *testing.T, bot []string) {
	const placed, nothing, look = 0, 1, 3
	t.Run("no decision", func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		code, out := run(t, sim, bot)
		require.Equal(t, nothing, code)
		require.Contains(t, out, "DECISION", "it says what is missing")
		require.Zero(t, sent(sim))
	})
	for name, row := range map[string]struct {
		faults   []tradingsim.Fault
		code     int
		executed int
		sent     int
	}{
		"no fault":               {nil, placed, 1, 1},
		"the reply is lost":      {faults(tradingsim.DropResponse()), placed, 1, 2},
		"the reply is cut":       {faults(tradingsim.TruncateResponse()), placed, 1, 2},
		"the request is lost":    {faults(tradingsim.DropRequest()), placed, 1, 2},
		"a page instead":         {faults(tradingsim.GatewayErrorAfter(502)), placed, 1, 2},
		"a page, as a success":   {faults(tradingsim.RawAfter(200, nil, "<html>")), placed, 1, 2},
		"JSON of something else": {faults(tradingsim.RawAfter(200, nil, "{}")), placed, 1, 2},
		"a redirect":             {faults(tradingsim.Raw(307, map[string][]string{"Location": {"/v1/orders"}}, "")), placed, 1, 2},
		"two replies are lost":   {faults(tradingsim.DropResponse(), tradingsim.DropResponse()), placed, 1, 3},
		"a limit":                {faults(tradingsim.RateLimit(time.Second)), placed, 1, 2},
		"no price for a moment":  {faults(tradingsim.Fail(503, "no_price")), placed, 1, 2},
		"the first still runs":   {faults(tradingsim.Hang(time.Second)), placed, 1, 0},
		"refused":                {faults(tradingsim.Fail(403, "market_paused")), nothing, 0, 1},
		"refused after lost":     {faults(tradingsim.DropRequest(), tradingsim.Fail(403, "market_paused")), look, 0, 2},
		"a failure after it":     {faults(tradingsim.FailAfter(500, "internal_error")), look, 1, 1},
		"the service dies":       {faults(tradingsim.Crash()), look, 0, 2},
		"the service dies after": {faults(tradingsim.CrashAfter()), look, 1, 2},
		// What the page names as left: only the account's positions can tell.
		"a failure after it, lost": {faults(tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse())), placed, 2, 2},
		"a page, and a failure":    {faults(tradingsim.GatewayError(502), tradingsim.FailAfter(500, "internal_error")), look, 1, 2},
		"a limit, and a lost one":  {faults(tradingsim.RateLimit(time.Second), tradingsim.DropResponse()), placed, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time a bot waits
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
			sim.Fault("POST /orders", row.faults...)
			code, out := run(t, sim, append(bot[:len(bot):len(bot)], decision))
			require.Equal(t, row.executed, orders(sim), "orders in the ledger")
			require.Len(t, sim.Executed(decision), row.executed, "under the key")
			require.Equal(t, row.code, code)
			if row.sent > 0 {
				require.Equal(t, row.sent, sent(sim))
			}
			want := map[int]string{placed: "placed: ", nothing: "nothing was placed: ", look: "look at the account: "}[row.code]
			require.True(t, strings.HasPrefix(out, want), out)
		})
	}
	t.Run("started again", func(t *testing.T) {
		t.Parallel()
		sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
		for _, one := range []string{decision, decision, "entry-2"} {
			code, _ := run(t, sim, append(bot[:len(bot):len(bot)], one))
			require.Zero(t, code)
		}
		require.Equal(t, 2, orders(sim), "one for each decision")
		require.Equal(t, "0.02", sim.Position("acc_1", "BTC").String())
	})
	t.Run("not safe to trade", func(t *testing.T) {
		t.Parallel()
		sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
		sim.SetHealth("degraded", "stale")
		code, _ := run(t, sim, append(bot[:len(bot):len(bot)], decision))
		require.Equal(t, nothing, code)
		require.Zero(t, sent(sim))
	})
}

func faults(list ...tradingsim.Fault) []tradingsim.Fault { return list }

// The same loss, to a program without a key and to one with: two orders, and one.
func TestWithoutAKeyItDoubles(t *testing.T) {
	for name, want := range map[string]int{"doubles.py": 2, "bot.py": 1} {
		command := program(t, "python3", name, decision)
		sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
		sim.Fault("POST /orders", tradingsim.DropResponse())
		code, out := run(t, sim, command)
		require.Zero(t, code)
		require.Contains(t, out, "placed: ", "each believes that it has one order")
		require.Equal(t, want, orders(sim), name)
		require.Equal(t, want, int(sim.Position("acc_1", "BTC").Shift(2).IntPart()), "hundredths of a BTC")
	}
}

// The programs are short. The page links to them, and shows how the first places an order.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/other-languages.md")
	require.NoError(t, err)
	for _, name := range []string{"bot.py", "loop.py", "doubles.py", "bot.sh", "bot.ts"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Less(t, strings.Count(string(text), "\n"), 75, name)
		require.Contains(t, string(page), "(../examples/other-languages/"+name+")")
		if name == "bot.py" {
			_, shown, _ := strings.Cut(string(page), "```python\n")
			shown, _, _ = strings.Cut(shown, "```\n")
			require.Contains(t, shown, "def place(")
			require.Contains(t, string(text), shown)
		}
	}
}

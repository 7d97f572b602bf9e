package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// missing are command lines that name a file or a folder which is to be there, by MISSING, and is not.
var missing = []string{
	"audit show MISSING",
	"audit verify MISSING",
	"backtest ./testdata/bots/internal/bot --func Bot --days 1 --profile MISSING",
	"backtest merge MISSING",
	"contract --file MISSING",
	"flatten --env live --account acc_1 --all-symbols --yes --journal MISSING",
	"flatten --env live --account acc_1 --all-symbols --dry-run --journal MISSING",
	"flatten --env live --account acc_1 --all-symbols --yes --sidecar MISSING",
	"halt --account acc_1 --state-dir MISSING",
	"journal ls MISSING",
	"journal show MISSING ID",
	"journal verify MISSING",
	"journal import MISSING --fleet postgres://bot@127.0.0.1:1/x --lease a --account acc_1",
	"mcp --policy MISSING",
	"mcp --listen 127.0.0.1:0 --tls-cert MISSING --tls-key FILE",
	"mcp --listen 127.0.0.1:0 --tls-key MISSING --tls-cert FILE",
	"mcp engine --policy MISSING",
	"observe --ask live --yes --profile FILE --journal MISSING",
	"observe --ask live --yes --profile FILE --state-dir MISSING",
	"observe --ask read --yes --profile FILE --against MISSING",
	"observe --from MISSING",
	"odds --csv MISSING --opening 1 --balance 1 --target 2",
	"odds --result MISSING",
	"pending ack ID --found applied --journal MISSING",
	"pending ls --journal MISSING",
	"pending ls --sidecar MISSING",
	"pending resolve --all --journal MISSING",
	"resume --account acc_1 --state-dir MISSING",
	"sidecar ack ID --found applied --state-dir MISSING",
	"sidecar flatten --account acc_1 --state-dir MISSING",
	"sidecar halt --state-dir MISSING",
	"sidecar keys add grid --account acc_1 --state-dir MISSING",
	"sidecar keys list --state-dir MISSING",
	"sidecar keys remove grid --state-dir MISSING",
	"sidecar pending --state-dir MISSING",
	"sidecar resolve ID --state-dir MISSING",
	"sidecar resume --state-dir MISSING",
	"sidecar status --state-dir MISSING",
	"sim --csv BTC=MISSING",
	"sim --profile MISSING",
	"positions --key-file MISSING",
	"status --env live --journal MISSING",
	"status --env live --state-dir MISSING",
	"status --sidecar MISSING",
	"trial --manifest MISSING -- true",
	"trial judge FILE --manifest MISSING",
	"trial judge MISSING --manifest MANIFEST",
}

// files are the flags that name a file or a folder.
var files = []string{
	"against", "attempts", "csv", "file", "from", "funding", "journal", "junit", "keep", "log", "manifest", "out", "policy", "prices", "profile",
	"report", "result", "sidecar", "state-dir", "tls-cert", "tls-key", "token-file", "trades",
}

// readLater are the commands and flags with a name that missing need not have: of what is written, what a
// missing file is no fault of, and what others test.
var readLater = []string{
	"backtest --attempts", "backtest --out", "backtest --report", "backtest --result", "backtest --trades", "backtest merge --attempts",
	"backtest merge --report", "backtest merge --result", "mcp --token-file", "observe --profile", "protect --state-dir", "sidecar serve --state-dir", "sim --log", "trial --junit", "trial --keep",
	"cancel --journal", "close --journal", "limit --journal", "place --journal", "pro chase --journal", "pro chase-twap --journal", "pro conditional --journal",
	"pro edit --journal", "pro ladder --journal", "pro swarm --journal", "pro twap --journal", "tpsl --journal", // of what they write themselves
	"doctor --journal", "doctor --profile", "doctor --state-dir", // it says that they are missing
	"backtest --funding", "backtest --prices", // read once the bot is built
	"top --journal", "top --state-dir", // TestFlattenFromTop
	"backtest --from", "odds --from", "odds --report", "pro ladder --from", "protect --keep", "trial --sidecar", "trial init --sidecar", // of no files, or written
}

// What a command is to read, it does not make; and it does not end as if it had read it.
func TestAFileThatIsMissing(t *testing.T) {
	for _, line := range missing {
		t.Run(line, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "m") // t.TempDir is too long for a socket
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.terminal, r.types = true, "y\n"
				r.env[len(r.env)-1] = "XDG_STATE_HOME=" + filepath.Join(dir, "state")
				fill := strings.NewReplacer("MISSING", filepath.Join(dir, "missing"), "FILE", filepath.Join(dir, "file"), "MANIFEST", filepath.Join("..", "..", "examples", "other-languages", "trial.json"))
				args := strings.Fields(line)
				for i := range args {
					args[i] = fill.Replace(args[i])
				}
				code, out, errs := r.run(args...)
				assert.NotContains(t, []int{cli.Done, cli.Interrupted}, code, "%s%s", out, errs)
				assert.Contains(t, out+errs, filepath.Join(dir, "missing"))
				names, err := filepath.Glob(filepath.Join(dir, "missing*"))
				require.NoError(t, err)
				assert.Empty(t, names)
			})
		})
	}
	for _, c := range commands(newRoot(&cli.App{})) {
		name := strings.Join(words(c), " ")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			flag := name + " --" + f.Name
			if !slices.Contains(files, f.Name) || slices.Contains(readLater, flag) {
				return
			}
			assert.True(t, slices.ContainsFunc(missing, func(line string) bool {
				return strings.HasPrefix(line, name+" ") && (strings.Contains(line, " --"+f.Name+" MISSING") || strings.Contains(line, fmt.Sprintf(" --%s BTC=MISSING", f.Name)))
			}), "%s: a file that is missing is not tried", flag)
		})
	}
}

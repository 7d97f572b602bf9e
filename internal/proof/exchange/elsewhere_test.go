package exchange_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
)

// elsewhere is another service, reached by the keys of the environment.
func elsewhere(t *testing.T) *world {
	t.Helper()
	pool := &http.Transport{Proxy: http.ProxyFromEnvironment}
	t.Cleanup(pool.CloseIdleConnections)
	w := &world{
		t: t, baseURL: strings.TrimSuffix(*baseURL, "/"), base: pool,
		sandboxKey: os.Getenv("TRADING_SANDBOX_KEY"), liveKey: os.Getenv("TRADING_LIVE_KEY"),
		account: trading.AccountID(*liveAccount), order: "ord_none", run: "run_none",
	}
	if w.sandboxKey == "" || w.liveKey == "" {
		t.Fatal("TRADING_SANDBOX_KEY and TRADING_LIVE_KEY are not both set")
	}
	return w
}

// permitted are the cases that may be recorded from a service that is not
// simulated: none that needs a hand inside it, none that writes unless that was
// asked for, and never one that could trade a real account.
func permitted(all map[string]testCase, account string, sandboxWrites, liveWrites bool) []testCase {
	var list []testCase
	for _, c := range all {
		needsAccount := c.op.live() && c.op.id != "listAccounts"
		switch {
		case !c.anywhere:
		case c.op.env == trading.EnvSandbox && (c.op.write || c.before != nil) && !sandboxWrites:
		case c.op.liveWrite() && (!liveWrites || c.code == ""):
		case needsAccount && account == "" && c.code != "account_not_found":
		default:
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b testCase) int { return strings.Compare(a.path(), b.path()) })
	return list
}

// recordElsewhere makes the cases happen at a service that is not simulated.
func recordElsewhere(t *testing.T, w *world, list []testCase, sandboxWrites bool) []*exchange.File {
	t.Helper()
	var files []*exchange.File
	for _, c := range list {
		if c.op.live() {
			c.before = nil // what is there is recorded as it is
		}
		if c.op.env == trading.EnvSandbox && sandboxWrites {
			w.reset()
		}
		f := exchangeOf(t, w, &c)
		f.Source = exchange.Service
		files = append(files, f)
	}
	return files
}

// With -record or -drift and -base-url: the cases that may be, from another
// service. -drift reports where it differs, and fails if it does.
func TestElsewhere(t *testing.T) {
	if *baseURL == "" || !*record && !*drift {
		t.Skip("neither -record nor -drift with -base-url")
	}
	w := elsewhere(t)
	all := cases(t)
	files := recordElsewhere(t, w, permitted(all, *liveAccount, *sandboxWrites, *liveWrites), *sandboxWrites)
	if *record {
		for _, f := range files {
			c := all[filepath.ToSlash(f.Path())]
			if f.Response.Status != c.status || errorCode(f) != c.code {
				t.Errorf("%s: not written: the answer is %d %s", f.Path(), f.Response.Status, f.Response.Bytes())
				continue
			}
			f.Expect = expectation(t, f, &c)
			text, err := f.Encode()
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, f.Operation), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, f.Path()), text, 0o644))
		}
		return
	}
	known := exchanges(t)
	for _, line := range exchange.Drift(known, files) {
		t.Error(line)
	}
	t.Logf("%d of %d exchanges compared", len(files), len(known))
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Over real connections: the addresses of the name, TLS, the disk.
func TestThisHost(t *testing.T) {
	sim := tradingsim.Start(t)
	folder := t.TempDir()
	r := Run(t.Context(), Options{
		BaseURL: Setting{sim.URL(), "test"}, LiveKey: Setting{sim.LiveKey(), "test"}, Journal: filepath.Join(folder, "bot.journal"),
	})
	for check, want := range map[string]Status{"addresses": OK, "certificate": Skipped, "live-access": OK, "accounts": OK, "answer-time": OK} {
		l, ok := r.Line(check)
		assert.True(t, ok, check)
		assert.Equal(t, want, l.Status, "%s", l)
	}
	assert.Positive(t, r.Measured.AnswerTime)
	assert.Positive(t, r.Measured.Sync)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "its file is removed, and no journal is made")
}

func TestAddresses(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	base := "https://127.0.0.1:" + u.Port() + "/v1"
	look := func(found ...string) Line {
		h := thisHost()
		h.dial = dialUnless("::1", h.dial)
		l := &look{o: Options{BaseURL: Setting{base, "test"}, AttemptTimeout: 5 * time.Second}, h: h, r: &Report{At: time.Now()}}
		h.lookup = lookupAs(found...)
		b := l.baseURL(l.r.of("configuration"))
		require.NotNil(t, b)
		l.addresses(t.Context(), l.r.of("configuration"), b)
		line, _ := l.r.Line("addresses")
		return line
	}
	assert.Equal(t, Fail, look().Status)
	l := look("127.0.0.1")
	assert.Equal(t, Fail, l.Status)
	assert.Contains(t, l.Saw, "certificate", "it is signed by nobody")
	l = look("192.0.2.1", "::1")
	assert.Equal(t, Warn, l.Status)
	assert.Contains(t, l.Saw, "not ::1")
}

// Where nothing answers nothing is asked, and nobody is told to make a new key. A bot behind a proxy needs no address.
func TestNothingAnswers(t *testing.T) {
	for proxy, want := range map[string]Status{"": Fail, "HTTPS_PROXY=http://127.0.0.1:1": Skipped} {
		h := thisHost()
		h.lookup = lookupAs("192.0.2.1")
		h.dial = func(context.Context, bool, string, string) (reached, error) { return reached{}, errors.New("refused") }
		r := Run(t.Context(), Options{
			BaseURL: Setting{"https://api.example.com/v1", "test"}, LiveKey: Setting{"pk_live_a", "test"}, Environ: []string{proxy}, AttemptTimeout: time.Second, host: h,
		})
		l, ok := r.Line("addresses")
		assert.True(t, ok)
		assert.Equal(t, want, l.Status, "%s", l)
		assert.Equal(t, proxy != "", r.Requests > 0)
		assert.NotContains(t, r.String(), "Make a new key")
		assert.True(t, r.Failed())
	}
}

func TestCertificate(t *testing.T) {
	now := time.Now()
	for left, want := range map[time.Duration]Status{90 * 24 * time.Hour: OK, 24 * time.Hour: Warn} {
		r := &Report{}
		certificate(r.of("configuration"), reached{secure: true, issuer: "CA", ends: now.Add(left)}, now)
		assert.Equal(t, want, r.Lines[0].Status)
	}
}

func TestLockedBy(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc/locks")
	}
	path := filepath.Join(t.TempDir(), "bot.journal")
	log, err := journal.Open(path)
	require.NoError(t, err)
	pid, known := lockedBy(path)
	require.NoError(t, log.Close())
	if known {
		assert.Equal(t, os.Getpid(), pid)
	}
	_, known = lockedBy(path)
	assert.False(t, known)
}

func lookupAs(found ...string) func(context.Context, string) ([]string, error) {
	return func(context.Context, string) ([]string, error) { return found, nil }
}

// dialUnless connects for real to loopback, refuses one address, and takes any other for good.
func dialUnless(bad string, real func(context.Context, bool, string, string) (reached, error)) func(context.Context, bool, string, string) (reached, error) {
	return func(ctx context.Context, secure bool, name, address string) (reached, error) {
		host, _, err := net.SplitHostPort(address)
		switch {
		case err != nil || host == bad:
			return reached{}, errors.New("no route to host")
		case host == "127.0.0.1":
			return real(ctx, secure, name, address)
		default:
			return reached{secure: true, issuer: "CA", ends: time.Now().AddDate(1, 0, 0)}, nil
		}
	}
}

func TestFromProcess(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"environ": "TRADING_LIVE_KEY=pk_live_stolen\x00HOME=/bot\x00",
		"status":  "Name:\tbot\nUid:\t1001\t1001\t1001\t1001\n",
		"limits":  "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \n",
		"cgroup":  "0::/system.slice/bot.service\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	p, environ, err := fromProcess(folder, 7)
	require.NoError(t, err)
	assert.Equal(t, &Process{PID: 7, UID: 1001, OpenFiles: 1024, Unit: "bot.service"}, p)
	assert.Equal(t, []string{"TRADING_LIVE_KEY=pk_live_stolen", "HOME=/bot"}, environ)
	_, _, err = fromProcess(filepath.Join(folder, "none"), 8)
	require.ErrorContains(t, err, "process 8")
}

// How long systemd waits is in its own words; one that says nothing of it is not known.
func TestUnitGrace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no systemd")
	}
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	for says, want := range map[string]time.Duration{"1min 30s": 90 * time.Second, "5s": 5 * time.Second, "2h 1min 500ms": 2*time.Hour + time.Minute + 500*time.Millisecond, "infinity": 0, "": 0} {
		script := "#!/bin/sh\n[ \"$*\" = 'show --property=TimeoutStopUSec --value -- bot.service' ] && echo '" + says + "'\n"
		require.NoError(t, os.WriteFile(filepath.Join(folder, "systemctl"), []byte(script), 0o700))
		grace, from := unitGrace(&Process{Unit: "bot.service"})
		assert.Equal(t, want, grace, says)
		assert.Equal(t, want > 0, from == "TimeoutStopSec of bot.service", says)
		grace, _ = unitGrace(&Process{})
		assert.Zero(t, grace, "in no unit")
	}
}

func TestSettingsDoNotPrint(t *testing.T) {
	s := Setting{"pk_live_stolen", "TRADING_LIVE_KEY"}
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", s, s, s, Options{LiveKey: s}.LiveKey), "stolen")
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/doctor"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestDoctor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		time.Sleep(137 * time.Millisecond)
		out := r.done("doctor", "--smallest-order", "50")
		assert.Contains(t, out, "configuration\n")
		assert.Contains(t, out, fmt.Sprintf("ok, by %d requests\n", len(r.sim.Requests())))
		assert.Contains(t, out, "\n0 FAIL, ")
		assert.Contains(t, out, "TRADING_BASE_URL")
		assert.Contains(t, out, "both keys are of user")
		assert.LessOrEqual(t, len(r.sim.Requests()), 14)

		r.sim.SetHealth("degraded", "stale")
		time.Sleep(6 * time.Second)
		out = r.ends(cli.Unsound, "a check failed", "doctor", "-o", "json")
		var view reportView
		require.NoError(t, json.Unmarshal([]byte(out), &view))
		assert.True(t, view.Failed)
		assert.Contains(t, view.Lines, doctor.Line{
			Subject: "service", Check: "health", Status: doctor.Fail,
			Saw: "the service is degraded with a feed that is stale", Do: "Wait: entries are refused, exits pass.",
		})
	})
}

// What is wrong is a line and not the end.
func TestDoctorWithoutAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.env = nil
		out := r.ends(cli.Unsound, "", "doctor")
		for _, line := range []string{"FAIL", "base-url", "there is no API key at all", "skipped"} {
			assert.Contains(t, out, line)
		}
		assert.Empty(t, r.sim.Requests())
	})
}

func TestDoctorWatches(t *testing.T) {
	for says, refuse := range map[string]func(*tradingsim.Sim){
		"revoked_api_key":   func(sim *tradingsim.Sim) { sim.RevokeKey(sim.LiveKey()) },
		"api_access_denied": func(sim *tradingsim.Sim) { sim.SetAccess(false) }, // 403
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			time.AfterFunc(90*time.Second, func() { r.sim.Trade("acc_1", "long", "0.1", "BTC") })
			time.AfterFunc(5*time.Minute, func() { refuse(r.sim) })
			out := r.ends(cli.Unsound, "not asked again", "doctor", "--watch")
			assert.Contains(t, out, "long 0.1 BTC")
			assert.Contains(t, out, says)
			sent := len(r.sim.Requests())
			time.Sleep(time.Hour)
			assert.Len(t, r.sim.Requests(), sent, "it has ended for good")
		})
	}
}

func TestDoctorWatchIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Minute, cancel)
		r.ctx = ctx
		r.ends(cli.Interrupted, "", "doctor", "--watch")
	})
}

// The command sees its own shell, --pid another process.
func TestDoctorOfAProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("needs /proc")
	}
	r := newRig(t)
	r.env = nil
	_, out, _ := r.run("doctor", "--pid", strconv.Itoa(os.Getpid()))
	assert.Contains(t, out, "process "+strconv.Itoa(os.Getpid())+" ")
	r.ends(cli.Usage, "999999999", "doctor", "--pid", "999999999")
}

func TestDoctorKeyFile(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(r.sim.LiveKey()+"\n"), 0o600))
	require.NoError(t, os.Chmod(file, 0o640))
	out := r.ends(cli.Unsound, "", "doctor", "--key-file", file)
	assert.Contains(t, out, "can be read by others: its mode is 0640")
	assert.Empty(t, r.sim.Requests(), "its keys are not sent")
}

// The doctor looks at the database and the Redis that several machines share.
func TestFound25_TheDoctorLooksElsewhere(t *testing.T) {
	r := newRig(t)
	out := r.ends(cli.Unsound, "a check failed", "doctor", "--fleet", "postgres://bot@127.0.0.1:1/x?sslmode=disable", "--lease", "bot",
		"--redis", "redis://127.0.0.1:1", "--redis-owner", "desk")
	for _, line := range []string{"fleet-database", "redis-answer", "each process keeps to its part of the limit"} {
		assert.Contains(t, out, line)
	}
}

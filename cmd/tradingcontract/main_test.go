package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/internal/commandline"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestTheSimulatorServesTheContract(t *testing.T) {
	sim := tradingsim.New()
	var out strings.Builder
	breaking, err := run(context.Background(), &out, []string{sim.URL()}, trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	assert.False(t, breaking)
	assert.Equal(t, "0 changes, 0 of them breaking\n", out.String())
}

// serving answers every request with a text, and fails one that has a key.
type serving struct {
	t    *testing.T
	text string
}

func (s serving) RoundTrip(r *http.Request) (*http.Response, error) {
	assert.Equal(s.t, "/v1/openapi.json", r.URL.Path)
	assert.Empty(s.t, r.Header.Get("X-API-Key"))
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(s.text)), ContentLength: int64(len(s.text)), Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func TestChanges(t *testing.T) {
	own := contract.Description()
	harmless := bytes.ReplaceAll(own, []byte(`"version": "v1"`), []byte(`"version": "v1.1"`))
	require.NotEqual(t, string(own), string(harmless))
	removed := bytes.Replace(harmless, []byte(`"/orders/twap"`), []byte(`"/orders/thwap"`), 1)
	for _, test := range []struct {
		name     string
		served   []byte
		breaking bool
		want     string
	}{
		{"harmless", harmless, false, "version of the description: v1.1, was v1\n1 changes, 0 of them breaking\n"},
		{"breaking", removed, true, "breaking: POST /orders/twap: operation removed\nPOST /orders/thwap: operation added\n" +
			"version of the description: v1.1, was v1\n3 changes, 1 of them breaking\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			breaking, err := run(context.Background(), &out, []string{"https://api.trading.example/v1"},
				trading.WithTransport(serving{t, string(test.served)}))
			require.NoError(t, err)
			assert.Equal(t, test.breaking, breaking)
			assert.Equal(t, test.want, out.String())

			file := filepath.Join(t.TempDir(), "served.json")
			require.NoError(t, os.WriteFile(file, test.served, 0o600))
			out.Reset()
			breaking, err = run(context.Background(), &out, []string{"-file", file})
			require.NoError(t, err)
			assert.Equal(t, test.breaking, breaking)
			assert.Equal(t, test.want, out.String())
		})
	}
}

func TestWhatCannotBeTold(t *testing.T) {
	run := func(text string, args ...string) error {
		_, err := run(context.Background(), io.Discard, args, trading.WithTransport(serving{t, text}))
		return err
	}
	require.ErrorContains(t, run(`{"ok": true}`, "https://api.trading.example/v1"), "openapi must be a string")
	require.ErrorIs(t, run(`{"openapi": "2.0", "paths": {}}`, "https://api.trading.example/v1"), contract.ErrDescription)
	require.Error(t, run("<html>", "https://api.trading.example/v1"))
	require.ErrorContains(t, run("", "https://api.trading.example"), "/v1")
	require.ErrorIs(t, run("", "-file", filepath.Join(t.TempDir(), "none")), os.ErrNotExist)
	for _, args := range [][]string{{}, {"a", "b"}, {"-file", "a", "b"}, {"-unknown"}} {
		err := run("", args...)
		assert.Equal(t, commandline.Usage, commandline.Status("tradingcontract", err, io.Discard), "%q: %v", args, err)
	}
	require.ErrorIs(t, run("", "-h"), flag.ErrHelp)
}

package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// serving runs Serve until the test ends.
func serving(t *testing.T, sim *tradingsim.Sim, o Options) (Endpoint, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan Endpoint, 1), make(chan error, 1)
	o.Ready = func(at Endpoint) { ready <- at }
	go func() { done <- Serve(ctx, sim, o) }()
	select {
	case at := <-ready:
		return at, func() error { cancel(); return <-done }
	case err := <-done:
		cancel()
		t.Fatal(err)
		return Endpoint{}, nil
	}
}

func TestServe(t *testing.T) {
	shown := make(chan struct{})
	at, end := serving(t, tradingsim.New(), Options{Bot: func(ctx context.Context, show func(Write)) error {
		show(Write{ID: "1", Text: "buy"})
		close(shown)
		<-ctx.Done()
		return ctx.Err()
	}})
	<-shown
	require.Len(t, at.Token, 26)
	require.True(t, strings.HasSuffix(at.URL, root))
	require.Equal(t, strings.TrimSuffix(at.URL, root)+"/#"+at.Token, at.Page)

	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(path string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "GET", at.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+at.Token)
		res, err := client.Do(req)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
		return res
	}
	res := ask("/history")
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Contains(t, string(body), `"text":"buy"`)

	events := ask("/events")
	first := make([]byte, len("retry: 1000\n"))
	_, err = io.ReadFull(events.Body, first)
	require.NoError(t, err)
	require.NoError(t, end(), "an open stream does not keep it")
	_, err = io.Copy(io.Discard, events.Body)
	_ = err // it was cut, or ended
	require.NoError(t, events.Body.Close())
}

// A bot that fails ends the whole, with its error; one that is done does not.
func TestServeWithABotThatEnds(t *testing.T) {
	broken := errors.New("the bot is broken")
	err := Serve(t.Context(), tradingsim.New(), Options{Bot: func(context.Context, func(Write)) error { return broken }})
	require.ErrorIs(t, err, broken)

	_, end := serving(t, tradingsim.New(), Options{Bot: func(context.Context, func(Write)) error { return nil }})
	require.NoError(t, end())
}

func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Addr: "0.0.0.0:0"}, "not a loopback address"},
		{Options{Addr: ":0"}, "not a loopback address"},
		{Options{Addr: "example.com:0"}, "not a loopback address"},
		{Options{Addr: "127.0.0.1"}, "missing port"},
		{Options{Token: "short"}, "at least 16 characters, and has 5"},
		{Options{Addr: "127.0.0.1:99999"}, "invalid port"},
	} {
		require.ErrorContains(t, Serve(t.Context(), tradingsim.New(), c.o), c.want)
	}
}

// In a container it is reached by other names than its own.
func TestHosts(t *testing.T) {
	for address, want := range map[string][]string{
		"127.0.0.1:8081": {"127.0.0.1:8081", "localhost:8081", "[::1]:8081", "sim:9000"},
		"0.0.0.0:8081":   {"127.0.0.1:8081", "localhost:8081", "[::1]:8081", "sim:9000"},
		"[::]:8081":      {"127.0.0.1:8081", "localhost:8081", "[::1]:8081", "sim:9000"},
		"10.0.0.5:8081":  {"10.0.0.5:8081", "127.0.0.1:8081", "localhost:8081", "[::1]:8081", "sim:9000"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		require.NoError(t, err)
		require.Equal(t, want, hostsOf(addr, []string{"Sim:9000"}), address)
	}
}

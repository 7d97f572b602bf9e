package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Who asks is judged before what is asked.
func TestWhoMayAsk(t *testing.T) {
	r := newRig(t)
	session := r.cookie + "=" + r.session
	for _, c := range []struct {
		name         string
		method, path string
		headers      []string
		status       int
	}{
		{"a program", "PUT", "/health", nil, 204},
		{"by the other name of this machine", "PUT", "/health", []string{"Host", "localhost:8081"}, 204},
		{"in capitals", "PUT", "/health", []string{"Host", "LOCALHOST:8081"}, 204},
		{"another host", "PUT", "/health", []string{"Host", "evil.example"}, 421},
		{"another port", "PUT", "/health", []string{"Host", "127.0.0.1:8082"}, 421},
		{"no port", "PUT", "/health", []string{"Host", "127.0.0.1"}, 421},
		{"a longer name", "PUT", "/health", []string{"Host", "127.0.0.1:8081.evil.example"}, 421},
		{"another host, a read", "GET", "/state", []string{"Host", "evil.example"}, 421},
		{"another host, what needs no token", "GET", "/openapi.json", []string{"Host", "evil.example"}, 421},

		{"a page of another origin", "PUT", "/health", []string{"Origin", "http://evil.example"}, 403},
		{"a page of another port", "PUT", "/health", []string{"Origin", "http://127.0.0.1:3000"}, 403},
		{"a page of nowhere", "PUT", "/health", []string{"Origin", "null"}, 403},
		{"cross-site", "PUT", "/health", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same-site is not same-origin", "DELETE", "/faults", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"the page itself", "PUT", "/health", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + testHost}, 204},
		{"cross-site, to sign in", "POST", "/session", []string{"Sec-Fetch-Site", "cross-site"}, 403},

		{"no token", "PUT", "/health", []string{"Authorization", ""}, 401},
		{"a wrong token", "PUT", "/health", []string{"Authorization", "Bearer a token of others"}, 401},
		{"an empty token", "PUT", "/health", []string{"Authorization", "Bearer "}, 401},
		{"another scheme", "PUT", "/health", []string{"Authorization", "Basic " + testToken}, 401},
		{"no token, a read", "GET", "/state", []string{"Authorization", ""}, 401},
		{"no token, the events", "GET", "/events", []string{"Authorization", ""}, 401},
		{"no token, the description", "GET", "/openapi.json", []string{"Authorization", ""}, 200},
		{"the session", "PUT", "/health", []string{"Authorization", "", "Cookie", session}, 204},
		{"another session", "PUT", "/health", []string{"Authorization", "", "Cookie", r.cookie + "=x"}, 401},
		{"the session of another port", "PUT", "/health", []string{"Authorization", "", "Cookie", "tradingsim_8082=" + r.session}, 401},
		{"the session beside a wrong token", "PUT", "/health", []string{"Authorization", "Bearer x", "Cookie", session}, 401},
		{"the token as a session", "PUT", "/health", []string{"Authorization", "", "Cookie", r.cookie + "=" + testToken}, 401},

		{"a form", "PUT", "/health", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"text", "PUT", "/health", []string{"Content-Type", "text/plain"}, 415},
		{"no type", "PUT", "/health", []string{"Content-Type", ""}, 415},
		{"a charset that JSON does not have", "PUT", "/health", []string{"Content-Type", "application/json; charset=latin1"}, 415},
		{"UTF-8", "PUT", "/health", []string{"Content-Type", "application/json; charset=utf-8"}, 204},
		{"a preflight", "OPTIONS", "/health", []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "PUT"}, 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := ""
			if c.method == "PUT" || c.method == "POST" {
				body = `{"status":"healthy","feed":"live"}`
			}
			w := r.send(c.method, c.path, body, c.headers...)
			assert.Equal(t, c.status, w.Code, w.Body.String())
			for name := range w.Header() {
				assert.False(t, strings.HasPrefix(name, "Access-Control-"), name)
			}
			assert.NotContains(t, w.Body.String(), testToken)
		})
	}
}

// The page signs in with the token, and gets a cookie that no script reads and that no
// other site sends.
func TestSignIn(t *testing.T) {
	r := newRig(t)
	w := r.send("POST", "/session", `{"token":"a token of others"}`, "Authorization", "")
	require.Equal(t, 401, w.Code)
	require.Empty(t, w.Result().Cookies())

	w = r.send("POST", "/session", `{"token":"`+testToken+`"}`, "Authorization", "")
	require.Equal(t, 204, w.Code)
	cookie := w.Result().Cookies()[0]
	require.Equal(t, "tradingsim_8081", cookie.Name)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.NotContains(t, cookie.Value, testToken)
	require.Equal(t, 200, r.send("GET", "/state", "", "Authorization", "", "Cookie", cookie.String()).Code)
}

// Every file of the page carries the policy, which allows nothing but the page's own
// files.
func TestThePage(t *testing.T) {
	r := newRig(t)
	for _, a := range assets {
		req := httptest.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(a.path, "{$}"), nil)
		req.Host = testHost
		w := httptest.NewRecorder()
		r.http.ServeHTTP(w, req)
		assert.Equal(t, 200, w.Code, a.path)
		assert.Equal(t, a.kind, w.Header().Get("Content-Type"))
		assert.NotEmpty(t, w.Body.String())
		policy := w.Header().Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'")
		assert.Contains(t, policy, "frame-ancestors 'none'")
		assert.NotContains(t, policy, "unsafe")
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		assert.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
		assert.NotContains(t, w.Body.String(), testToken)
	}
}

// The page's own script never makes markup of a text.
func TestThePageSetsTextAlone(t *testing.T) {
	script, err := page.ReadFile("page/page.js")
	require.NoError(t, err)
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
		require.NotContains(t, string(script), word)
	}
}

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

// TestFound21_SeveralOrigins: of several headers none is left unread.
func TestFound21_SeveralOrigins(t *testing.T) {
	r := newRig(t)
	for header, values := range map[string][]string{
		"Origin": {"http://" + testHost, "https://evil.example"}, "Sec-Fetch-Site": {"same-origin", "cross-site"},
	} {
		req := httptest.NewRequest(http.MethodDelete, root+"/faults", http.NoBody)
		req.Host = testHost
		req.Header["Authorization"], req.Header[header] = []string{"Bearer " + testToken}, values
		w := httptest.NewRecorder()
		r.http.ServeHTTP(w, req)
		assert.Equal(t, http.StatusBadRequest, w.Code, header)
	}
}

package control

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

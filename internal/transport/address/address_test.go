package address

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/loopback"
)

func TestBaseURL(t *testing.T) {
	for _, row := range []struct{ url, problem string }{
		{"https://api.example.test/v1", ""},
		{"https://api.example.test/v1/", ""},
		{"https://api.example.test/tenant/v1", ""},
		{"http://127.0.0.1:8080/v1", ""},
		{"http://localhost:8080/v1", ""},
		{"http://[::1]:8080/v1", ""},
		{"", "empty"},
		{"api.example.test/v1", "has no scheme: write https://api.example.test/v1"},
		{"localhost:8080/v1", "has no scheme: write https://localhost:8080/v1"},
		{"/v1", "has no scheme"},
		{"https:///v1", "has no host"},
		{"https://:443/v1", "has no host"},
		{"ftp://api.example.test/v1", "must begin with https"},
		{"http://api.example.test/v1", "in the clear"},
		{"http://127.0.0.1.example.test/v1", "in the clear"},
		{"https://api.example.test", "must end in /v1"},
		{"https://api.example.test/v2", "must end in /v1"},
		{"https://api.example.test/v1/sandbox", "must end in /v1"},
		{"https://api.example.test/api/v1", "use https://api.example.test/v1"},
		{"https://api.example.test/v1?key=1", "query"},
		{"https://api.example.test/v1#top", "query"},
		{"https://user:hunter2@api.example.test/v1", "user or password"},
		{"https://user:hunter2@[api/v1", "cannot be parsed"},
		{"https://api.example.test/a%2Fv1", "escaped path"},
		// D 50: these reach another path than they show, the legacy one among them.
		{"https://api.example.test//v1", "use https://api.example.test/v1"},
		{"https://api.example.test/x/../v1", "use https://api.example.test/v1"},
		{"https://api.example.test/./v1", "use https://api.example.test/v1"},
		{"https://api.example.test/tenant//v1", "use https://api.example.test/tenant/v1"},
		{"https://api.example.test/api//v1", "use https://api.example.test/v1"},
		{"https://api.example.test/api/./v1", "use https://api.example.test/v1"},
		{"https://api.example.test/api/x/../v1", "use https://api.example.test/v1"},
		{"https://api.example.test/tenant/api/v1/", "use https://api.example.test/tenant/v1"},
		{"https://api.example.test/API/v1", "use https://api.example.test/v1"},
		{"https://api.example.test/v1/..", "must end in /v1"},
		{"https://api.example.test/v1//", ""},
		{"https://api.example.test:70000/v1", "port"},
		{"https://api.example.test:0/v1", "port"},
	} {
		t.Run(row.url, func(t *testing.T) {
			base, err := Parse(row.url, false)
			if row.problem == "" {
				require.NoError(t, err)
				assert.NotEqual(t, '/', base.Path[len(base.Path)-1])
				return
			}
			require.ErrorContains(t, err, row.problem)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// A journal is of one service, however its address is spelled.
func TestIsPlain(t *testing.T) {
	for text, plain := range map[string]bool{
		"http://sim.internal:80/v1": true, "https://sim.internal/v1": false, "http://[::1]:8080/v1": false,
	} {
		base, err := Parse(text, true)
		require.NoError(t, err, text)
		assert.Equal(t, plain, IsPlain(base), text)
	}
}

// Found 19: what counts as this machine goes to this machine, and a key in plain text through no
// proxy.
func TestFound19_ThisMachineByAnyOfItsNames(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example.test:3128")
	for _, text := range []string{
		"http://LOCALHOST:8080/v1", "http://localhost./v1", "http://LocalHost.:8080/v1", "http://127.0.0.1/v1", "http://[::1]:8080/v1", "http://[::ffff:127.0.0.1]/v1",
	} {
		base, err := Parse(text, false)
		require.NoError(t, err, text)
		through, err := http.ProxyFromEnvironment(&http.Request{URL: base})
		require.NoError(t, err, text)
		assert.Nil(t, through, text)
	}
	through, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "http", Host: "api.example.test"}})
	require.NoError(t, err)
	require.NotNil(t, through, "the proxy is there, for who is elsewhere")
	for _, text := range []string{"http://localhost.example.test/v1", "http://localhost.localdomain/v1", "http://127.0.0.1.nip.io/v1", "http://[::ffff:10.0.0.1]/v1", "http://2130706433.example/v1"} {
		_, err := Parse(text, false)
		require.ErrorContains(t, err, "in the clear", text)
	}
}

func TestWithQuery(t *testing.T) {
	endpoint := &url.URL{Scheme: "https", Host: "api.test", Path: "/v1/positions"}
	at, err := WithQuery(endpoint, "accountId", "a&b=c d")
	require.NoError(t, err)
	assert.Equal(t, "a&b=c d", at.Query().Get("accountId"))
	assert.Len(t, at.Query(), 1)
	assert.Empty(t, endpoint.RawQuery, "it is shared")
}

// FuzzAddress takes any base URL and any account: a key goes out encrypted, or to
// this machine; no account turns one endpoint into another.
func FuzzAddress(f *testing.F) {
	f.Fuzz(func(t *testing.T, base, account string) {
		u, err := Parse(base, false)
		if err != nil {
			if given, e := url.Parse(base); e == nil && given.User != nil {
				if password, _ := given.User.Password(); len(password) > 12 {
					require.NotContains(t, err.Error(), password)
				}
			}
			return
		}
		require.True(t, u.User == nil && u.RawQuery == "" && u.Fragment == "" && u.Host != "" && strings.HasSuffix(u.Path, "/v1"), "%q is accepted as %v", base, u)
		require.True(t, u.Scheme == "https" || u.Scheme == "http" && loopback.Is(u.Hostname()), "%q would send the key in the clear", base)
		again, err := Parse(u.String(), false)
		require.NoError(t, err, "%q became %q", base, u)
		require.Equal(t, u.String(), again.String(), "%q", base)
		if account == "" || account == "." || account == ".." {
			return // refused before
		}
		at, err := BelowAccount(u.JoinPath("accounts"), account, "/orders")
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(at.EscapedPath(), u.EscapedPath()+"/accounts/")
		segment, tail, _ := strings.Cut(rest, "/")
		got, err := url.PathUnescape(segment)
		require.NoError(t, err)
		require.True(t, ok && tail == "orders" && got == account && at.Host == u.Host && at.RawQuery == "", "account %q is at %q", account, at)
		sent, err := url.Parse(at.String())
		require.NoError(t, err)
		require.True(t, sent.EscapedPath() == at.EscapedPath() && sent.Path == at.Path, "account %q is sent to %v", account, sent)
	})
}

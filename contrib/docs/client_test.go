package docs

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// official is a documentation server made with the official library.
func official(options *mcp.StreamableHTTPOptions) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	type query struct {
		Query string `json:"query"`
	}
	type found struct {
		Results []map[string]string `json:"results"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "search_docs"}, func(_ context.Context, _ *mcp.CallToolRequest, in query) (*mcp.CallToolResult, found, error) {
		if in.Query == "nothing" {
			return nil, found{Results: []map[string]string{}}, nil
		}
		return nil, found{Results: []map[string]string{{"title": "About " + in.Query, "path": "guides/" + in.Query, "text": "An excerpt."}}}, nil
	})
	type page struct {
		Path string `json:"path"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "get_page"}, func(_ context.Context, _ *mcp.CallToolRequest, in page) (*mcp.CallToolResult, any, error) {
		if in.Path != "guides/keys" {
			return nil, nil, errors.New("no such page: " + in.Path)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "# Keys\n\nSend one."}}}, nil, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
}

func TestAgainstTheOfficialServer(t *testing.T) {
	for name, options := range map[string]mcp.StreamableHTTPOptions{
		"sessions, events":    {},
		"sessions, JSON":      {JSONResponse: true},
		"no sessions, events": {Stateless: true},
		"no sessions, JSON":   {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := open(t, official(&options), Config{})
				ctx := t.Context()
				hits, err := rig.Search(ctx, "keys")
				require.NoError(t, err)
				require.Equal(t, []Hit{{Title: "About keys", Page: "guides/keys", Text: "An excerpt."}}, hits)
				before := len(rig.sent())
				page, err := rig.Page(ctx, hits[0].Page)
				require.NoError(t, err)
				require.Equal(t, Page{Text: "# Keys\n\nSend one."}, page)
				require.Equal(t, []string{"tools/call"}, rig.sent()[before:], "the session is kept")

				hits, err = rig.Search(ctx, "nothing")
				require.NoError(t, err)
				require.Empty(t, hits)
				_, err = rig.Page(ctx, "guides/none")
				refused := new(ToolError)
				require.ErrorAs(t, err, &refused)
				require.Equal(t, ToolError{Tool: "get_page", Message: "no such page: guides/none"}, *refused)
				_, err = rig.Page(ctx, "guides/keys")
				require.NoError(t, err, "a refusal does not end the session")
				require.Equal(t, 1, count(rig.sent(), "tools/list"))
			})
		})
	}
}

func count(list []string, what string) (n int) {
	for _, one := range list {
		if one == what {
			n++
		}
	}
	return n
}

// A session ends with a request when the client is closed, and not otherwise.
func TestCloseEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, official(&mcp.StreamableHTTPOptions{}), Config{})
		_, err := rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		require.NotContains(t, rig.sent(), "DELETE")
		require.NoError(t, rig.Close())
		require.Equal(t, 1, count(rig.sent(), "DELETE"))
		_, err = rig.Search(t.Context(), "keys")
		require.ErrorIs(t, err, ErrClosed)
	})
}

// A session that failed is left without a word: the request would fail, too.
func TestFailedSessionIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := call(says(200, "text/html", "<html>"))
		server["initialize"] = func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Mcp-Session-Id", "one")
			script{}.initialized(w, id)
		}
		rig := open(t, server, Config{})
		_, err := rig.Search(t.Context(), "keys")
		require.ErrorAs(t, err, new(*AnswerError))
		require.NoError(t, rig.Close())
		require.NotContains(t, rig.sent(), "DELETE")
	})
}

// A server that does not answer the end of a session holds Close for a second.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := script{
			"initialize": func(w http.ResponseWriter, r *http.Request, id string) {
				w.Header().Set("Mcp-Session-Id", "one")
				script{}.initialized(w, id)
			},
			"DELETE": func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
		}
		rig := open(t, server, Config{})
		_, err := rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, rig.Close())
		require.Equal(t, farewellTimeout, time.Since(began))
	})
}

func (script) initialized(w http.ResponseWriter, id string) {
	asJSON(w, result(id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"docs","version":"1"}}`))
}

// Close ends a call that runs.
func TestCloseEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, call(func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }), Config{})
		done := make(chan error)
		go func() { _, err := rig.Search(context.Background(), "keys"); done <- err }()
		synctest.Wait()
		go func() { _ = rig.Close() }()
		require.ErrorIs(t, <-done, ErrClosed)
	})
}

// A session that the server has forgotten is opened anew, once.
func TestForgottenSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions, calls := 0, 0
		server := script{
			"initialize": func(w http.ResponseWriter, _ *http.Request, id string) {
				sessions++
				w.Header().Set("Mcp-Session-Id", strings.Repeat("s", sessions))
				script{}.initialized(w, id)
			},
			"tools/call": func(w http.ResponseWriter, r *http.Request, id string) {
				calls++
				if calls > 1 && r.Header.Get("Mcp-Session-Id") == "s" || calls > 3 {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				asJSON(w, result(id, `{"content":[{"type":"text","text":"found"}]}`))
			},
		}
		rig := open(t, server, Config{})
		for range 2 {
			_, err := rig.Search(t.Context(), "keys")
			require.NoError(t, err)
		}
		require.Equal(t, 2, sessions)
		_, err := rig.Search(t.Context(), "keys")
		status := new(StatusError)
		require.ErrorAs(t, err, &status, "the new session is forgotten, too")
		require.Equal(t, 404, status.Status)
		require.Equal(t, 3, sessions)
		_, err = rig.Search(t.Context(), "keys")
		require.ErrorAs(t, err, &status)
		require.Equal(t, 4, sessions, "a session that was new is not tried again")
	})
}

// Many callers share one session, and run one after the other.
func TestConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, official(&mcp.StreamableHTTPOptions{}), Config{})
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				hits, err := rig.Search(t.Context(), "keys")
				assert.NoError(t, err)
				assert.Len(t, hits, 1)
			})
		}
		group.Wait()
		require.Equal(t, 1, count(rig.sent(), "tools/list"))
	})
}

// A caller that waits for its turn gives up with its context.
func TestWaitingForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, call(func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }), Config{})
		go func() { _, _ = rig.Search(context.Background(), "keys") }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := rig.Page(ctx, "keys")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// No header that a server or a proxy of the caller's could take for a key is sent.
func TestNoCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, script{
			"initialize": func(w http.ResponseWriter, _ *http.Request, id string) {
				w.Header().Set("Set-Cookie", "id=1")
				script{}.initialized(w, id)
			},
		}, Config{})
		_, err := rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		require.Len(t, rig.requests, 5)
		for _, r := range rig.requests {
			require.Equal(t, "/reference/mcp", r.URL.Path)
			for name := range r.Header {
				switch name {
				case "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent":
				default:
					require.True(t, strings.HasPrefix(name, "Mcp-"), name)
				}
			}
		}
	})
}

// Whoever put a key into a request, it does not leave.
func TestForeignHeadersAreNotSent(t *testing.T) {
	var sent http.Header
	base := roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r.Header
		return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
	})
	guard := &transport{base: base, limit: &limit{clock: systemClock{}}}
	r, err := http.NewRequestWithContext(context.WithValue(t.Context(), exchangeKey{}, &exchange{}), http.MethodPost, "https://x.test/mcp", http.NoBody)
	require.NoError(t, err)
	for _, name := range []string{"X-API-Key", "Authorization", "Cookie", "Proxy-Authorization", "Mcp-Session-Id", "Accept"} {
		r.Header.Set(name, "secret")
	}
	res, err := guard.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.Header{"Accept": {"secret"}, "Mcp-Session-Id": {"secret"}, "User-Agent": {"trading-go-docs"}}, sent)
	_, err = guard.RoundTrip(r.WithContext(t.Context()))
	require.ErrorIs(t, err, errOver, "what belongs to no call is not sent")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestConfig(t *testing.T) {
	for url, problem := range map[string]string{
		"":                           "is empty; it is the address of the published reference",
		"https://[":                  "cannot be parsed",
		"https://user:secret@x.test": "must not hold a user or password",
		"docs.example.com":           "must begin with https://",
		"ftp://docs.example.com":     "must begin with https://",
		"https://":                   "has no host",
		"https://x.test/?key=secret": "must not have a query or fragment",
		"https://x.test/#secret":     "must not have a query or fragment",
		"http://x.test":              `https is required, except for this machine itself: the host is "x.test"`,
	} {
		_, err := New(Config{URL: url})
		refused := new(ConfigError)
		require.ErrorAs(t, err, &refused, url)
		require.Equal(t, ConfigError{Field: "URL", Problem: problem}, *refused, url)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := New(Config{URL: "https://x.test", Timeout: -1})
	require.EqualError(t, err, "docs: Config.Timeout: must not be negative: -1ns")
	for url, want := range map[string]string{
		"https://x.test":        "https://x.test/mcp",
		"https://x.test/":       "https://x.test/mcp",
		"https://x.test/v1/a/":  "https://x.test/v1/a/mcp",
		"http://127.0.0.1:80":   "http://127.0.0.1:80/mcp",
		"http://[::1]/a":        "http://[::1]/a/mcp",
		"http://localhost:8080": "http://localhost:8080/mcp",
	} {
		client, err := New(Config{URL: url})
		require.NoError(t, err)
		require.Equal(t, want, client.endpoint)
		require.NoError(t, client.Close())
	}
}

func TestArguments(t *testing.T) {
	client, err := New(Config{URL: "https://x.test", Transport: nothing{t}})
	require.NoError(t, err)
	defer client.Close()
	for value, problem := range map[string]string{
		" \n":                                  "is empty",
		strings.Repeat("a", 1001):              "is longer than 1000 bytes: 1001",
		"a\xff":                                "is not valid UTF-8",
		"why is pk_live_0123456789ab refused?": "holds an API key, which the documentation server must not see",
	} {
		_, err := client.Search(t.Context(), value)
		require.EqualError(t, err, "docs: query: "+problem)
		_, err = client.Page(t.Context(), value)
		require.EqualError(t, err, "docs: page: "+problem)
		require.ErrorAs(t, err, new(*ArgumentError))
	}
}

// nothing is a network that must not be used.
type nothing struct{ t *testing.T }

func (n nothing) RoundTrip(*http.Request) (*http.Response, error) {
	n.t.Error("something was sent")
	return nil, errors.New("nothing is sent")
}

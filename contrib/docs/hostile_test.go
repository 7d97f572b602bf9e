package docs

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type answer = func(w http.ResponseWriter, r *http.Request, id string)

func asEvents(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
}

// endless writes until the client has gone.
func endless(w io.Writer, text string) {
	text = strings.Repeat(text, 1+64<<10/len(text))
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// drip writes a piece a second until the client has gone.
func drip(w http.ResponseWriter, r *http.Request, text string) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
	}
}

func says(status int, contentType, body string) answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Whatever a server does, the call ends in time with an error of its kind, and the next
// one, to a server that has come to its senses, is right.
func TestHostile(t *testing.T) {
	tooLarge := func(t *testing.T, err error) { require.ErrorIs(t, err, ErrTooLarge) }
	late := func(t *testing.T, err error) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "docs: search_docs: no answer within 8s: context deadline exceeded")
	}
	status := func(status int) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			got := new(StatusError)
			require.ErrorAs(t, err, &got)
			require.Equal(t, status, got.Status)
		}
	}
	unreadable := func(part string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			got := new(AnswerError)
			require.ErrorAs(t, err, &got)
			require.Contains(t, got.Problem, part)
		}
	}
	refused := func(message string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			got := new(ToolError)
			require.ErrorAs(t, err, &got)
			require.Equal(t, message, got.Message)
		}
	}
	cut := func(t *testing.T, err error) { require.ErrorAs(t, err, new(*callError)) }

	for name, row := range map[string]struct {
		answer answer
		check  func(*testing.T, error)
	}{
		"huge JSON": {func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
			endless(w, "a")
		}, tooLarge},
		"huge JSON, compressed": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			endless(z, "a")
		}, tooLarge},
		"huge event": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			asEvents(w)
			_, _ = io.WriteString(w, "data: ")
			endless(w, "a")
		}, tooLarge},
		"endless events": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			asEvents(w)
			endless(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n")
		}, tooLarge},
		"endless comments":        {func(w http.ResponseWriter, _ *http.Request, _ string) { asEvents(w); endless(w, ": a\n\n") }, tooLarge},
		"endless events, slowly":  {func(w http.ResponseWriter, r *http.Request, _ string) { asEvents(w); drip(w, r, "id: 1\ndata:\n\n") }, late},
		"no event":                {func(w http.ResponseWriter, r *http.Request, _ string) { asEvents(w); drip(w, r, "") }, late},
		"events that end":         {says(200, "text/event-stream", "data:\n\n"), unreadable("without response")},
		"events to be resumed":    {says(200, "text/event-stream", "id: 1\nretry: 1\ndata:\n\n"), unreadable("")},
		"events that are no JSON": {says(200, "text/event-stream", "data: hello\n\n"), unreadable("decode")},
		"slow headers":            {func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, late},
		"slow JSON":               {func(w http.ResponseWriter, r *http.Request, _ string) { asJSON(w, "{"); drip(w, r, " ") }, late},
		"an answer to another":    {says(200, "application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`), late},
		"a cut answer":            {func(http.ResponseWriter, *http.Request, string) { panic(http.ErrAbortHandler) }, cut},
		"many headers": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("X-A", strings.Repeat("a", 1<<20))
		}, cut},
		"a page of HTML":           {says(200, "text/html", "<html>"), unreadable("its type is text/html")},
		"no type":                  {says(200, "", "hello"), unreadable("its type is")},
		"HTML as JSON":             {says(200, "application/json", "<html>"), unreadable("decode")},
		"an empty body":            {says(200, "application/json", ""), unreadable("decode")},
		"null":                     {says(200, "application/json", "null"), unreadable("")},
		"a list":                   {says(200, "application/json", "[]"), unreadable("decode")},
		"deep JSON":                {says(200, "application/json", strings.Repeat("[", 1<<19)), unreadable("")},
		"another version":          {says(200, "application/json", `{"jsonrpc":"1.0","id":1,"result":{}}`), unreadable("version")},
		"nothing":                  {says(202, "", ""), unreadable("")},
		"404":                      {says(404, "text/html", "<html>"), status(404)},
		"403":                      {says(403, "text/plain", "no"), status(403)},
		"500":                      {says(500, "text/html", "<html>"), status(500)},
		"502, endless":             {func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(418); endless(w, "a") }, tooLarge},
		"401 with a refusal":       {says(401, "application/json", `{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"who\u001b[2J?"}}`), refused("who\ufffd[2J?")},
		"a refusal":                {errorWith(-32602, "no such\x00page"), refused("no such\ufffdpage")},
		"the library's own code":   {errorWith(-32004, "closing"), unreadable("")},
		"a refusal by the tool":    {resultOf(`{"isError":true,"content":[{"type":"text","text":" try \u202elater "}]}`), refused("try \ufffdlater")},
		"a refusal without a word": {resultOf(`{"isError":true,"content":[]}`), refused("")},
		"a result that is null":    {resultOf(`null`), unreadable("")},
		"a result that is text":    {resultOf(`"hello"`), unreadable("")},
		"content of no kind":       {resultOf(`{"content":[{"type":"hologram"}]}`), unreadable("hologram")},
		"content that is null":     {resultOf(`{"content":[null]}`), unreadable("")},
		"an image":                 {resultOf(`{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`), unreadable("neither hits nor text")},
		"an object of no hits":     {resultOf(`{"structuredContent":{"count":0},"content":[]}`), unreadable("neither hits nor text")},
		"more input is wanted":     {resultOf(`{"resultType":"input_required","inputRequests":{},"requestState":"1"}`), unreadable("")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := call(row.answer)
				rig := open(t, server, Config{})
				began := time.Now()
				_, err := rig.Search(t.Context(), "keys")
				require.Error(t, err)
				row.check(t, err)
				require.LessOrEqual(t, time.Since(began), defaultTimeout)
				requirePrintable(t, err.Error())
				synctest.Wait()
				require.NotContains(t, rig.sent(), "GET")
				require.Equal(t, 1, count(rig.sent(), "tools/call"), "no second round")

				delete(server, "tools/call")
				hits, err := rig.Search(t.Context(), "keys")
				require.NoError(t, err)
				require.Equal(t, []Hit{{Text: "found"}}, hits)
			})
		})
	}
}

func resultOf(value string) answer {
	return func(w http.ResponseWriter, _ *http.Request, id string) { asJSON(w, result(id, value)) }
}

func errorWith(code int, message string) answer {
	return func(w http.ResponseWriter, _ *http.Request, id string) {
		text, _ := json.Marshal(message)
		asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
	}
}

// The same, where the session is opened.
func TestHostileFromTheStart(t *testing.T) {
	for name, row := range map[string]struct {
		method string
		answer answer
		want   string
	}{
		"slow":                {"initialize", func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "no answer within 8s"},
		"HTML":                {"initialize", says(200, "text/html", "<html>"), "its type is text/html"},
		"404":                 {"initialize", says(404, "text/html", "<html>"), "answered 404 Not Found"},
		"another protocol":    {"initialize", resultOf(`{"protocolVersion":"1999-01-01\u001b","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`), "unsupported protocol version"},
		"huge":                {"initialize", func(w http.ResponseWriter, _ *http.Request, _ string) { asJSON(w, "{"); endless(w, " ") }, "larger than 1 MiB"},
		"huge, of the probe":  {"server/discover", func(w http.ResponseWriter, _ *http.Request, _ string) { asJSON(w, "{"); endless(w, " ") }, "larger than 1 MiB"},
		"slow, of the probe":  {"server/discover", func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "no answer within 8s"},
		"no tools":            {"tools/list", resultOf(`{"tools":[]}`), "no such tool"},
		"tools without end":   {"tools/list", resultOf(`{"tools":[],"nextCursor":"more"}`), "more than 16 requests"},
		"tools without names": {"tools/list", resultOf(`{"tools":[{},{"name":"search_docs","inputSchema":null}]}`), ""},
		"an odd schema": {"tools/list", resultOf(`{"tools":[{"name":"search_docs","inputSchema":{"type":"object","properties":[],"required":{}}}]}`),
			"no such tool with one argument that is text"},
		"a schema of numbers": {"tools/list", resultOf(`{"tools":[{"name":"search_docs","inputSchema":{"type":"object","properties":{"query":{"type":"number"}},"required":["query"]}}]}`),
			"no such tool with one argument that is text"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := open(t, script{row.method: row.answer}, Config{})
				began := time.Now()
				_, err := rig.Search(t.Context(), "keys")
				require.ErrorContains(t, err, row.want)
				require.LessOrEqual(t, time.Since(began), defaultTimeout)
				requirePrintable(t, err.Error())
			})
		})
	}
}

// No redirect is followed, of whatever kind, to wherever.
func TestRedirects(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		for _, location := range []string{"/elsewhere", "https://evil.test/\u202e", "http://localhost/reference/mcp", ""} {
			for _, method := range []string{"initialize", "tools/call"} {
				t.Run(fmt.Sprint(status, location, method), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						rig := open(t, script{method: func(w http.ResponseWriter, _ *http.Request, _ string) {
							if location != "" {
								w.Header().Set("Location", location)
							}
							w.WriteHeader(status)
						}}, Config{})
						_, err := rig.Search(t.Context(), "keys")
						got := new(StatusError)
						require.ErrorAs(t, err, &got)
						require.Equal(t, status, got.Status)
						requirePrintable(t, err.Error())
						require.Equal(t, 1, count(rig.sent(), method), "sent once")
						require.Equal(t, method, rig.sent()[len(rig.sent())-1], "and nothing after it")
					})
				})
			}
		}
	}
}

// A server that calls back while the session is opened gets no more requests than a call
// may cost, and none later: the session outlives the call that opened it.
func TestCallsBack(t *testing.T) {
	const pings = 200
	ping := func(w http.ResponseWriter, r *http.Request, id string) {
		asEvents(w)
		for i := range pings {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"s%d\",\"method\":\"ping\"}\n\n", i)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", result(id, `{"content":[{"type":"text","text":"found"}]}`))
	}
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, call(ping), Config{})
		_, _ = rig.Search(t.Context(), "keys")
		synctest.Wait()
		require.LessOrEqual(t, len(rig.sent()), maxRequests)
	})
	synctest.Test(t, func(t *testing.T) {
		server := script{}
		rig := open(t, server, Config{})
		_, err := rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		before := len(rig.sent())
		server["tools/call"] = ping
		_, err = rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"tools/call"}, rig.sent()[before:])
	})
}

// What a server goes on to send after its answer costs nothing.
func TestGoesOnAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{}, 2)
		rig := open(t, call(func(w http.ResponseWriter, r *http.Request, id string) {
			asEvents(w)
			_, _ = fmt.Fprintf(w, "data: %s\n\n", result(id, `{"content":[{"type":"text","text":"found"}]}`))
			drip(w, r, ": a\n\n")
			ended <- struct{}{}
		}), Config{})
		for range 2 {
			hits, err := rig.Search(t.Context(), "keys")
			require.NoError(t, err)
			require.Len(t, hits, 1)
			<-ended
		}
	})
}

// The caller's own time is over first.
func TestTheCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, call(func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }), Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := rig.Search(ctx, "keys")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err = rig.Search(ctx, "keys")
		require.ErrorIs(t, err, context.Canceled)
	})
}

func requirePrintable(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.True(t, r == printable(r) && r != '\n' && r != '\t', "%q in %q", r, text)
	}
	require.Less(t, len(text), 1000)
}

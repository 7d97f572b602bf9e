package doctor

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/tradingsim"
)

// trickle gives its first byte after a while.
type trickle struct {
	io.ReadCloser
	after time.Duration
}

func (t *trickle) Read(p []byte) (int, error) {
	time.Sleep(t.after)
	t.after = 0
	return t.ReadCloser.Read(p)
}

// What a service writes into ids reaches no terminal as it is, and an account that is listed twice is looked at once.
func TestAnOddListOfAccounts(t *testing.T) {
	r, sent := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) {
			switch {
			case strings.HasSuffix(r.Request.URL.Path, "/accounts"):
				rewrite(r, func(body string) string {
					list, _ := strings.CutPrefix(body, `{"accounts":[`)
					rows, rest, _ := strings.Cut(list, "]")
					first, _, _ := strings.Cut(rows, "}")
					odd := strings.Replace(first, `"id":"`, `"id":"acc_\u001b[31m`, 1)
					return `{"accounts":[` + odd + "}," + rows + "," + rows + "]" + rest
				})
			case strings.HasSuffix(r.Request.URL.Path, "/me"):
				rewrite(r, replaced("user_1", "user_\\u001b[31m"))
			}
		}
	}, nil)
	assert.Contains(t, r.String(), "acc_")
	for _, l := range r.Lines {
		assert.Equal(t, -1, strings.IndexFunc(l.String(), unicode.IsControl), "%q", l.String())
		assert.NotContains(t, l.Saw, errTooMany.Error())
	}
	assert.Contains(t, r.String(), "account acc_1 is listed twice")
	assert.Equal(t, 3, counted(sent, func(q tradingsim.Request) bool { return strings.Contains(q.Path, "acc_1") }), "%s", r)
}

// A service that answers oddly is no reason to send more, to write, or to print a key.
func TestOddServices(t *testing.T) {
	all := func(status int, body string) func(*http.Response) {
		return func(r *http.Response) {
			r.StatusCode = status
			body := strings.ReplaceAll(body, "@key", r.Request.Header.Get("X-Api-Key"))
			r.Body = io.NopCloser(strings.NewReader(body))
		}
	}
	for name, change := range map[string]func(*http.Response){
		"limits the rate by 403":     all(403, `{"error":"rate_limited","message":"slower"}`),
		"answers 200 with an error":  all(200, `{"error":"internal","message":"@key"}`),
		"repeats the key":            all(401, `{"error":"@key","message":"no such key: @key"}`),
		"redirects":                  all(307, ``),
		"answers with nothing":       all(200, ``),
		"answers with a list":        all(200, `[]`),
		"answers with a page":        all(200, `<html>@key</html>`),
		"answers null":               all(200, `null`),
		"has no Date":                func(r *http.Response) { r.Header.Del("Date") },
		"has a Date in another zone": func(r *http.Response) { r.Header.Set("Date", "Mon, 23 Nov 2026 13:00:00 CET") },
		"says null for each level":   func(r *http.Response) { rewriteLevels(r) },
		"sends a redirect to the key": func(r *http.Response) {
			r.StatusCode = 302
			r.Header.Set("Location", "https://example.com/"+r.Request.Header.Get("X-Api-Key"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, sent := diagnose(t, func(s *setup) { s.change = change }, nil) // which looks for keys and for writes
			assert.NotEmpty(t, r.Lines)
			mine := counted(sent, func(q tradingsim.Request) bool { return strings.Contains(q.Path, "acc_1") })
			service := counted(sent, func(q tradingsim.Request) bool { return !strings.Contains(q.Path, "acc_") })
			assert.LessOrEqual(t, service, maxService)
			assert.LessOrEqual(t, mine, maxAccount)
			if strings.HasPrefix(name, "has ") || strings.HasPrefix(name, "says ") {
				assert.False(t, r.Failed(), "what a service does not show is no FAIL:\n%s", r)
			}
		})
	}
}

// levels are floors and levels of an answer.
var levels = regexp.MustCompile(`"(dailyLossFloor|globalLossFloor|stopLossPrice|takeProfitPrice)":[0-9.]+`)

// rewriteLevels has no floor and no level.
func rewriteLevels(r *http.Response) {
	rewrite(r, func(body string) string { return levels.ReplaceAllString(body, `"$1":null`) })
}

package doctor

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
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

// An answer ends with its last byte: headers that come at once say nothing of it.
func TestASlowBodyIsASlowAnswer(t *testing.T) {
	r, _ := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) { r.Body = &trickle{r.Body, 3 * time.Second} }
	}, nil)
	l, _ := r.Line("answer-time")
	assert.Equal(t, Warn, l.Status, "%s", l)
	assert.InEpsilon(t, float64(3*time.Second), float64(r.Measured.AnswerTime), 0.1)
}

// A body that does not come is no answer.
func TestABodyThatDoesNotCome(t *testing.T) {
	r, _ := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) { r.Body = &trickle{r.Body, time.Minute} }
	}, nil)
	l, _ := r.Line("answer-time")
	assert.Equal(t, Fail, l.Status, "%s", r)
}

// A health of a time after its answer has no known age, by a clock in another zone or of another instance.
func TestHealthOfTheFuture(t *testing.T) {
	r, _ := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) { shiftAsOf(r, time.Hour) }
	}, nil)
	l, _ := r.Line("health")
	assert.Equal(t, Warn, l.Status, "%s", l)
	assert.Contains(t, l.Saw, "after its answer")
}

// A whole second is not milliseconds.
func TestAsOfInWholeSeconds(t *testing.T) {
	r, _ := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) { assessment(r, func(asOf int64) int64 { return asOf / 1000 * 1000 }) }
	}, nil)
	l, _ := r.Line("as-of")
	assert.Equal(t, Warn, l.Status, "%s", l)
}

// What a service writes into ids reaches no terminal as it is, and an account that is listed twice is looked at once.
func TestAnOddListOfAccounts(t *testing.T) {
	r, sent := diagnose(t, func(s *setup) {
		s.change = func(r *http.Response) {
			switch {
			case strings.HasSuffix(r.Request.URL.Path, "/accounts"):
				body, _ := io.ReadAll(r.Body)
				list, _ := strings.CutPrefix(string(body), `{"accounts":[`)
				rows, rest, _ := strings.Cut(list, "]")
				first, _, _ := strings.Cut(rows, "}")
				odd := strings.Replace(first, `"id":"`, `"id":"acc_\u001b[31m`, 1)
				text := `{"accounts":[` + odd + "}," + rows + "," + rows + "]" + rest
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
				r.Header.Del("Content-Length")
			case strings.HasSuffix(r.Request.URL.Path, "/me"):
				rewrite(r, "user_1", "user_\\u001b[31m")
			}
		}
	}, nil)
	assert.Contains(t, r.String(), "acc_")
	for _, l := range r.Lines {
		assert.Equal(t, -1, strings.IndexFunc(l.String(), unicode.IsControl), "%q", l.String())
		assert.NotContains(t, l.Saw, errTooMany.Error())
	}
	assert.Contains(t, r.String(), "account acc_1 is listed twice")
	n := 0
	for _, q := range sent {
		if strings.Contains(q.Path, "acc_1") {
			n++
		}
	}
	assert.Equal(t, 3, n, "%s", r)
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
			of := map[string]int{}
			for _, q := range sent {
				account := ""
				if i := strings.Index(q.Path, "acc_"); i >= 0 {
					account = q.Path[i:]
					account, _, _ = strings.Cut(account, "/")
				}
				of[account]++
			}
			assert.LessOrEqual(t, of[""], maxService)
			assert.LessOrEqual(t, of["acc_1"], maxAccount)
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
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	body = levels.ReplaceAll(body, []byte(`"$1":null`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
}

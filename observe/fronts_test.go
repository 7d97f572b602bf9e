package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// front is how a service differs from the simulator, or what stands in front of it.
type front = func(http.RoundTripper) http.RoundTripper

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// with does something with each request, of which the body is read.
func with(do func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error)) front {
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body = io.NopCloser(bytes.NewReader(body))
			return do(rt, r, string(body))
		})
	}
}

// resend sends a request with this body and, unless it is empty, under this key.
func resend(rt http.RoundTripper, r *http.Request, body, key string) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return rt.RoundTrip(r)
}

// keyed is a service that takes a request with one key under another.
func keyed(other func(key string) string) front {
	return with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
		if keys := r.Header["Idempotency-Key"]; len(keys) == 1 && keys[0] != "" {
			return resend(rt, r, body, other(keys[0]))
		}
		return rt.RoundTrip(r)
	})
}

// sometimes answers the n-th of some live writes itself.
func sometimes(when func(n int, body string) bool, status int, says string) front {
	n := 0
	return with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
		if r.Method == http.MethodPost {
			if n++; when(n, body) {
				return answer(r, status, says), nil
			}
		}
		return rt.RoundTrip(r)
	})
}

func every(m int) func(int, string) bool { return func(n int, _ string) bool { return n%m == 0 } }

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

// edited changes each answer.
func edited(change func(r *http.Response, body string) string) front {
	return func(rt http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(strings.NewReader(change(resp, string(body))))
			return resp, err
		})
	}
}

// rewriting changes the bodies of the answers of a path.
func rewriting(path string, change func(string) string) front {
	return edited(func(r *http.Response, body string) string {
		if strings.HasSuffix(r.Request.URL.Path, path) {
			return change(body)
		}
		return body
	})
}

// posted changes the answers to writes.
func posted(change func(r *http.Response, body string) string) front {
	return edited(func(r *http.Response, body string) string {
		if r.Request.Method == http.MethodPost {
			return change(r, body)
		}
		return body
	})
}

// shared is one thing in front of all connections, that takes one request at a time.
func shared(f front) front {
	var one http.RoundTripper
	var mu sync.Mutex
	return func(rt http.RoundTripper) http.RoundTripper {
		if one == nil {
			one = f(rt)
		}
		return tripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			return one.RoundTrip(r)
		})
	}
}

// storing is a service that stores the answers that keep says, and runs the rest again.
func storing(keep func(*http.Response) bool) front {
	kept, fresh := map[string]bool{}, 0
	return with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
		key := r.Header.Get("Idempotency-Key")
		if r.Method != http.MethodPost || key == "" || kept[key] {
			return rt.RoundTrip(r)
		}
		fresh++
		resp, err := resend(rt, r, body, fmt.Sprint(key, "-", fresh))
		if err != nil || !keep(resp) {
			return resp, err
		}
		// Stored: the same under the key itself, once it has run. What ran is not run again.
		kept[key] = true
		_ = resp.Body.Close()
		return rt.RoundTrip(r)
	})
}

// caching answers equal requests as it has the first time, those of which the answer says so.
func caching(which func(*http.Response) bool) front {
	kept := map[string]string{}
	return with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
		resp, err := rt.RoundTrip(r)
		if err != nil || !which(resp) {
			return resp, err
		}
		name := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + body
		if old, ok := kept[name]; ok {
			resp.Header.Del("Idempotent-Replayed")
			resp.Body = io.NopCloser(strings.NewReader(old))
			return resp, nil
		}
		said, err := io.ReadAll(resp.Body)
		kept[name] = string(said)
		resp.Body = io.NopCloser(bytes.NewReader(said))
		return resp, err
	})
}

// unwritten are services that nobody wrote down, each as it begins.
func unwritten() map[string]front {
	since, draw, fresh, first, connections := map[string]time.Time{}, rand.New(rand.NewPCG(3, 4)), 0, map[string]string{}, 0
	return map[string]front{
		"only successes are stored":   storing(func(r *http.Response) bool { return r.StatusCode < 300 }),
		"only refusals are stored":    storing(func(r *http.Response) bool { return r.StatusCode >= 300 }),
		"404 before the claim":        storing(func(r *http.Response) bool { return r.StatusCode != 404 }),
		"a route that stores nothing": storing(func(r *http.Response) bool { return !strings.HasSuffix(r.Request.URL.Path, "/orders/cancel") }),
		"bytes are not compared": with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
			key := r.Header.Get("Idempotency-Key") + r.URL.Path
			if r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") == "" {
				return rt.RoundTrip(r)
			}
			if first[key] == "" {
				first[key] = body
			}
			return resend(rt, r, first[key], "")
		}),
		"the mark is stripped": edited(func(r *http.Response, body string) string { r.Header.Del("Idempotent-Replayed"); return body }),
		"instances that disagree": keyed(func(key string) string {
			return key + []string{"", "-b"}[draw.IntN(2)]
		}),
		"a proxy that repeats": with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
			if r.Method == http.MethodPost && r.Header.Get("Idempotency-Key") != "" {
				resp, err := resend(rt, r, body, "")
				if err != nil {
					return nil, err
				}
				_ = resp.Body.Close()
			}
			return rt.RoundTrip(r)
		}),
		"a proxy that caches": caching(func(r *http.Response) bool { return r.StatusCode < 300 }),
		"a proxy that caches refusals": caching(func(r *http.Response) bool {
			return r.Request.Method == http.MethodPost && r.StatusCode >= 300
		}),
		"instances by their connection": func(rt http.RoundTripper) http.RoundTripper {
			connections++
			mine := fmt.Sprint("-", connections%2)
			return keyed(func(key string) string { return key + mine })(rt)
		},
		"stored for an hour and a half": keyed(func(key string) string {
			if since[key].IsZero() {
				since[key] = time.Now()
			}
			return key + "-" + time.Since(since[key]).Truncate(90*time.Minute).String()
		}),
		"every other hour nothing is known": keyed(func(key string) string {
			if fresh++; time.Now().Unix()/3600%2 == 0 {
				return key
			}
			return key + string(rune('a'+fresh%26))
		}),
		"keys compared in lower case": keyed(strings.ToLower),
	}
}

// odd are services that answer in ways of their own, each as it begins. None of them has another
// reading than the simulator's that an answer of theirs shows.
func odd() map[string]front {
	stamps := 0
	return map[string]front{
		"limits the rate by 403":      sometimes(every(3), 403, `{"error":"rate_limited","message":"slower"}`),
		"limits the rate by 403, too": sometimes(every(7), 403, `{"error":"too_many_requests","message":"slower"}`),
		"is closed for some seconds":  sometimes(func(int, string) bool { return time.Now().Second()%10 > 6 }, 403, `{"error":"market_closed","message":"come again"}`),
		"refuses by 400 at times":     sometimes(every(5), 400, `{"error":"bad_request","message":"not now"}`),
		"says conflict for in flight": edited(func(_ *http.Response, body string) string {
			return strings.ReplaceAll(body, codeInFlight, "request_in_progress")
		}),
		"answers 200 with an error": posted(func(r *http.Response, body string) string { r.StatusCode = 200; return body }),
		"marks every answer":        edited(func(r *http.Response, body string) string { r.Header.Set("Idempotent-Replayed", "true"); return body }),
		"marks by another name": edited(func(r *http.Response, body string) string {
			if v := r.Header.Get("Idempotent-Replayed"); v != "" {
				r.Header.Del("Idempotent-Replayed")
				r.Header.Set("X-Idempotent-Replay", v)
			}
			return body
		}),
		"redirects writes": sometimes(every(2), 307, ``),
		"says no date":     edited(func(r *http.Response, body string) string { r.Header.Del("Date"); return body }),
		"stamps each answer": posted(func(r *http.Response, body string) string {
			if rest, ok := strings.CutPrefix(body, "{"); ok && r.Header.Get("Idempotent-Replayed") == "" {
				stamps++
				return fmt.Sprintf(`{"requestId":%d,%s`, 1+stamps%9, rest)
			}
			return body
		}),
		"reads keys in lower case, and bodies without the space around": with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
			for i, key := range r.Header["Idempotency-Key"] {
				r.Header["Idempotency-Key"][i] = strings.ToLower(key)
			}
			return resend(rt, r, strings.TrimSpace(body), "")
		}),
	}
}

// joining sends equal requests that are under way at once as one.
func joining(rt http.RoundTripper) http.RoundTripper {
	type flight struct {
		done chan struct{}
		resp *http.Response
		body []byte
		err  error
	}
	var mu sync.Mutex
	flights := map[string]*flight{}
	return with(func(rt http.RoundTripper, r *http.Request, body string) (*http.Response, error) {
		name := r.Method + r.URL.String() + r.Header.Get("Idempotency-Key") + body
		mu.Lock()
		f, ok := flights[name]
		if !ok {
			f = &flight{done: make(chan struct{})}
			flights[name] = f
		}
		mu.Unlock()
		if !ok {
			time.Sleep(20 * time.Millisecond)
			if f.resp, f.err = rt.RoundTrip(r); f.err == nil {
				f.body, f.err = io.ReadAll(f.resp.Body)
			}
			mu.Lock()
			delete(flights, name)
			mu.Unlock()
			close(f.done)
		}
		<-f.done
		if f.err != nil {
			return nil, f.err
		}
		again := *f.resp
		again.Body = io.NopCloser(bytes.NewReader(f.body))
		return &again, nil
	})(rt)
}

// oneByOne takes one request at a time, and answers some time later.
func oneByOne(rt http.RoundTripper) http.RoundTripper {
	var mu sync.Mutex
	return tripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		resp, err := rt.RoundTrip(r)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		return resp, err
	})
}

// counted is a service that takes a request under its key and a number.
func counted(count func(key string) int) front {
	var mu sync.Mutex
	return keyed(func(key string) string {
		mu.Lock()
		defer mu.Unlock()
		if n := count(key); n > 0 {
			return fmt.Sprint(key, "-", n)
		}
		return key
	})
}

// besideEachOther is a service that runs a request beside an equal one that is under way.
func besideEachOther() front {
	came, times := map[string]time.Time{}, map[string]int{}
	return counted(func(key string) int {
		if came[key].IsZero() {
			came[key] = time.Now()
		}
		if time.Since(came[key]) >= 50*time.Millisecond {
			return 0
		}
		times[key]++
		return times[key] - 1
	})
}

// forgetting is a service that forgets a key some time after it was new.
func forgetting(after time.Duration) front {
	since, times := map[string]time.Time{}, map[string]int{}
	return counted(func(key string) int {
		if time.Since(since[key]) > after {
			since[key], times[key] = time.Now(), times[key]+1
		}
		return times[key] - 1
	})
}

// changing is a service that reads bodies in a way of its own.
func changing(change func(path string, body map[string]any) (string, map[string]any)) front {
	return with(func(rt http.RoundTripper, r *http.Request, text string) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return rt.RoundTrip(r)
		}
		body := map[string]any{}
		_ = json.Unmarshal([]byte(text), &body) // empty for what is no object
		root, path, _ := strings.Cut(r.URL.Path, "/v1")
		path, body = change(path, body)
		changed, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r.URL.Path = root + "/v1" + path
		return resend(rt, r, string(changed), "")
	})
}

// shiftedAsOf moves the time of a health.
func shiftedAsOf(by time.Duration) front {
	return rewriting("/health", func(body string) string {
		was := number(member([]byte(body), "asOf"))
		at, ok := unixTime(was)
		if !ok { // the legacy path redirects
			return body
		}
		return strings.Replace(body, was, strconv.FormatInt(at.Add(by).UnixMilli(), 10), 1)
	})
}

// setBack has trades carry times of a clock that is behind.
func setBack(by time.Duration) front {
	const name = `"closedAt":"`
	return rewriting("/trades", func(body string) string {
		parts := strings.Split(body, name)
		for i, part := range parts[1:] {
			text, rest, _ := strings.Cut(part, `"`)
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				parts[i+1] = at.Add(-by).Format("2006-01-02T15:04:05.000Z") + `"` + rest
			}
		}
		return strings.Join(parts, name)
	})
}

// cached answers reads of positions with what it has kept for ten seconds, and says so in a header, or not.
func cached(header string) front {
	var kept, date string
	var at time.Time
	return with(func(rt http.RoundTripper, r *http.Request, _ string) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/v1/positions") {
			time.Sleep(3 * time.Second) // a Date has whole ones
			return rt.RoundTrip(r)
		}
		return edited(func(r *http.Response, body string) string {
			if kept == "" || time.Since(at) > 10*time.Second {
				kept, date, at = body, r.Header.Get("Date"), time.Now()
			} else if header == "Age" {
				r.Header.Set("Age", "1")
			}
			if header == "Date" {
				r.Header.Set("Date", date)
			}
			return kept
		})(rt).RoundTrip(r)
	})
}

// drip is a body of one byte a second, until its request has ended.
type drip struct{ of *http.Request }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.of.Context().Done():
		return 0, d.of.Context().Err()
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	}
}

func (drip) Close() error { return nil }

package observe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// How much a visit may send, and how fast.
const (
	maxWrites   = 40 // live writes that cannot trade
	mostReads   = 75 // beside them, and of a visit of reads
	writePace   = time.Second
	connections = 4
	patience    = 10 * time.Second // with one answer
	maxAnswer   = 4 << 20
)

// sourceAsked is the source of what was asked.
const sourceAsked = "asked"

// credential is the API key that a request carries.
type credential int

const (
	noKey credential = iota
	liveKey
	secondKey
	sandboxKey
	secondSandboxKey
	bothKeys // the live one in X-API-Key, the sandbox one in Authorization
)

// request is what is sent.
type request struct {
	line         int // which connection
	method, path string
	keys         []string
	body         string
	as           credential
	soon         bool // before the second since the last write is over, which the next one waits longer for
}

// sender sends, and keeps what came back. Only beside uses it from several goroutines.
type sender struct {
	q     *Questions
	guard *guard
	lines [connections]http.RoundTripper
	e     *Evidence
	next  time.Time // when the next write may leave
	ended error     // why nothing is sent any more

	refused bool // an API key was
	unnamed bool // the key has an account whose id no request here can have
}

// errEnded wraps why a visit ended early.
var errEnded = errors.New("observe: the visit ended early")

// serviceAt is the versioned root of the service. It refuses what a client refuses, since keys are sent there.
func serviceAt(baseURL string) (*url.URL, error) {
	client, err := trading.New(baseURL)
	if err != nil {
		return nil, err
	}
	_ = client.Close() // it has sent nothing
	return url.Parse(strings.TrimRight(baseURL, "/"))
}

func newSender(q *Questions, e *Evidence) (*sender, error) {
	base, err := serviceAt(q.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	root := base.String()
	base.Path = strings.TrimSuffix(base.Path, "/v1") + legacyHealth
	s := &sender{q: q, e: e, guard: &guard{root: root, accounts: map[string]bool{}, exact: map[string]bool{}, reads: map[string]bool{}, legacy: base.String()}}
	for i := range s.lines {
		s.lines[i] = q.connect()
	}
	for _, path := range []string{"/health", "/me", "/accounts", "/sandbox/markets", "/sandbox/prices", unknownPath} {
		s.guard.reads[path] = true
	}
	return s, nil
}

// sees lets an account of the key be read.
func (s *sender) sees(account string) {
	if !asID(account) {
		return
	}
	for _, path := range []string{"/accounts/@/orders", "/accounts/@/runs", "/accounts/@/funding", "/accounts/@", "/positions?accountId=@", "/trades?accountId=@"} {
		s.guard.reads[strings.Replace(path, "@", account, 1)] = true
	}
}

// close ends the connections.
func (s *sender) close() {
	for _, line := range s.lines {
		if c, ok := line.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}

// read reads a path over a connection, and keeps the exchange as evidence.
func (s *sender) read(ctx context.Context, line int, as credential, path string) (*Exchange, error) {
	x, err := s.send(ctx, request{line: line, method: http.MethodGet, path: path, as: as})
	if x != nil {
		s.e.Exchanges = append(s.e.Exchanges, *x)
	}
	return x, err
}

// write sends a live write, one a second.
func (s *sender) write(ctx context.Context, r request) (*Exchange, error) {
	if err := s.turn(ctx, r); err != nil {
		return nil, err
	}
	return s.send(ctx, r)
}

// together sends equal requests at once, over all connections.
func (s *sender) together(ctx context.Context, r request, n int) ([]*Exchange, error) {
	list, errs := make([]*Exchange, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			one := r
			one.line = i
			list[i], errs[i] = s.exchange(ctx, one)
		}()
	}
	all.Wait()
	for i, x := range list {
		if _, err := s.judged(ctx, r, x, errs[i]); err != nil {
			return list, err
		}
	}
	return list, nil
}

// turn waits until a live write may leave, and counts it.
func (s *sender) turn(ctx context.Context, r request) error {
	if s.ended != nil {
		return s.ended
	}
	if s.e.Writes >= maxWrites {
		return s.end("%d live writes are the most of a visit", maxWrites)
	}
	if err := s.pace(ctx, r); err != nil {
		return err
	}
	s.e.Writes++
	return nil
}

// pace waits until a write may leave.
func (s *sender) pace(ctx context.Context, r request) error {
	now := s.q.Clock.Now()
	if wait := s.next.Sub(now); wait > 0 && !r.soon {
		if err := s.q.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
		now = s.q.Clock.Now()
	}
	if s.q.Wait != nil {
		if err := s.q.Wait(ctx, r.method+" "+r.path); err != nil {
			return err
		}
	}
	if s.next.Before(now) {
		s.next = now
	}
	s.next = s.next.Add(writePace)
	return nil
}

// end ends the visit.
func (s *sender) end(format string, args ...any) error {
	if s.ended == nil {
		s.ended = fmt.Errorf("%w: %s", errEnded, cutKey(strings.TrimSpace(fmt.Sprintf(format, args...)), s.q))
	}
	return s.ended
}

// send sends a request once. The answer that ends the visit is returned beside the error.
func (s *sender) send(ctx context.Context, r request) (*Exchange, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	x, err := s.exchange(ctx, r)
	if r.method == http.MethodGet {
		s.e.Reads++
	}
	return s.judged(ctx, r, x, err)
}

// judged ends the visit where an attempt says that it must end.
func (s *sender) judged(ctx context.Context, r request, x *Exchange, err error) (*Exchange, error) {
	switch {
	case err == nil:
	case errors.As(err, new(*refusedError)):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return x, s.end("%s had no answer: %v", x.Operation, err)
	}
	switch {
	case x.Status == http.StatusTooManyRequests, x.Status >= http.StatusInternalServerError, x.Code == codeLimited:
		return x, s.end("%s answered %d %s", x.Operation, x.Status, x.Code)
	case r.as != noKey && x.turnedAway() && x.isError():
		s.refused = true
		return x, s.end("the API key was refused: %s answered %d %s", x.Operation, x.Status, x.Code)
	case r.as != noKey && x.turnedAway(): // which says nothing of the key: what has a position goes on closing it
		return x, s.end("something in front of the service answered %s: %d %s", x.Operation, x.Status, x.Code)
	}
	return x, nil
}

// turnedAway reports whether an answer is about the API key, if it is the service's own.
func (x *Exchange) turnedAway() bool {
	return x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden &&
		slices.Contains([]string{"", "forbidden", "wrong_environment", "api_access_denied"}, x.Code)
}

// isError reports whether an answer has the shape of the service's errors, as the client judges it.
func (x *Exchange) isError() bool {
	return x.Code != "" && text(member(x.Response, "error")) != "" && text(member(x.Response, "message")) != "" &&
		member(x.Response, "ok") == nil && member(x.Response, "success") == nil
}

// exchange is one attempt.
func (s *sender) exchange(ctx context.Context, r request) (*Exchange, error) {
	bare, query, _ := strings.Cut(r.path, "?")
	x := &Exchange{Source: sourceAsked, Operation: r.method + " " + template(bare), Line: r.line%connections + 1}
	if account, ok := strings.CutPrefix(query, "accountId="); ok {
		x.Account = account
	} else if rest, ok := strings.CutPrefix(bare, "/accounts/"); ok {
		x.Account, _, _ = strings.Cut(rest, "/")
	}
	if len(r.keys) > 0 {
		x.Key = r.keys[0]
	}
	x.Sent = s.q.Clock.Now()
	defer func() { x.Received = s.q.Clock.Now(); x.fill() }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address := s.guard.root + r.path
	if strings.Contains(r.path, "://") {
		address, x.Operation = r.path, r.method+" "+legacyHealth
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, http.NoBody)
	if err != nil {
		return x, err
	}
	if r.method == http.MethodPost {
		x.Request = []byte(r.body)
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(r.body)), int64(len(r.body))
		req.Header["Content-Type"] = []string{"application/json"}
	}
	s.authorize(req, r.as)
	req.Header["User-Agent"] = []string{"trading-observe"}
	if len(r.keys) > 0 {
		req.Header["Idempotency-Key"] = r.keys
	}
	g := *s.guard
	g.next = s.lines[r.line%connections]
	resp, err := g.RoundTrip(req)
	if err != nil {
		return x, err
	}
	x.Response, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil || len(x.Response) > maxAnswer {
		x.Response = nil
		return x, cmp.Or(err, errors.New("the answer is too long"))
	}
	x.Response = bytes.TrimSpace(x.Response)
	x.Status, x.Header, x.Replayed = resp.StatusCode, resp.Header, resp.Header.Get("Idempotent-Replayed") == "true"
	return x, nil
}

func (s *sender) authorize(r *http.Request, as credential) {
	switch as {
	case liveKey, bothKeys:
		r.Header["X-Api-Key"] = []string{s.q.LiveKey}
	case secondKey:
		r.Header["X-Api-Key"] = []string{s.q.SecondKey}
	case sandboxKey:
		r.Header["X-Api-Key"] = []string{s.q.SandboxKey}
	case secondSandboxKey:
		r.Header["X-Api-Key"] = []string{s.q.SecondSandboxKey}
	}
	if as == bothKeys {
		r.Header["Authorization"] = []string{"Bearer " + s.q.SandboxKey}
	}
}

// cutKey takes the API keys out of a text: an error may have one, and a service may repeat it.
func cutKey(text string, q *Questions) string {
	for _, key := range []string{q.LiveKey, q.SecondKey, q.SandboxKey, q.SecondSandboxKey} {
		if key != "" {
			text = strings.ReplaceAll(text, key, "(key)")
		}
	}
	return text
}

// voids says why an answer voids its round; empty if it does not.
func (x *Exchange) voids() string {
	switch {
	case x == nil:
		return "a request was not sent"
	case x.Header.Get("Age") != "":
		return "an answer came from a cache (Age)"
	case x.Status == http.StatusTooManyRequests, x.Status >= http.StatusInternalServerError:
		return fmt.Sprintf("an answer was %d", x.Status)
	case x.Status == 0:
		return "a request had no answer"
	case !x.decides():
		return "an answer is of something in front of the service, or about the API key"
	default:
		return ""
	}
}

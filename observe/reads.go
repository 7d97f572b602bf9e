package observe

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// legacyHealth is what the legacy path ends in.
const legacyHealth = "/api/v1/health"

// unknownPath is one that no service has.
const unknownPath = "/observe-a-path-that-does-not-exist"

// The scripts of reads.
const (
	scriptPath   = "path"   // a path that does not exist, without a key
	scriptLegacy = "legacy" // the legacy path, without a key
	scriptHeader = "header" // GET /me with two keys in two headers
	scriptHealth = "health" // GET /health
)

// restOfAddress is how long after one visit the next asks without a key again.
const restOfAddress = 5 * time.Minute

// readRounds is how many rounds a question of reads has, in one visit. A path without a key may count as a failed
// authentication, of which an address has ten a minute.
const readRounds = 4

func votePath(r *Round, t *Tally) {
	switch x := r.Steps[0]; {
	case x.Status == http.StatusNotFound && x.Code != "":
		t.first(x)
	case x.Status == http.StatusUnauthorized && x.Code != "":
		t.other(x)
	case x.Status == http.StatusNotFound || x.Status == http.StatusUnauthorized: // a page of something in front
	default:
		t.neither("a path that does not exist was answered by neither reading", x)
	}
}

func voteLegacy(r *Round, t *Tally) {
	x := r.Steps[0]
	to, err := url.Parse(x.Header.Get("Location"))
	redirects := x.Status >= http.StatusMultipleChoices && x.Status < http.StatusBadRequest
	switch {
	case redirects && (err != nil || !strings.HasSuffix(to.Path, "/v1/health") || strings.HasSuffix(to.Path, legacyHealth)):
		t.neither("the legacy path redirects to somewhere else: something in front does so", x)
	case x.Status == http.StatusPermanentRedirect:
		t.first(x)
	case redirects:
		t.other(x)
	case x.Code != "" || x.success():
		t.neither("the legacy path does not redirect", x)
	}
}

func voteHeader(r *Round, t *Tally) {
	x := r.at(0)
	if x == nil || !x.success() {
		return
	}
	switch text(member(x.Response, "environment")) {
	case "live":
		t.first(x)
	case "sandbox":
		t.other(x)
	default:
		t.neither("GET /me says neither live nor sandbox", x)
	}
}

// dateOf is the second in which the service wrote an answer.
func dateOf(x *Exchange) (time.Time, bool) {
	date, err := http.ParseTime(x.Header.Get("Date"))
	return date, err == nil
}

// voteDate: the service's clock, less this machine's, is somewhere between the Date less the time of the answer, and
// the end of its second less the time of the request. What lies across the limit says nothing.
func voteDate(r *Round, t *Tally) {
	const most = 2 * time.Second
	x := r.Steps[0]
	date, ok := dateOf(x)
	if !ok {
		return
	}
	least, latest := date.Sub(x.Received), date.Add(time.Second).Sub(x.Sent)
	switch {
	case least > most || latest < -most:
		t.other(x)
	case least >= -most && latest <= most:
		t.first(x)
	}
}

// voteHealthAge: asOf against the Date of the same answer, whose second is cut off.
func voteHealthAge(r *Round, t *Tally) {
	x := r.Steps[0]
	date, ok := dateOf(x)
	at, okay := unixTime(number(member(x.Response, "asOf")))
	const ahead = 3 * time.Second // of the second of a Date, and of two clocks that agree
	switch {
	case !ok || !okay:
	case at.Sub(date) > ahead:
		t.neither("a health is of a time after its answer: asOf and Date are two clocks", x)
	default:
		t.either(date.Sub(at) <= healthAge, x)
	}
}

// reads asks by reads alone, each of them over every connection.
func (s *sender) reads(ctx context.Context) error {
	accounts, err := s.list(ctx)
	if err != nil {
		return err
	}
	paths := []string{"/health", "/me", "/accounts"}
	for i, a := range accounts {
		const few = 2
		if i < few {
			paths = append(paths, "/accounts/"+a.id, "/positions?accountId="+a.id, "/trades?accountId="+a.id, "/accounts/"+a.id+"/funding")
		}
	}
	for line := range connections {
		for _, path := range paths {
			as := liveKey
			if path == "/health" {
				as = noKey
			}
			if err := s.paced(ctx, line, as, path); err != nil {
				return err
			}
		}
		if s.q.SandboxKey != "" {
			for _, path := range []string{"/sandbox/markets", "/sandbox/prices"} {
				if err := s.paced(ctx, line, sandboxKey, path); err != nil {
					return err
				}
			}
		}
	}
	const more = 10 - connections
	for i := range more {
		if err := s.paced(ctx, i, noKey, "/health"); err != nil {
			return err
		}
	}
	return s.readRounds(ctx)
}

// readPace is between two reads. Its fraction spreads the answers over the second of their Date.
const readPace = 130 * time.Millisecond

func (s *sender) paced(ctx context.Context, line int, as credential, path string) error {
	x, err := s.read(ctx, line, as, path)
	if err != nil {
		return err
	}
	if path == "/health" {
		s.e.Rounds = append(s.e.Rounds, Round{Script: scriptHealth, Steps: []*Exchange{x}, kept: true, Void: x.voids()})
	}
	return s.q.Clock.Sleep(ctx, readPace)
}

// readRounds asks what headers and paths show. What may count as a failed authentication is not asked again at once.
func (s *sender) readRounds(ctx context.Context) error {
	if r := s.q.before("8"); s.q.Clock.Now().Sub(r.At).Abs() < restOfAddress {
		return nil
	}
	for n := range readRounds {
		for _, q := range []struct {
			script, path string
			as           credential
		}{{scriptPath, unknownPath, noKey}, {scriptLegacy, s.guard.legacy, noKey}, {scriptHeader, "/me", bothKeys}} {
			if q.as == bothKeys && s.q.SandboxKey == "" {
				continue
			}
			x, err := s.send(ctx, request{line: n, method: http.MethodGet, path: q.path, as: q.as})
			if err != nil {
				return err
			}
			r := Round{Script: q.script, Steps: []*Exchange{x}}
			if x.Header.Get("Age") != "" {
				r.Void = x.voids()
			}
			s.e.Rounds = append(s.e.Rounds, r)
		}
		if err := s.q.Clock.Sleep(ctx, writePace); err != nil {
			return err
		}
	}
	return nil
}

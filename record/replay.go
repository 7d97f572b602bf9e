package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// Replayer sends recorded requests again, to a simulation, and compares the answers.
//
// It cannot be aimed at a service: there is no base URL. Requests are for a host that
// no name service has (replay.invalid, which RFC 2606 reserves), so that only a
// transport that answers by itself, whatever the host, can carry them, as that of a
// simulation does; a transport of net/http is refused, since a proxy might still pass
// them on. A check that an address is loopback would be weaker: a tunnel to a real
// service has such an address too.
type Replayer struct {
	// Transport answers: that of a simulation in the state in which the recording
	// began.
	Transport http.RoundTripper
	// SandboxKey and LiveKey are the simulation's.
	SandboxKey, LiveKey string
	// Spaced waits between requests as long as there was between those recorded:
	// without it windows, lifetimes and feeds are met at other times. In a
	// testing/synctest bubble it takes no time.
	Spaced bool
}

// Difference is an answer that is not as recorded.
type Difference struct {
	// Index is the attempt's in the order of sending, and Event the attempt.
	Index int
	Event Event
	// What differs: "status", "code", "shape", or "answer" where there is none.
	What string
	// Want was recorded, Got came.
	Want, Got string
}

// String describes it in a line.
func (d Difference) String() string {
	return fmt.Sprintf("%d: %s: %s: want %s, got %s", d.Index, d.Event.Operation, d.What, d.Want, d.Got)
}

// replayRoot is where no service can be.
const replayRoot = "https://replay.invalid/v1"

// Replay sends the requests one after the other, in the order in which they were sent,
// under their idempotency keys, and returns how the answers differ in status, code and
// shape: which members there are, and of which JSON type. Values are not compared.
// Where the answer to an earlier request had another id than the one recorded, later
// requests name the new one.
//
// What never left is not sent. What had no answer is sent, and its answer is not
// compared, nor the shape of one that was cut. The error is that of the context, or
// says why nothing can be sent.
func (r Replayer) Replay(ctx context.Context, attempts []Event) ([]Difference, error) {
	switch r.Transport.(type) {
	case nil:
		return nil, errors.New("record: replay: no transport is given: take that of a simulation")
	case *http.Transport:
		return nil, errors.New("record: replay: the transport leads to a network: take that of a simulation")
	}
	ordered := slices.Clone(attempts)
	slices.SortStableFunc(ordered, func(a, b Event) int { return a.sent().Compare(b.sent()) })
	for i := range ordered {
		if ordered[i].RequestSize > 0 {
			return nil, fmt.Errorf("record: replay: the request of attempt %d was cut", i)
		}
	}
	var differences []Difference
	run := replay{Replayer: r, ids: make(map[string]string), began: time.Now()}
	for i := range ordered {
		found, err := run.one(ctx, &ordered[i], ordered[i].sent().Sub(ordered[0].sent()))
		if err != nil {
			return differences, fmt.Errorf("record: replay: attempt %d: %w", i, err)
		}
		for _, d := range found {
			d.Index, d.Event = i, ordered[i]
			differences = append(differences, d)
		}
	}
	return differences, nil
}

// replay is a Replay under way.
type replay struct {
	Replayer
	began time.Time
	ids   map[string]string // as recorded, and as they are now
}

// one sends an attempt's request, at its time after the beginning.
func (r *replay) one(ctx context.Context, rec *Event, at time.Duration) ([]Difference, error) {
	if r.Spaced {
		if err := pause(ctx, time.Until(r.began.Add(at))); err != nil {
			return nil, err
		}
	}
	if rec.Status == 0 && !rec.Written {
		return nil, ctx.Err()
	}
	req, err := r.request(ctx, rec)
	if err != nil {
		return nil, err
	}
	status, body, err := r.send(req)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case rec.Status == 0:
		return nil, nil
	case err != nil:
		return []Difference{{What: "answer", Want: fmt.Sprint(rec.Status), Got: err.Error()}}, nil
	}
	return r.compare(rec, status, body), nil
}

func (r *replay) send(req *http.Request) (status int, body []byte, err error) {
	resp, err := r.Transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// request builds the request as the client would. An event has no URL, but what its
// operation's is made of.
func (r *replay) request(ctx context.Context, rec *Event) (*http.Request, error) {
	method, path, ok := strings.Cut(string(rec.Operation), " ")
	if !ok || method != http.MethodGet && method != http.MethodPost || !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("%q is no operation", rec.Operation)
	}
	account := r.now(string(rec.Account))
	path = strings.ReplaceAll(path, "{accountId}", url.PathEscape(account))
	switch {
	case rec.Operation == trading.OpPositions || rec.Operation == trading.OpTrades:
		path += "?accountId=" + url.QueryEscape(account)
	case rec.Operation == trading.OpPrices && rec.Symbol != "":
		path += "?symbol=" + url.QueryEscape(rec.Symbol)
	}
	var body io.Reader = http.NoBody
	if len(rec.Request) > 0 {
		body = bytes.NewReader(r.withIDs(rec.Request))
	}
	req, err := http.NewRequestWithContext(ctx, method, replayRoot+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if len(rec.Request) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	switch rec.Environment {
	case trading.EnvSandbox:
		req.Header.Set("X-API-Key", r.SandboxKey)
	case trading.EnvLive:
		req.Header.Set("X-API-Key", r.LiveKey)
	}
	if rec.Key != "" {
		req.Header.Set("Idempotency-Key", string(rec.Key))
	}
	return req, nil
}

// now returns what is called so now.
func (r *replay) now(id string) string { return cmp.Or(r.ids[id], id) }

// withIDs puts the ids of now into a request, where they are the whole of a string.
func (r *replay) withIDs(request []byte) []byte {
	if len(r.ids) == 0 {
		return request
	}
	var changed []byte
	for len(request) > 0 {
		begin := bytes.IndexByte(request, '"') + 1
		if begin == 0 {
			break
		}
		end := begin
		for end < len(request) && request[end] != '"' {
			if request[end] == '\\' {
				end++ // what is escaped ends nothing
			}
			end++
		}
		end = min(end, len(request))
		changed = append(changed, request[:begin]...)
		changed = append(changed, r.now(string(request[begin:end]))...)
		changed = append(changed, request[end:min(end+1, len(request))]...)
		request = request[min(end+1, len(request)):]
	}
	return append(changed, request...)
}

func (r *replay) compare(rec *Event, status int, body []byte) []Difference {
	var differences []Difference
	differ := func(what, want, got string) {
		differences = append(differences, Difference{What: what, Want: want, Got: got})
	}
	if status != rec.Status {
		differ("status", fmt.Sprint(rec.Status), fmt.Sprint(status))
	}
	if code := codeOf(body); code != rec.Code {
		differ("code", orNone(rec.Code), orNone(code))
	}
	if len(differences) > 0 || rec.ResponseSize > 0 {
		return differences // of another answer the shape is another, of course
	}
	want, got := decode(rec.Response), decode(body)
	if at, wantType, gotType := differingShape("", want, got); wantType != gotType {
		place := at + ": "
		if at == "" {
			place = ""
		}
		differ("shape", place+wantType, place+gotType)
		return differences
	}
	r.learnIDs("", want, got)
	return differences
}

func orNone(code trading.Code) string {
	if code == "" {
		return "none"
	}
	return string(code)
}

// codeOf returns the code of a refusal; empty if the body is none.
func codeOf(body []byte) trading.Code {
	answer, _ := decode(body).(map[string]any)
	code, isCode := answer["error"].(string)
	if _, isMessage := answer["message"].(string); !isCode || !isMessage {
		return ""
	}
	return trading.Code(code)
}

// noJSON is a body that is something else.
type noJSON struct{}

func decode(body []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return noJSON{}
	}
	return v
}

// differingShape finds the first place where two values are of different types. Both
// types are the same where there is none.
func differingShape(at string, want, got any) (where, wantType, gotType string) {
	if typeOf(want) != typeOf(got) {
		return at, typeOf(want), typeOf(got)
	}
	switch want := want.(type) {
	case map[string]any:
		got := got.(map[string]any)
		for _, name := range namesOf(want, got) {
			w, inWant := want[name]
			g, inGot := got[name]
			at := strings.TrimPrefix(at+"."+name, ".")
			switch {
			case !inGot:
				return at, typeOf(w), "nothing"
			case !inWant:
				return at, "nothing", typeOf(g)
			}
			if where, wantType, gotType := differingShape(at, w, g); wantType != gotType {
				return where, wantType, gotType
			}
		}
	case []any:
		got := got.([]any)
		for i := range min(len(want), len(got)) { // how many there are is no shape
			if where, wantType, gotType := differingShape(fmt.Sprintf("%s[%d]", at, i), want[i], got[i]); wantType != gotType {
				return where, wantType, gotType
			}
		}
	}
	return "", "", ""
}

func namesOf(maps ...map[string]any) []string {
	var names []string
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "no JSON"
	}
}

// learnIDs notes where an answer gave another id than the one recorded.
func (r *replay) learnIDs(name string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		got := got.(map[string]any)
		for name, w := range want {
			r.learnIDs(name, w, got[name])
		}
	case []any:
		for i, g := range got.([]any)[:min(len(want), len(got.([]any)))] {
			r.learnIDs(name, want[i], g)
		}
	case string:
		isID := name == "id" || strings.HasSuffix(name, "Id")
		is := got.(string)
		if plain := !strings.ContainsAny(want+is, "\"\\"); isID && plain && want != "" && is != "" && want != is {
			r.ids[want] = is
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/record"
)

// maxFile bounds a file that is read whole.
const maxFile = 512 << 20

// Read reads files, and all files below folders. What a file is shows by its content. A file
// below a folder that is of no known kind is passed over, and named in Passed; one that is
// named itself is an error.
func Read(paths ...string) (*Evidence, error) {
	e := &Evidence{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("observe: %w", err)
		}
		if !info.IsDir() {
			if err := e.readFile(path); err != nil {
				return nil, err
			}
			continue
		}
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if err := e.readFile(file); err != nil {
				e.Passed = append(e.Passed, err.Error())
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("observe: %w", err)
		}
	}
	e.sort()
	return e, nil
}

// readFile reads one file.
func (e *Evidence) readFile(path string) error {
	if slices.Contains(e.Sources, path) {
		return nil // the same evidence does not count twice
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	if info.Size() > maxFile {
		return fmt.Errorf("observe: %s has %d MiB, and %d are the most", path, info.Size()>>20, maxFile>>20)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	found, holder, err := Parse(content)
	if err != nil {
		return fmt.Errorf("observe: %s: %w", path, err)
	}
	for i := range found {
		found[i].Source = filepath.Base(path)
	}
	e.Exchanges = append(e.Exchanges, found...)
	e.Sources = append(e.Sources, path)
	if holder != "" {
		e.Holder = holder
	}
	return nil
}

// Parse reads the exchanges of one file's content: a file of an audit, a flight recording, a
// recorded exchange, or a log of the simulator.
func Parse(content []byte) (found []Exchange, holder string, err error) {
	found, holder, err = parse(content)
	for i := range found {
		found[i].fill()
	}
	return found, holder, err
}

func parse(content []byte) (found []Exchange, holder string, err error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(content), []byte("\n"))
	var line struct {
		Seq   uint64
		Event string
	}
	if json.Unmarshal(first, &line) != nil {
		return parseRecorded(content)
	}
	switch {
	case line.Seq > 0 && line.Event != "":
		return parseAudit(content)
	case line.Event == string(record.KindAttempt):
		found, err = parseFlight(content)
	case slices.Contains([]string{"request", "answer", "refused", "execution"}, line.Event):
		found, err = parseSimulator(content)
	default:
		return parseRecorded(content)
	}
	return found, "", err
}

// parseAudit takes the attempts of a file of an audit. Its chain is verified.
func parseAudit(content []byte) (found []Exchange, holder string, err error) {
	for e, err := range record.Events(bytes.NewReader(content)) {
		if err != nil {
			return found, holder, err
		}
		if e.Holder != "" {
			holder = e.Holder
		}
		if e.Kind == record.KindAttempt {
			found = append(found, attempted(&e))
		}
	}
	return found, holder, nil
}

func parseFlight(content []byte) (found []Exchange, err error) {
	attempts, err := record.Read(bytes.NewReader(content))
	for i := range attempts {
		found = append(found, attempted(&attempts[i]))
	}
	return found, err
}

// attempted is the exchange of an attempt. A body that was cut shows nothing.
func attempted(e *record.Event) Exchange {
	x := Exchange{
		Operation: string(e.Operation), Account: string(e.Account), Key: string(e.Key),
		Sent: e.At.Add(-e.Took), Received: e.At, Status: e.Status, Code: string(e.Code), Replayed: e.Replayed,
	}
	if e.RequestSize == 0 {
		x.Request = e.Request
	}
	if e.ResponseSize == 0 {
		x.Response = e.Response
	}
	return x
}

// parseSimulator takes the requests of a log of the simulator. It has no bodies of answers. That
// a write was answered by success and executed nothing shows that its answer was a stored one.
func parseSimulator(content []byte) (found []Exchange, err error) {
	ran := map[int64]bool{}
	type answer struct {
		ID             int64
		At, AnsweredAt time.Time
		Operation      string
		Header         http.Header
		Body, Fault    string
		Status         int
		Delivered      bool
	}
	var answers []answer
	for line := range bytes.Lines(content) {
		var e struct {
			Event     string
			Request   answer
			Execution struct {
				Request int64
				Copy    bool
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("not a line of the simulator's log: %w", err)
		}
		switch {
		case e.Event == "execution" && !e.Execution.Copy:
			ran[e.Execution.Request] = true
		case e.Event == "answer" && e.Request.Delivered && e.Request.Fault == "":
			answers = append(answers, e.Request)
		}
	}
	for _, r := range answers {
		x := Exchange{
			Operation: r.Operation, Key: r.Header.Get("Idempotency-Key"), Sent: r.At, Received: r.AnsweredAt, Request: []byte(r.Body), Status: r.Status,
		}
		x.Own = r.Status >= http.StatusOK && r.Status < http.StatusMultipleChoices
		x.Replayed = x.Own && x.write() && !ran[r.ID]
		found = append(found, x)
	}
	return found, nil
}

// parseRecorded takes an exchange that was recorded from a service, as testdata/exchanges has
// them. What the simulator answered, or a person wrote, is no evidence.
func parseRecorded(content []byte) (found []Exchange, holder string, err error) {
	var f struct {
		Source  string
		Request struct {
			Method, Path string
			Header       map[string]string
			Body         json.RawMessage
		}
		Response struct {
			Status int
			Header map[string]string
			Body   json.RawMessage
		}
	}
	if err := json.Unmarshal(content, &f); err != nil || f.Request.Method == "" || f.Response.Status == 0 {
		return nil, "", fmt.Errorf("neither an audit, nor a flight recording, a recorded exchange or a log of the simulator")
	}
	if f.Source != "service" {
		return nil, "", fmt.Errorf("recorded from %q, which is no service", f.Source)
	}
	path, _, _ := strings.Cut(f.Request.Path, "?")
	x := Exchange{
		Operation: f.Request.Method + " " + template(path), Key: f.Request.Header["Idempotency-Key"],
		Request: compact(f.Request.Body), Response: compact(f.Response.Body), Status: f.Response.Status, Header: http.Header{},
	}
	for name, value := range f.Response.Header {
		x.Header.Set(name, value)
	}
	x.Replayed = x.Header.Get("Idempotent-Replayed") == "true"
	return []Exchange{x}, "", nil
}

// template is the path of an operation, with the account's id taken out.
func template(path string) string {
	rest, ok := strings.CutPrefix(path, "/accounts/")
	if !ok {
		return path
	}
	_, more, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix("/accounts/{accountId}/"+more, "/")
}

func compact(body json.RawMessage) []byte {
	var out bytes.Buffer
	if len(body) == 0 || json.Compact(&out, body) != nil {
		return nil
	}
	return out.Bytes()
}

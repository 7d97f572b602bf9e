package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is one recorded exchange, and what the client must make of it.
type File struct {
	// Operation is the operationId in openapi.json, and the file's directory.
	Operation string `json:"operation"`
	// Case is the status, and the code or what else the case is about. It is the
	// file's name.
	Case string `json:"case"`
	// Shows says in a sentence what is to be seen.
	Shows string `json:"shows"`
	// Source is where the answer comes from.
	Source Source `json:"source"`
	// Changed is what of the request is not the client's own work: it would have
	// refused to send it. Empty for most.
	Changed string `json:"changed,omitempty"`

	Request  Request  `json:"request"`
	Response Response `json:"response"`
	Expect   Expect   `json:"expect"`
}

// Source is where an answer comes from.
type Source string

const (
	// Simulated is an answer that the simulation's rules gave.
	Simulated Source = "simulation"
	// Planned is an answer that the case prescribes: the simulation has no rule
	// that would lead to it on this operation.
	Planned Source = "simulation, as planned by the case"
	// Written is an answer written by hand from the service's reference.
	Written Source = "written from the reference"
	// Service is an answer of a service other than the simulation.
	Service Source = "service"
)

// Request is what was sent.
type Request struct {
	Method string `json:"method"`
	// Path is below the versioned root and escaped.
	Path  string `json:"path"`
	Query string `json:"query,omitempty"`
	// Header is everything but what belongs to the connection and User-Agent.
	Header map[string]string `json:"header"`
	Body
}

// Response is what came back.
type Response struct {
	Status int `json:"status"`
	// Header is what the contract documents of it.
	Header map[string]string `json:"header"`
	Body
}

// Body is the bytes of a message. In a file they are laid out for people: on the
// wire there is no white space between the parts.
type Body struct {
	// JSON is a body that is JSON without white space.
	JSON json.RawMessage `json:"body,omitempty"`
	// Text is any other.
	Text string `json:"text,omitempty"`
}

// NewBody keeps the bytes of a message.
func NewBody(raw []byte) Body {
	if compact, err := compacted(raw); err == nil && bytes.Equal(compact, raw) {
		return Body{JSON: compact}
	}
	return Body{Text: string(raw)}
}

// Bytes are the bytes as they cross the wire.
func (b Body) Bytes() []byte {
	if b.JSON != nil {
		return b.JSON
	}
	return []byte(b.Text)
}

func compacted(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err
}

// Expect is what the client's public method must return for the exchange: a
// result or an error, never both.
type Expect struct {
	// Result is the typed result as JSON, without its Meta; null where the result
	// is that there is none, as for a market without a price.
	Result json.RawMessage `json:"result,omitempty"`
	Error  *ExpectError    `json:"error,omitempty"`
}

// ExpectError is what the error of a refusal must say.
type ExpectError struct {
	Code string `json:"code"`
	// Kind is the family of the code, if it has one.
	Kind string `json:"kind,omitempty"`
	// Outcome is what became of the write; empty for a read.
	Outcome string `json:"outcome,omitempty"`
}

// Path is where the file belongs below the directory of all exchanges.
func (f *File) Path() string { return filepath.Join(f.Operation, f.Case+".json") }

// Encode lays the file out.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("exchange %s: %w", f.Path(), err)
	}
	return b.Bytes(), nil
}

// Decode reads a file. Members that are not of the format are an error: a
// misspelt expectation would expect nothing.
func Decode(text []byte) (*File, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var f File
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	for _, part := range []*json.RawMessage{&f.Request.JSON, &f.Response.JSON, &f.Expect.Result} {
		if *part == nil {
			continue
		}
		compact, err := compacted(*part)
		if err != nil {
			return nil, err
		}
		*part = compact
	}
	return &f, nil
}

// Load reads every exchange of a directory, in the order of their paths.
func Load(dir string) ([]*File, error) {
	var files []*File
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := Decode(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if want := filepath.Join(dir, f.Path()); path != want {
			return fmt.Errorf("%s: its content belongs to %s", path, want)
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

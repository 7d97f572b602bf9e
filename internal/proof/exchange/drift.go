package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"
)

// Drift compares what a service answers now with what was recorded, and returns
// a line for each difference in shape: another status or code, a header that came
// or went, a member that came, went or changed its type. Values, messages and the
// length of lists may vary. So may null and a value, and whether a member is
// there, wherever the recorded answers of the operation show both.
func Drift(recorded, now []*File) []string {
	known := map[string]*shape{}
	byPath := map[string]*File{}
	for _, f := range recorded {
		byPath[f.Path()] = f
		if known[f.family()] == nil {
			known[f.family()] = &shape{}
		}
		known[f.family()].add(f.Response.Bytes(), "")
	}
	var lines []string
	for _, f := range now {
		was, ok := byPath[f.Path()]
		if !ok {
			lines = append(lines, f.Path()+": not recorded before")
			continue
		}
		for _, line := range driftOf(was, f, known[was.family()]) {
			lines = append(lines, f.Path()+": "+line)
		}
	}
	return lines
}

// family is what answers of one shape have in common.
func (f *File) family() string {
	return fmt.Sprintf("%s %q", f.Operation, code(f.Response.Bytes()))
}

// code is the error of a refusal, "" for any other answer.
func code(body []byte) string {
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &refusal) != nil {
		return ""
	}
	return refusal.Error
}

func driftOf(was, is *File, known *shape) (lines []string) {
	if was.Response.Status != is.Response.Status {
		lines = append(lines, fmt.Sprintf("status %d is now %d", was.Response.Status, is.Response.Status))
	}
	lines = append(lines, headerDrift(was.Response.Header, is.Response.Header)...)
	if a, b := code(was.Response.Bytes()), code(is.Response.Bytes()); a != b {
		return append(lines, fmt.Sprintf("error %q is now %q", a, b))
	}
	var now shape
	now.add(is.Response.Bytes(), "")
	return append(lines, known.compare(&now, "body")...)
}

func headerDrift(was, is map[string]string) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[name]; !ok {
			lines = append(lines, "header "+name+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[name]; !ok {
			lines = append(lines, "header "+name+" is new")
		}
	}
	a, _, _ := mime.ParseMediaType(was["Content-Type"])
	b, _, _ := mime.ParseMediaType(is["Content-Type"])
	if a != b && is["Content-Type"] != "" {
		lines = append(lines, fmt.Sprintf("Content-Type %q is now %q", a, b))
	}
	return lines
}

// shape is what the instances of a JSON value look like.
type shape struct {
	types   map[string]bool
	objects int               // instances that are objects
	seen    int               // instances of a member
	members map[string]*shape // of objects
	element *shape            // of lists, and of maps by symbol
}

// byName are the objects whose members are named by data.
var byName = map[string]bool{"prices": true}

// add takes in an instance.
func (s *shape) add(raw []byte, name string) {
	s.seen++
	if s.types == nil {
		s.types, s.members = map[string]bool{}, map[string]*shape{}
	}
	kind := typeOf(raw)
	s.types[kind] = true
	switch kind {
	case "object":
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // it is valid, as typeOf has found
		if byName[name] {
			for _, value := range members {
				s.addElement(value)
			}
			return
		}
		s.objects++
		for member, value := range members {
			if s.members[member] == nil {
				s.members[member] = &shape{}
			}
			s.members[member].add(value, member)
		}
	case "list":
		var elements []json.RawMessage
		_ = json.Unmarshal(raw, &elements)
		for _, value := range elements {
			s.addElement(value)
		}
	}
}

func (s *shape) addElement(raw []byte) {
	if s.element == nil {
		s.element = &shape{}
	}
	s.element.add(raw, "")
}

// compare returns where other has what s has not, or lacks what s always has.
func (s *shape) compare(other *shape, path string) (lines []string) {
	for _, kind := range slices.Sorted(maps.Keys(other.types)) {
		if !s.types[kind] {
			lines = append(lines, fmt.Sprintf("%s is now %s, was %s", path, kind, strings.Join(slices.Sorted(maps.Keys(s.types)), " or ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.members)) {
		member, now := s.members[name], other.members[name]
		switch {
		case now == nil && (other.objects == 0 || member.seen < s.objects):
		case now == nil, member.seen == s.objects && now.seen < other.objects:
			lines = append(lines, path+"."+name+" is missing")
		}
		if now != nil {
			lines = append(lines, member.compare(now, path+"."+name)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other.members)) {
		if s.members[name] == nil && s.objects > 0 {
			lines = append(lines, path+"."+name+" is new")
		}
	}
	if s.element != nil && other.element != nil {
		lines = append(lines, s.element.compare(other.element, path+"[]")...)
	}
	return lines
}

// typeOf names the type of a JSON value.
func typeOf(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return "no JSON"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

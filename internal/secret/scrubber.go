package secret

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// perGroup is how many keys of a group are remembered: an answer can repeat the key
// before a rotation.
const perGroup = 4

// Scrubber takes keys out of text that came from outside: a debugging proxy may
// print the request, and with it the key, into its error page. It finds a key as it
// is, with characters escaped as in JSON or percent-encoded, without its public
// prefix, and cut short. The zero value knows no key.
type Scrubber struct {
	mu     sync.Mutex
	groups map[string][]APIKey
	known  atomic.Pointer[[]APIKey] // all of them, for those who only read
}

// Know remembers a key, and forgets the oldest of its group if there are too many.
func (s *Scrubber) Know(group string, k APIKey) {
	if k.IsZero() || k.text.header[0] == "" || s.knows(k) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.knows(k) {
		return
	}
	if s.groups == nil {
		s.groups = make(map[string][]APIKey, 2)
	}
	keys := append(slices.Clone(s.groups[group]), k)
	s.groups[group] = keys[max(len(keys)-perGroup, 0):]
	var all []APIKey
	for _, keys := range s.groups {
		all = append(all, keys...)
	}
	s.known.Store(&all)
}

func (s *Scrubber) keys() []APIKey {
	if all := s.known.Load(); all != nil {
		return *all
	}
	return nil
}

func (s *Scrubber) knows(k APIKey) bool {
	return slices.ContainsFunc(s.keys(), func(other APIKey) bool { return other.ID() == k.ID() })
}

// Bytes returns b without keys. It is b itself if b has none.
func (s *Scrubber) Bytes(b []byte) []byte {
	keys := s.keys()
	suspect := bytes.IndexByte(b, '\\') >= 0 || bytes.IndexByte(b, '%') >= 0
	for _, k := range keys {
		signs := &k.text.signs
		suspect = suspect || bytes.Contains(b, []byte(signs[0])) || bytes.Contains(b, []byte(signs[1]))
	}
	if !suspect {
		return b
	}
	return scrub(b, keys)
}

// Text is [Scrubber.Bytes] for a text. Like it, it costs no memory where nothing is
// suspect, as in the headers of nearly every answer.
func (s *Scrubber) Text(text string) string {
	keys := s.keys()
	suspect := strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '%') >= 0
	for _, k := range keys {
		signs := &k.text.signs
		suspect = suspect || strings.Contains(text, signs[0]) || strings.Contains(text, signs[1])
	}
	if !suspect {
		return text
	}
	return string(scrub([]byte(text), keys))
}

// Error returns an error of the same text without keys. It is err itself if that has
// none.
func (s *Scrubber) Error(err error) error {
	text := err.Error()
	if clean := s.Text(text); clean != text {
		return errors.New(clean)
	}
	return err
}

// Header returns h without keys in its names and values. It is h itself if h has
// none: h is not changed.
func (s *Scrubber) Header(h http.Header) http.Header {
	dirty := false
	for name, values := range h {
		dirty = dirty || s.inName(name) || slices.ContainsFunc(values, func(v string) bool { return s.Text(v) != v })
	}
	if !dirty {
		return h
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		if s.inName(name) {
			name = Redacted
		}
		for _, value := range values {
			clean[name] = append(clean[name], s.Text(value))
		}
	}
	return clean
}

// inName reports whether the name of a header has a key. Its capitals are net/http's.
func (s *Scrubber) inName(name string) bool {
	for _, k := range s.keys() {
		for _, sign := range k.text.signs {
			for i := range max(len(name)-len(sign)+1, 0) {
				// Both are ASCII where they are equal, so the first bytes differ in one bit at most.
				if name[i]|0x20 == sign[0]|0x20 && strings.EqualFold(name[i:i+len(sign)], sign) {
					return true
				}
			}
		}
	}
	return false
}

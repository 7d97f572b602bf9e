package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/internal/disk"
)

// members are what a file has beside what this version knows.
type members map[string]json.RawMessage

// VersionError means that a newer version of this package wrote a file.
type VersionError struct {
	Version, Known int // of the file, and the newest that can be read
}

// Error says what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("profile: the file has version %d, and this module knows up to %d: take a newer version of the module, or measure anew with trading observe", e.Version, e.Known)
}

// Load reads a file.
func Load(path string) (*Profile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Save writes a file, readable by its owner alone, whole or not at all.
func (p *Profile) Save(path string) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if err := disk.Replace(path, text, false); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

// Decode reads the text of a file, and validates it.
func Decode(text []byte) (*Profile, error) {
	var version struct{ Version *int }
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("profile: not a profile: %w", err)
	}
	switch {
	case version.Version == nil:
		return nil, errors.New("profile: not a profile: it has no version")
	case *version.Version > Version:
		return nil, &VersionError{*version.Version, Version}
	}
	p := &Profile{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if bytes.Contains(text, []byte("pk_live_")) || bytes.Contains(text, []byte("pk_test_")) {
		return nil, errors.New("profile: it holds what looks like an API key: revoke the key, and remove the file")
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// Encode returns the text of a file.
func (p *Profile) Encode() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if bytes.Contains(text, []byte("pk_live_")) || bytes.Contains(text, []byte("pk_test_")) {
		return nil, errors.New("profile: it would hold what looks like an API key")
	}
	return append(text, '\n'), nil
}

// decode reads an object into known, and returns the members that known has not.
func decode(text []byte, known any) (members, error) {
	if err := json.Unmarshal(text, known); err != nil {
		return nil, err
	}
	var all members
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	kind := reflect.TypeOf(known).Elem()
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		// As encoding/json does, which takes a member in any case.
		for other := range all {
			if name != "" && strings.EqualFold(other, name) {
				delete(all, other)
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// encode writes known and the members behind it, by their names.
func encode(known any, extra members) ([]byte, error) {
	text, err := json.Marshal(known)
	if err != nil || len(extra) == 0 {
		return text, err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("}")))
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(extra[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

type (
	plainProfile  Profile
	plainResult   Result
	plainMeasured Measured
	plainExchange Exchange
	plainBegun    Begun
)

// MarshalJSON writes what is known, and what was read beside it.
func (p Profile) MarshalJSON() ([]byte, error) { return encode(plainProfile(p), p.extra) }

// UnmarshalJSON keeps what it does not know.
func (p *Profile) UnmarshalJSON(text []byte) (err error) {
	p.extra, err = decode(text, (*plainProfile)(p))
	return err
}

// MarshalJSON writes what is known, and what was read beside it.
func (r Result) MarshalJSON() ([]byte, error) { return encode(plainResult(r), r.extra) }

// UnmarshalJSON keeps what it does not know.
func (r *Result) UnmarshalJSON(text []byte) (err error) {
	r.extra, err = decode(text, (*plainResult)(r))
	return err
}

// MarshalJSON writes what is known, and what was read beside it.
func (m Measured) MarshalJSON() ([]byte, error) { return encode(plainMeasured(m), m.extra) }

// UnmarshalJSON keeps what it does not know.
func (m *Measured) UnmarshalJSON(text []byte) (err error) {
	m.extra, err = decode(text, (*plainMeasured)(m))
	return err
}

// MarshalJSON writes what is known, and what was read beside it.
func (e Exchange) MarshalJSON() ([]byte, error) { return encode(plainExchange(e), e.extra) }

// UnmarshalJSON keeps what it does not know.
func (e *Exchange) UnmarshalJSON(text []byte) (err error) {
	e.extra, err = decode(text, (*plainExchange)(e))
	return err
}

// MarshalJSON writes what is known, and what was read beside it.
func (b Begun) MarshalJSON() ([]byte, error) { return encode(plainBegun(b), b.extra) }

// UnmarshalJSON keeps what it does not know.
func (b *Begun) UnmarshalJSON(text []byte) (err error) {
	b.extra, err = decode(text, (*plainBegun)(b))
	return err
}

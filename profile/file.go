package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/tradingapi/trading-go/internal/disk"
)

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
	if bytes.Contains(text, []byte("pk_live_")) || bytes.Contains(text, []byte("pk_test_")) {
		return nil, errors.New("profile: it holds what looks like an API key: revoke the key, and remove the file")
	}
	p := &Profile{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
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

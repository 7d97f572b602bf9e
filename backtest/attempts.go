package backtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// attempt is a run as the file of attempts has it.
type attempt struct {
	Bot      string    `json:"bot"`
	Symbols  []string  `json:"symbols"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	SHA256   string    `json:"sha256"`
	Variants int       `json:"variants"`
}

// tried is what runs are made on, as the file of attempts has it.
type tried struct {
	attempt
	Synthetic bool `json:"synthetic"`
}

func (p plan) tried() tried {
	return tried{attempt{Bot: p.Name, Symbols: p.Data.Symbols(), From: p.From, To: p.To, SHA256: p.Data.hash}, p.Data.synthetic}
}

// maxAttempts bounds the file.
const maxAttempts = 100_000

// count adds a run of so many variants to the file of attempts, and returns how many of this bot on
// these markets and this time the file has.
func (t tried) count(name string, variants int) (n int, err error) {
	if name == "" {
		return variants, nil
	}
	mine := t.attempt
	mine.Variants = variants
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("backtest: the file of attempts: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var one attempt
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.Variants < 1 || number > maxAttempts {
			return 0, fmt.Errorf("backtest: the file of attempts: %s:%d is no attempt", name, number)
		}
		if one.Bot == mine.Bot && mine.overlaps(one, t.Synthetic) {
			n += one.Variants
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return 0, fmt.Errorf("backtest: the file of attempts: %w", err)
	}
	if err := json.NewEncoder(file).Encode(mine); err != nil {
		return 0, fmt.Errorf("backtest: the file of attempts: %w", err)
	}
	return n + variants, nil
}

// overlaps reports whether two attempts saw the same prices. Synthetic ones are others with
// another seed.
func (a attempt) overlaps(b attempt, synthetic bool) bool {
	if synthetic && a.SHA256 != b.SHA256 {
		return false
	}
	shared := slices.ContainsFunc(a.Symbols, func(s string) bool { return slices.Contains(b.Symbols, s) })
	return shared && a.From.Before(b.To) && b.From.Before(a.To)
}

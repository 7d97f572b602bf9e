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

// maxAttempts bounds the file.
const maxAttempts = 100_000

// countAttempts adds a run of so many variants to the file of attempts, and returns how many of this
// bot on these markets and this time the file has.
func (p plan) countAttempts(variants int) (n int, err error) {
	if p.Attempts == "" {
		return variants, nil
	}
	mine := attempt{Bot: p.Name, Symbols: p.Data.Symbols(), From: p.From, To: p.To, SHA256: p.Data.hash, Variants: variants}
	file, err := os.OpenFile(p.Attempts, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("backtest: the file of attempts: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var one attempt
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.Variants < 1 || number > maxAttempts {
			return 0, fmt.Errorf("backtest: the file of attempts: %s:%d is no attempt", p.Attempts, number)
		}
		if one.Bot == mine.Bot && mine.overlaps(one, p.Data.synthetic) {
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

package trial

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/profile"
)

// Duration is text in JSON, such as "1m30s".
type Duration = profile.Duration

// Market is a market that a bot trades.
type Market struct {
	Price decimal.Decimal `json:"price"`         // where the simulation begins
	Most  decimal.Decimal `json:"most,omitzero"` // the largest position, in base units; zero declares none
}

// Manifest is what the owner of a bot declares of it.
type Manifest struct {
	Environment string            `json:"environment,omitempty"` // "live", unless set, or "sandbox"
	Period      Duration          `json:"period"`                // how often the bot looks
	Markets     map[string]Market `json:"markets"`               // those that it trades, by symbol
	Dollars     decimal.Decimal   `json:"dollars,omitzero"`      // the most that all positions are worth together; zero declares none
	Entries     int               `json:"entries,omitempty"`     // the most that it sends in one period: 10 unless set
	// HealthAge is how old an assessment of the service's health may be when the bot enters:
	// unless set its period, from 1 to 5 seconds.
	HealthAge trading.Opt[Duration] `json:"healthAge,omitzero"`
	// StopWithin is how soon after a position opens the service has a stop for it, and FlatWithin
	// how soon after a restart the bot has closed everything. Zero declares no stops, and that it
	// reads its positions and goes on.
	StopWithin Duration `json:"stopWithin,omitzero"`
	FlatWithin Duration `json:"flatWithin,omitzero"`
	// Timeout is the bot's shortest time-out, which bounds how much faster than real time it
	// can run: 10 seconds unless set. Lag is how long reads of the simulation lag behind its writes:
	// unless set half the period, and at most 5 seconds.
	Timeout Duration              `json:"timeout,omitzero"`
	Lag     trading.Opt[Duration] `json:"lag,omitzero"`
}

const (
	maxManifest = 1 << 20         // bytes
	maxPeriod   = time.Hour       // bounds what a scenario takes
	longestLag  = 5 * time.Second // of reads, as the contract's "a few seconds" is taken
)

// ReadManifest reads a manifest in JSON, and refuses what it does not know. A zero that it declares is none
// that it leaves out.
func ReadManifest(r io.Reader) (m Manifest, err error) {
	m = m.filled()
	decoder := json.NewDecoder(io.LimitReader(r, maxManifest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return m, fmt.Errorf("the manifest: %w", err)
	}
	if decoder.More() {
		return m, errors.New("the manifest: more than one value")
	}
	return m.complete()
}

// healthAge is how old an assessment may be. Unless the manifest says it, the service itself reuses one for no
// longer than the most of it.
func (m Manifest) healthAge() Duration {
	if age, ok := m.HealthAge.Get(); ok {
		return age
	}
	return min(max(m.Period, Duration(time.Second)), Duration(healthCache))
}

func (m Manifest) lag() Duration {
	if lag, ok := m.Lag.Get(); ok {
		return lag
	}
	return min(m.Period/2, Duration(longestLag))
}

// filled fills in what is not set, and for which zero means nothing.
func (m Manifest) filled() Manifest {
	m.Environment, m.Entries = cmp.Or(m.Environment, "live"), cmp.Or(m.Entries, 10)
	m.Timeout = cmp.Or(m.Timeout, Duration(10*time.Second))
	return m
}

// complete says how old an assessment may be and how long reads lag, and judges all.
func (m Manifest) complete() (Manifest, error) {
	m.HealthAge, m.Lag = trading.Some(m.healthAge()), trading.Some(m.lag())
	var wrong []error
	rule := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	within := func(name string, is Duration, least, most time.Duration) {
		d := time.Duration(is)
		rule(d >= least && d <= most, "%s is %s: it must be from %s to %s", name, d, least, most)
	}
	rule(m.Environment == "live" || m.Environment == "sandbox", "environment is %q: it must be live or sandbox", m.Environment)
	within("period", m.Period, 10*time.Millisecond, maxPeriod)
	within("healthAge", m.healthAge(), 0, maxPeriod)
	within("stopWithin", m.StopWithin, 0, maxPeriod)
	within("flatWithin", m.FlatWithin, 0, maxPeriod)
	within("timeout", m.Timeout, 10*time.Millisecond, maxPeriod)
	within("lag", m.lag(), 0, time.Minute)
	rule(m.Entries > 0, "entries is %d: it must be greater than 0", m.Entries)
	rule(!m.Dollars.IsNegative(), "dollars is %s: it must not be negative", m.Dollars)
	rule(len(m.Markets) > 0, "markets is empty: name at least one")
	for _, symbol := range slices.Sorted(maps.Keys(m.Markets)) {
		k := m.Markets[symbol]
		rule(symbol != "" && len(symbol) <= 40, "markets has the symbol %.40q: it must have 1 to 40 characters", symbol)
		rule(k.Price.IsPositive() && plain(k.Price), "markets.%s.price must be a plain number greater than 0", symbol)
		rule(!k.Most.IsNegative() && plain(k.Most), "markets.%s.most must be a plain number, and not negative", symbol)
	}
	return m, errors.Join(wrong...)
}

func (m Manifest) periods(n int) time.Duration { return time.Duration(n) * time.Duration(m.Period) }

// plain reports whether a number can be computed with: hostile exponents take all memory.
func plain(d decimal.Decimal) bool {
	return d.Exponent() >= -30 && d.Exponent() <= 30 && d.NumDigits() <= 60
}

// Hash names what a manifest declares: one that was loosened has another.
func (m Manifest) Hash() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has no value that JSON lacks
	}
	return fmt.Sprintf("%.6x", sha256.Sum256(text))
}

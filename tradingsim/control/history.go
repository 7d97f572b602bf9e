package control

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

const (
	sampleTime  = time.Second
	keptSamples = 900
)

// sample is what the charts show of a moment.
type sample struct {
	At     time.Time                      `json:"at"`
	Marks  map[string]decimal.NullDecimal `json:"marks"`
	Equity map[string]decimal.NullDecimal `json:"equity"` // by account
}

// sampleEvery looks at the simulation until ctx ends.
func (s *server) sampleEvery(ctx context.Context, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			s.sample()
		}
	}
}

// sample keeps the present state for the charts, and shows it to the streams.
func (s *server) sample() {
	state := s.sim.State()
	now := sample{At: state.At, Marks: map[string]decimal.NullDecimal{}, Equity: map[string]decimal.NullDecimal{}}
	for _, m := range state.Markets {
		now.Marks[m.Symbol] = m.Price
	}
	for _, a := range state.Accounts {
		now.Equity[a.ID] = a.Equity
	}
	text, err := json.Marshal(state)
	if err != nil {
		return // a state has a JSON form
	}
	s.feed.keep(now, text)
}

// keep keeps a sample. Of several at one moment, of a clock that stands still, it is the
// last.
func (f *feed) keep(now sample, state []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.samples); n > 0 && !now.At.After(f.samples[n-1].At) {
		f.samples = f.samples[:n-1]
	}
	f.samples = append(f.samples[max(0, len(f.samples)-keptSamples+1):], now)
	f.state = state
	f.states++
	f.wake()
}

// history is what a page that has just been opened shows of the time before.
func (s *server) history(w http.ResponseWriter, _ *http.Request) error {
	s.feed.mu.Lock()
	samples, writes := slices.Clone(s.feed.samples), append([]shownWrite{}, s.feed.writes...)
	s.feed.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"samples": samples, "writes": writes})
	return nil
}

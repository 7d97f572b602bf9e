package resolve

import (
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// AsksTwice reports whether nothing is known that a second execution of a write would meet beside what the
// first has: a close also closes what an own entry, a resting order or a run has filled between the two.
func (d *Driver) AsksTwice(w *Write) bool {
	return !w.Traits.Trades || !d.pending.entryBeside(w) && !d.waiting.in(w.Places[0])
}

// SawWaiting notes in which markets of an account something rests or runs, by a read of all of it: each by
// its symbol, which is empty where the service does not show it.
func (d *Driver) SawWaiting(environment spec.Environment, account pending.AccountID, symbols []string, begun time.Time) {
	d.waiting.saw(pending.Place{Environment: environment, Account: account}, symbols, begun, d.without().ReadLag())
}

// entryBeside reports whether an entry that has not ended shows in one of a write's places.
func (r *registry) entryBeside(w *Write) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.around(w.shows()) {
		if other != w && other.Intent.Entry {
			return true
		}
	}
	return false
}

// waiting are the markets in which an order rests, or a run goes on, as far as is known: by a write that
// left it, or by a read. What it has of one is when it was known last.
type waiting struct {
	mu sync.Mutex
	of map[pending.Place]time.Time
}

// left notes that a write has left something.
func (m *waiting) left(w *Write, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of[w.Places[0]] = at
}

func (m *waiting) saw(account pending.Place, symbols []string, begun time.Time, lag time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, known := range m.of {
		same := p.Environment == account.Environment && p.Account == account.Account
		if same && begun.Sub(known) >= lag && !slices.Contains(symbols, p.Symbol) && !slices.Contains(symbols, "") {
			delete(m.of, p)
		}
	}
	for _, symbol := range symbols {
		account.Symbol = symbol
		m.of[account] = begun
	}
}

func (m *waiting) in(p pending.Place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, here := m.of[p]
	p.Symbol = ""
	_, somewhere := m.of[p]
	return here || somewhere
}

package resolve

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// service is a host whose service answers by operation: the next of the answers, and the
// last again and again.
type service struct {
	t       *testing.T
	answers map[string][]ledger.Answer
	keyless error
	look    Look

	mu       sync.Mutex
	asked    []string
	resolved []Resolution
}

func (s *service) Send(_ context.Context, r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Operation)
	next := s.answers[r.Operation]
	require.NotEmpty(s.t, next, r.Operation)
	if len(next) > 1 {
		s.answers[r.Operation] = next[1:]
	}
	a := Answer{Answer: next[0], Body: []byte("{}"), Received: time.Now()}
	if a.Class == ledger.Refusal {
		a.Refusal = errors.New(a.Code)
		a.Err = a.Refusal
	}
	return a
}

func (s *service) Look(context.Context, string, string) (*Look, error) {
	l := s.look
	l.At, l.Ended = time.Now(), time.Now()
	return &l, nil
}

func (s *service) Resolved(r Resolution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resolved = append(s.resolved, r)
}

func (s *service) ReadBaseline(context.Context, string) {}
func (s *service) Levels(context.Context, string, string) (Levels, bool, error) {
	return Levels{}, false, nil
}
func (s *service) SetLevels(context.Context, *Intent, Levels) error { return nil }
func (s *service) Judge(error) Judgment                             { return Judgment{Class: ledger.Refusal} }
func (s *service) Keyless(string) error                             { return s.keyless }
func (s *service) KeyRefused(string) bool                           { return false }
func (s *service) EntriesHeld(bool) string                          { return "" }

const order = "POST /orders"

func refused(status int, code string) ledger.Answer {
	return ledger.Answer{Class: ledger.Refusal, Status: status, Code: code}
}

func replayed(a ledger.Answer) ledger.Answer {
	a.Replayed = true
	return a
}

// An order to which nothing was answered is found out about by fence, probe and looks.
func TestSteps(t *testing.T) {
	success := ledger.Answer{Class: ledger.Success, Status: 200}
	reused := refused(422, codeKeyReused)
	for _, row := range []struct {
		name     string
		answers  map[string][]ledger.Answer
		keyless  error
		outcome  ledger.Outcome
		by       Evidence
		late     bool
		asked    []string
		fastest  time.Duration
		negative string // what the error says where there is no answer
	}{
		{
			name:    "its stored answer",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(success)}},
			outcome: ledger.Applied, by: ByReplay, asked: []string{cancelOrder, cancelOrder, order}, fastest: 5 * time.Second,
		},
		{
			name:    "it ran when it was asked about",
			answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {success}},
			outcome: ledger.Applied, by: ByAnswer, late: true, asked: []string{cancelOrder, cancelOrder, order}, fastest: 5 * time.Second,
		},
		{
			name: "no trace under a key that is spent",
			answers: map[string][]ledger.Answer{
				cancelOrder: {refused(404, codeOrderNotFound), reused}, cancelRun: {refused(404, codeRunNotFound)},
			},
			outcome: ledger.NotApplied, by: ByAccounting, asked: []string{cancelOrder, cancelRun, cancelOrder}, fastest: 10 * time.Second,
			negative: "not executed",
		},
		{name: "without a key nothing is asked", keyless: errors.New("no key"), negative: "no key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{t: t, answers: row.answers, keyless: row.keyless, look: Look{Positions: map[string]accounting.Position{}}}
				closing, cancel := context.WithCancel(t.Context())
				var flights sync.WaitGroup
				d := New(Config{
					Host: s, BaseURL: "here", Closing: closing, ErrClosed: errors.New("closed"), Background: true,
					Kind: func(string) Kind { return Kind{Trades: true} }, IsExclusive: func(string) bool { return true },
					Enter: func() bool { flights.Add(1); return true }, Leave: flights.Done,
				})
				began := time.Now()
				r, known := d.Wait(t.Context(), lost(t, d))
				assert.Equal(t, row.outcome != ledger.Unknown, known)
				assert.Equal(t, row.outcome, r.Outcome)
				assert.Equal(t, row.by, r.Evidence)
				assert.Equal(t, row.late, r.Late)
				assert.Equal(t, row.asked, s.asked)
				assert.GreaterOrEqual(t, time.Since(began), row.fastest)
				if row.negative != "" {
					require.ErrorContains(t, r.Err, row.negative)
				}
				open, err := d.Pending(t.Context())
				require.NoError(t, err)
				assert.Equal(t, known, len(open) == 0)
				assert.Equal(t, known, len(s.resolved) == 1)
				cancel()
				d.Close()
				flights.Wait()
				assert.Equal(t, known, len(d.Leave()) == 0)
			})
		})
	}
}

// lost is an order that was sent once, and not answered.
func lost(t *testing.T, d *Driver) *Write {
	t.Helper()
	w := &Write{
		Intent: Intent{
			ID: "w_1", Key: "key", BaseURL: "here", Operation: order, Environment: "live", Account: "acc_1", Symbol: "BTC",
			Body: []byte(`{"symbol":"BTC","side":"long","size":1}`), Entry: true, Decided: time.Now(), SendTTL: time.Minute,
		},
		Kind: Kind{Trades: true},
		Ledger: ledger.New(ledger.Terms{
			Keyed: true, Entry: true, Resolves: true, Lasting: true, Exclusive: true, TTL: time.Minute, FirstUseKnown: true,
			Decided: d.Clock.Now(), Retry: ledger.Retry{Attempts: 1},
		}),
	}
	d.Own(w, "")
	require.NoError(t, d.Before(t.Context(), w, false))
	d.SendBegins(w)
	d.SendEnded(w, time.Now())
	assert.True(t, d.Heard(w, time.Now(), ledger.Answer{Class: ledger.Silence}, false))
	d.SendingOver(w)
	require.False(t, d.Conclude(w, &Answer{}))
	return w
}

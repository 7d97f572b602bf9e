package resolve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
)

// The operations of the tests.
const (
	order  = "POST /orders"
	limit  = "POST /orders/limit"
	twap   = "POST /orders/twap"
	exit   = "POST /positions/close"
	levels = "POST /positions/tpsl"
	paper  = "POST /sandbox/orders"
)

// service is a host whose service answers by operation: the next of the answers, and the
// last again and again. Where it has none, nothing answers.
type service struct {
	answers map[string][]ledger.Answer
	handle  func(Request) ledger.Answer // in their place
	keys    func(Request) ledger.Answer // of a calibration; nil for one namespace
	body    string                      // of a success
	refusal string                      // the body of one
	look    func() (AccountLook, error)
	keyless error
	apiKey  string // that requests go with
	noPlace error  // for a request
	held    func(exiting bool) string
	judge   func(error) Judgment
	has     []Levels // of the position, read by read
	noRead  error    // of its levels
	cannot  error    // set them
	onAsk   func(operation string)
	orders  func() // are read
	trades  func() // are read

	turns    atomic.Int64 // of the drivers
	mu       sync.Mutex
	began    time.Time
	asked    []string
	at       []time.Duration // when
	sent     []Request
	resolved []Found
	set      []Levels
}

// change changes what a service does while its driver is at work.
func (s *service) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// now returns what the service does at the moment.
func now[T any](s *service, is func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return is()
}

func (s *service) note(operation string) {
	if onAsk := now(s, func() func(string) { return s.onAsk }); onAsk != nil {
		onAsk(operation)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.asked, s.at = append(s.asked, operation), append(s.at, time.Since(s.began))
}

func (s *service) Prepare(_ context.Context, r Request) (Prepared, error) {
	if err := now(s, func() error { return s.noPlace }); err != nil {
		return nil, err
	}
	return prepared{s, r}, nil
}

type prepared struct {
	*service
	Request
}

func (prepared) Drop() {}

func (p prepared) APIKey() string { return now(p.service, func() string { return p.apiKey }) }

func (p prepared) Send(ctx context.Context, gate transport.Gate) Response {
	s, r := p.service, p.Request
	if gate != nil {
		if err := gate.MayLeave(); err != nil {
			return Response{Answer: unsent, Key: r.Key, Received: time.Now(), Err: err}
		}
	}
	a := Response{Answer: silence, Key: r.Key, Received: time.Now(), Err: errNoAnswer}
	of := uuid.Validate(string(r.Key)) == nil // a calibration, whose key is fresh
	if !of || s.handle != nil {
		s.note(string(r.Operation))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, r)
	switch {
	case s.handle != nil:
		a.Answer = s.handle(r)
	case of && s.keys != nil:
		a.Answer = s.keys(r)
	case of:
		a.Answer = oneNamespace(r)
	}
	if next := s.answers[string(r.Operation)]; s.handle == nil && !of && len(next) > 0 && ctx.Err() == nil {
		a.Answer = next[0]
		s.answers[string(r.Operation)] = next[min(1, len(next)-1):]
	}
	switch a.Class {
	case ledger.Success:
		a.Body, a.Err = []byte(s.body), nil
	case ledger.Refusal:
		a.Body, a.Refusal = []byte(s.refusal), errors.New(a.Code)
		a.Err = a.Refusal
	}
	return a
}

func (s *service) Read(_ context.Context, _ books.AccountKey, of List, awaited bool) (*AccountLook, error) {
	switch {
	case of == ListPositions:
		s.note("levels")
		if len(s.has) == 0 {
			return &AccountLook{}, s.noRead
		}
		has := s.has[0]
		s.has = s.has[min(1, len(s.has)-1):]
		return &AccountLook{Levels: map[string]Levels{"BTC": has}}, s.noRead
	case of == ListOrders:
		if s.note("orders"); s.orders != nil {
			s.orders()
		}
		return &AccountLook{}, nil
	case of == ListTrades:
		if s.note("trades"); s.trades != nil {
			s.trades()
		}
		return &AccountLook{}, nil
	case awaited:
		s.note("baseline")
		return &AccountLook{}, nil
	}
	s.note("look")
	began, l, err := time.Now(), AccountLook{}, error(nil)
	if look := now(s, func() func() (AccountLook, error) { return s.look }); look != nil {
		l, err = look()
	}
	l.At, l.Ended = began, time.Now()
	return &l, err
}

func (s *service) Resolved(r Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resolved = append(s.resolved, r)
}

func (s *service) SetLevels(_ context.Context, _ *pending.Intent, wanted Levels) error {
	s.note("set levels")
	s.set = append(s.set, wanted)
	return s.cannot
}

func (s *service) Judge(err error) Judgment {
	if s.judge != nil {
		return s.judge(err)
	}
	return Judgment{Class: ledger.Silence}
}

// Keyless is asked once a turn. It stops a driver that spins: virtual time has no end.
func (s *service) Keyless(spec.Environment) error {
	if s.turns.Add(1) > mostTurns {
		panic("the driver spins")
	}
	return now(s, func() error { return s.keyless })
}

func (s *service) EntriesHeld(exiting bool) (why string, again time.Duration) {
	return now(s, func() string {
		if s.held == nil {
			return ""
		}
		return s.held(exiting)
	}), AskLater
}

// mostTurns is more than any test needs.
const mostTurns = 5_000

// client returns the driver of a client, which the test's end closes.
func client(t *testing.T, s *service, change ...func(*Config)) *Driver {
	t.Helper()
	life := NewLife()
	c := Config{
		Host: s, BaseURL: "here", Life: life, Background: true, Baselines: 100,
		IsExclusive: func(pending.AccountID) bool { return true }, WithoutBaseline: true, Without: nothing,
		Others: func(pending.AccountID, string) {}, NewJournal: func() {}, Unwritten: func(_ *pending.Intent, err error) { t.Errorf("not written: %v", err) },
	}
	for _, change := range change {
		change(&c)
	}
	d := New(c)
	closes.Store(d, func() {
		life.End()
		life.Wait()
	})
	t.Cleanup(func() { shut(d) })
	return d
}

// closes are what closes each driver.
var closes sync.Map

// shut closes a client, and returns the writes that it leaves.
func shut(d *Driver) []pending.IntentID {
	if end, open := closes.LoadAndDelete(d); open {
		end.(func())()
		return d.Leave()
	}
	return nil
}

var (
	errNoAnswer = errors.New("no answer")
)

var (
	silence  = ledger.Answer{Class: ledger.Silence}
	unsent   = ledger.Answer{Class: ledger.Unsent}
	success  = ledger.Answer{Class: ledger.Success, Status: 200}
	reused   = refused(422, codeKeyReused)
	noOrder  = refused(404, codeOrderNotFound)
	noRun    = refused(404, codeRunNotFound)
	tooSmall = refused(400, "MIN_NOTIONAL")
	partWay  = ledger.Answer{Class: ledger.Refusal, Status: 409, Code: "idempotency_result_unknown"}
)

func refused(status int, code string) ledger.Answer {
	return ledger.Answer{Class: ledger.Refusal, Status: status, Code: code, Says: ledger.NotApplied}
}

func replayed(a ledger.Answer) ledger.Answer {
	a.Replayed = true
	return a
}

// newWrite is a write that has been decided.
func newWrite(d *Driver, id, operation string, change ...func(*OpenWrite)) *OpenWrite {
	live, entry := operation != paper, operation != exit && operation != levels
	w := &OpenWrite{
		Traits: TraitsOf(spec.Find(spec.Operation(operation))),
		Intent: pending.Intent{
			ID: pending.IntentID(id), BaseURL: d.cfg.BaseURL, Operation: spec.Operation(operation), Environment: "live", Account: "acc_1", Symbol: "BTC",
			Body: []byte(`{"symbol":"BTC","side":"long","size":1}`), Entry: entry, Decided: time.Now(), SendTTL: time.Minute,
		},
		Ledger: ledger.Ledger{Terms: ledger.Terms{
			Keyed: live, Entry: entry, Resolves: true, Lasting: !TraitsOf(spec.Find(spec.Operation(operation))).Waits, Exclusive: true, TTL: time.Minute, FirstUseKnown: true,
			Decided: d.Clocks.Now(), Retry: ledger.Bounds{Attempts: 4, PriceAttempts: 4, MinWait: 100 * time.Millisecond, MaxWait: time.Second},
		}},
	}
	if !live {
		w.Intent.Environment, w.Intent.Account = "sandbox", ""
	} else {
		w.SetKey(Try{pending.Key("key of " + id), 0})
	}
	for _, change := range change {
		change(w)
	}
	w.Ledger = ledger.New(w.Ledger.Terms)
	return w
}

// named gives a write a client order id.
func named(name string) func(*OpenWrite) {
	return func(w *OpenWrite) { w.Intent.ClientOrderID = name }
}

// send has a call send a write, as long as the ledger sends and there are answers, and
// conclude it. An entry that the journal does not take is not sent; an exit is.
func send(t *testing.T, d *Driver, w *OpenWrite, answers ...ledger.Answer) (concluded bool, err error) {
	t.Helper()
	d.Own(w, w.Intent.ClientOrderID)
	if w.Name != "" {
		taker, _, err := d.Take(t.Context(), w)
		require.NoError(t, err)
		require.Nil(t, taker)
	}
	last, doubted := Response{Answer: unsent, Key: w.Try().Key}, false
	for i, said := range answers {
		if err = d.Before(t.Context(), w, i > 0); err != nil {
			if w.Intent.Entry {
				break
			}
			d.Missing(w, err)
			err = nil
		}
		d.SendBegins(w)
		last = Response{Answer: said, Key: w.Try().Key, Received: time.Now()}
		if said.Class == ledger.Refusal {
			last.Refusal = errors.New(said.Code)
		}
		doubted = d.Heard(w, time.Now(), said, doubted) || doubted
		wait, _, more := d.NextSend(w)
		if !more {
			break
		}
		time.Sleep(wait)
		if d.WantsKey(w) {
			d.ChangeKey(w, w.Try().Key+"'")
		}
	}
	d.SendingOver(context.Background(), w, 0)
	return d.Conclude(w, &last), err
}

// lost is a write that was sent once, and not answered.
func lost(t *testing.T, d *Driver, id, operation string, change ...func(*OpenWrite)) *OpenWrite {
	t.Helper()
	once := func(w *OpenWrite) { w.Ledger.Retry.Attempts = 1 }
	w := newWrite(d, id, operation, append(change, once)...)
	concluded, err := send(t, d, w, silence)
	require.NoError(t, err)
	require.False(t, concluded)
	return w
}

// asks are the first letters of what a service was asked, to be short.
func (s *service) asks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	short := strings.NewReplacer("POST /orders/cancel", "fence", "POST /runs/cancel", "calibrate", "POST ", "")
	return short.Replace(strings.Join(s.asked, ", "))
}

// nothing is what is not relied on of a service of which nothing is known.
func nothing() (none ledger.Without) { return none }

// notDeclared: others may trade the accounts.
func notDeclared(c *Config) { c.IsExclusive = func(pending.AccountID) bool { return false } }

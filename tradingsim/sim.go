package tradingsim

import (
	_ "embed"
	"errors"
	"net/http"
	"sync"
	"time"
)

//go:embed openapi.json
var description []byte

// Sim is a simulated service. It is safe for concurrent use.
type Sim struct {
	settings
	routes     routes
	targets    targets
	caps       caps
	pro        ProLimits
	paperTerms terms
	pace       *pace // nil where answers take no time

	choosing sync.Mutex
	choose   func(operation string) Fault

	mu   sync.Mutex
	url  string
	skew time.Duration // how far the service's clock is from the bot's

	longestLag time.Duration // of any read so far
	server     *http.Server
	served     chan struct{} // closed when the server has ended
	now        time.Time     // the time of what is being done
	date       httpDate      // that time as a header has it
	closed     bool
	markets    map[string]*market
	symbols    []string // in the order they were added
	keys       map[string]*apiKey
	denied     bool // the holder's access is withdrawn
	failed     map[string]*window
	desks      map[string]*desk
	papers     int // paper accounts so far
	health     health

	accounts   map[string]*account
	accountIDs []string  // in the order they were added
	orders     int       // resting orders so far
	runs       int       // Pro runs so far
	ticked     time.Time // the last look of the live engine at the market
	classes    map[string]*window
	claims     map[string]*claim
	swept      time.Time

	faults map[string][]*fault
	late   []*lateCall
	ledger []Execution
	log    requestLog

	watchers   []*watcher
	logErr     error // the first that the log met
	began      time.Time
	sampleAt   time.Time // the next sample of every account
	samples    int64     // since the beginning
	strays     int       // requests of no operation
	refusals   map[string]int
	unanswered int
}

// offlineURL is what an in-process simulation answers to. The name resolves
// nowhere, so a client without [Sim.Transport] cannot reach anything by it.
const offlineURL = "https://tradingsim.invalid/v1"

// New makes a simulation in process: reach it through [Sim.Transport]. It has
// no socket and no goroutine, and runs in a synctest bubble.
func New(opts ...Option) *Sim {
	c := newConfig(opts)
	s := &Sim{
		settings: c.settings,
		pace:     newPace(c),
		routes:   newRoutes(),
		skew:     c.skew,
		caps:     newCaps(c.caps),
		pro:      c.pro.withDefaults(),
		url:      offlineURL,
		markets:  map[string]*market{},
		keys:     map[string]*apiKey{},
		failed:   map[string]*window{},
		desks:    map[string]*desk{},
		accounts: map[string]*account{},
		classes:  map[string]*window{},
		claims:   map[string]*claim{},
		faults:   map[string][]*fault{},
		log:      requestLog{size: c.requestsLog},
		health:   health{status: "healthy", feed: "live"},
		refusals: map[string]int{},
	}
	if c.sandbox.Balance == "" {
		c.sandbox.Balance = c.balance
	}
	s.paperTerms = newTerms(c.sandbox.Balance, c.sandbox.DailyLossFloor,
		c.sandbox.GlobalLossFloor, c.sandbox.ProfitTarget, c.sandbox.ProfitSplit)
	s.now = s.time()
	s.setLag("*", c.lag)
	s.ticked, s.swept, s.began = s.now, s.now, s.now
	s.samples, s.sampleAt = 1, s.now.Add(s.sampling)
	if len(c.markets) == 0 {
		c.markets = defaultMarkets
	}
	for _, m := range c.markets {
		s.putMarket(m)
	}
	for symbol, f := range c.feeds {
		if a, ok := f.(anchored); ok {
			f = a.startAt(s.now)
		}
		s.markets[symbol].feed = f
	}
	if len(c.accounts) == 0 {
		c.accounts = []Account{{ID: "acc_1"}}
	}
	for _, a := range c.accounts {
		s.addAccount(a, c.balance)
	}
	if c.logTo != nil {
		s.logTo(c.logTo)
	}
	s.planFunding(c.funding)
	s.addKey(sandboxEnv)
	s.addKey(liveEnv)
	return s
}

// time is the service's clock.
func (s *Sim) time() time.Time { return s.clock.now().Add(s.skew) }

// enter locks the simulation and brings it up to the present.
func (s *Sim) enter() {
	s.mu.Lock()
	s.advance(s.time())
}

func (s *Sim) leave() { s.mu.Unlock() }

// advance does what was due until t. Time never runs backwards here, whatever
// the clock does.
func (s *Sim) advance(t time.Time) {
	if len(s.late) == 0 && t.Equal(s.now) {
		return // all was done when it was reached
	}
	for len(s.late) > 0 && !s.late[0].due.After(t) {
		l := s.late[0]
		s.late = s.late[1:]
		s.progressTo(l.due)
		l.run()
	}
	s.progressTo(t)
}

func (s *Sim) moveTo(t time.Time) {
	if t.After(s.now) {
		s.sampleTo(t)
		s.now = t
	}
}

var errClosed = errors.New("tradingsim: the simulation is closed")

// Close ends the simulation: it answers nothing any more.
func (s *Sim) Close() error {
	s.mu.Lock()
	s.closed = true
	server, served := s.server, s.served
	s.server = nil
	s.mu.Unlock()
	var err error
	if server != nil {
		err = server.Close()
		<-served
	}
	return errors.Join(err, s.logError())
}

// URL is the versioned root of the simulated API; it ends in /v1.
func (s *Sim) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

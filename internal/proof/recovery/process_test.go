package recovery

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

const account = trading.AccountID("acc_1")

// process is one run of the bot: the README's own sample, with a journal, which reads
// nothing by itself.
type process struct {
	*trading.Client
	*rig.Witness
	wire    *wire
	journal journal.Store

	mu   sync.Mutex
	ends []trading.Resolution
	at   []time.Time // of each
}

// resolved are the writes that came into doubt and out of it.
func (p *process) resolved() []trading.Resolution {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ends)
}

// endedAt is when a write came out of doubt.
func (p *process) endedAt(i int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at[i]
}

// firstJournal is a journal that the first run of a bot has made.
type firstJournal struct{ journal.Store }

// New is that of [journal.Log].
func (firstJournal) New() bool { return true }

func newJournal() journal.Store { return firstJournal{journal.NewMemory()} }

// start begins a run on a journal.
func start(t *testing.T, sim *tradingsim.Sim, j journal.Store, exclusive bool, more ...trading.Option) *process {
	w, heard := rig.Hears(t, sim)
	p := &process{Witness: w, journal: j, wire: &wire{next: sim.Transport()}}
	opts := []trading.Option{heard, trading.WithJournal(j), trading.WithTransport(p.wire), trading.WithHooks(trading.Hooks{
		Resolved: func(_ context.Context, r trading.Resolution) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.ends, p.at = append(p.ends, r), append(p.at, time.Now())
		},
	})}
	if exclusive {
		opts = append(opts, trading.WithExclusiveAccounts(account))
	}
	p.Client = tradingtest.Client(t, sim, append(opts, more...)...)
	return p
}

func (p *process) account() *trading.Account { return p.Live.Account(account) }

// kill ends a run as SIGKILL does: it sends nothing any more, and what it still writes
// goes to a journal that nobody reads. It returns the journal as the next run has it.
func (p *process) kill(t *testing.T) journal.Store {
	p.wire.cut()
	left := reopen(t, p.journal)
	_ = p.Close() // whose error lists what is pending
	return left
}

// reopen copies a journal as a new process sees it.
func reopen(t *testing.T, from journal.Store) journal.Store {
	to := journal.NewMemory()
	for h, err := range from.Pending(t.Context()) {
		require.NoError(t, err)
		for _, data := range h.Records {
			require.NoError(t, to.Append(t.Context(), true, journal.Record{Intent: h.Intent, Name: h.Name, Data: data}))
		}
	}
	return to
}

// wire is the connection of one process.
type wire struct {
	next http.RoundTripper

	mu    sync.Mutex
	dead  bool
	takes time.Duration // the write takes, until it hears what came of it, and all else half of that

	target string // the path of the write that is watched, once
	drop   bool   // it does not leave
	hold   bool   // its answer does not come back
	begun  chan struct{}
	ended  chan struct{}
}

var errCut = errors.New("the process is gone")

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
}

// watch waits for the next request to a path: begun is closed before it leaves, ended
// when its answer is there. With drop it does not leave, with hold the process does not
// hear the answer.
func (w *wire) watch(path string, drop, hold bool) (begun, ended chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target, w.drop, w.hold = path, drop, hold
	w.begun, w.ended = make(chan struct{}), make(chan struct{})
	return w.begun, w.ended
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	dead, watched, drop, hold := w.dead, w.target != "" && r.URL.Path == "/v1"+w.target, w.drop, w.hold
	begun, ended := w.begun, w.ended
	if watched {
		w.target = ""
	}
	w.mu.Unlock()
	if dead {
		return nil, errCut
	}
	if !watched {
		response, err := w.next.RoundTrip(r)
		time.Sleep(w.takes / 2)
		return response, err
	}
	close(begun)
	if drop {
		<-r.Context().Done()
		return nil, errCut
	}
	response, err := w.next.RoundTrip(r)
	time.Sleep(w.takes)
	close(ended)
	if hold {
		<-r.Context().Done()
	}
	return response, err
}

// aLittle is shorter than any wait of the client's.
const aLittle = time.Millisecond

// ended holds that nothing is in doubt.
func (p *process) ended(t *testing.T, when string) {
	left, err := p.Pending(t.Context())
	require.NoError(t, err)
	o := rig.Oracle{Problem: t.Errorf}
	o.Ended(when, left)
}

package control

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go/tradingsim"
)

const (
	keptEvents = 4096
	keptWrites = 100
	// maxEventBody bounds a body in an event: GET requests has the whole.
	maxEventBody = 4 << 10
)

// event is what a stream sends.
type event struct {
	number int64
	name   string
	data   []byte
}

// feed keeps the latest events for the streams. It is named anew with each start, so that
// a stream of an earlier one does not resume in it.
type feed struct {
	name string

	mu      sync.Mutex
	events  []event // in their order, without a gap
	last    int64
	state   []byte // the latest state, for the streams
	states  int64
	writes  []shownWrite
	samples []sample
	ledger  int64         // the ID of the latest execution
	changed chan struct{} // closed and replaced with every change
}

func newFeed(name string) *feed { return &feed{name: name, changed: make(chan struct{})} }

// watch takes an event of the simulation, in the middle of a request.
func (f *feed) watch(e tradingsim.Event) {
	if e.Change != nil {
		return // the state shows it
	}
	var shown any = e.Execution
	if e.Request != nil {
		shown = shorter(e.Request)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Execution != nil {
		f.ledger = e.Execution.ID
	}
	f.add(string(e.Kind), shown)
}

// shorter is a request with what the page shows of it.
func shorter(r *tradingsim.Request) *tradingsim.Request {
	short := *r
	short.Header = http.Header{}
	for _, name := range []string{"Idempotency-Key", "User-Agent"} {
		if values := r.Header[name]; len(values) > 0 {
			short.Header[name] = values
		}
	}
	short.Body = short.Body[:min(len(short.Body), maxEventBody)]
	return &short
}

// shownWrite is a write of a bot, and the last execution before the write was shown: what it
// did comes after that one. No clock is needed to find it.
type shownWrite struct {
	Write
	After int64 `json:"after"`
}

// show takes a write of a bot.
func (f *feed) show(w Write) {
	w.Steps = slices.Clone(w.Steps)
	f.mu.Lock()
	defer f.mu.Unlock()
	shown := shownWrite{w, f.ledger}
	i := slices.IndexFunc(f.writes, func(known shownWrite) bool { return known.ID == w.ID })
	if i >= 0 {
		shown.After = f.writes[i].After
		f.writes[i] = shown
	} else {
		f.writes = append(f.writes[max(0, len(f.writes)-keptWrites+1):], shown)
	}
	f.add("write", shown)
}

func (f *feed) add(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return // nothing of this package lacks a JSON form
	}
	f.last++
	if len(f.events) == 2*keptEvents { // moved now and then, and not each time
		f.events = slices.Clone(f.events[keptEvents:])
	}
	f.events = append(f.events, event{f.last, name, text})
	f.wake()
}

func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// position is how far a stream has come.
type position struct {
	event int64
	state int64
}

// next is what a stream has not had. ok is false where some of it is kept no longer.
func (f *feed) next(p *position) (events []event, state []byte, changed <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.last - int64(len(f.events)) + 1
	ok = p.event+1 >= first && p.event <= f.last
	if ok {
		events = slices.Clone(f.events[p.event+1-first:])
	}
	if p.state != f.states {
		state = f.state
	}
	p.event, p.state = f.last, f.states
	return events, state, f.changed, ok
}

// id is what a stream resumes by.
func (f *feed) id(number int64) string { return f.name + "-" + strconv.FormatInt(number, 10) }

// parseID reads an id of this feed.
func (f *feed) parseID(id string) (number int64, ok bool) {
	text, ok := strings.CutPrefix(id, f.name+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return number, err == nil && number >= 0
}

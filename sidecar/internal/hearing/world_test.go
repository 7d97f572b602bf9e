package hearing

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// told is what an answer says.
type told uint8

const (
	nothing told = iota // "the outcome is not known"
	applied
	notApplied
)

// sent is a request of the bot's on its way.
type sent struct {
	write  Write
	want   int    // which of the bot's orders it is for
	joined string // the write whose answer it waits for
	gone   bool   // the bot has closed the connection
	behind bool   // the bot has gone on, and left the call running
	said   bool   // the answer is written
	says   told
	of     int // the order whose execution the answer tells of
	heard  bool
	killed bool
}

// execution is an order that the service has carried out.
type execution struct {
	want   int
	fills  int // the order of the bot's that it counts for: what runs after a close is one too many beside the next
	at     time.Time
	closed bool
}

// fact is what the sidecar's file holds of a write.
type fact struct {
	write   Write
	want    int
	outcome Outcome
	heard   bool
}

type world struct {
	now      time.Time
	book     *Book
	file     []fact
	requests []*sent
	executed []execution
	keys     map[string]Outcome // of the service: its stored answers
	want     int                // the bot's present order
	since    int                // its first after the last close
	tries    int
	closes   int
	kills    int
	trail    []string
	leave    string
	names    bool // the bot names what it has heard with each order
}

var t0 = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

var market = Place{"bot", "acc_1", "BTC"}

func (w *world) clone() *world {
	c := *w
	c.book = w.book.clone()
	c.file = slices.Clone(w.file)
	c.executed = slices.Clone(w.executed)
	c.trail = slices.Clone(w.trail)
	c.keys = make(map[string]Outcome, len(w.keys))
	for k, v := range w.keys {
		c.keys[k] = v
	}
	c.requests = make([]*sent, len(w.requests))
	for i, r := range w.requests {
		copied := *r
		c.requests[i] = &copied
	}
	return &c
}

func (b *Book) clone() *Book {
	c := &Book{}
	for p, there := range b.of {
		if c.of == nil {
			c.of = map[Place][]*open{}
		}
		for _, o := range there {
			copied := *o
			c.of[p] = append(c.of[p], &copied)
		}
	}
	return c
}

func (w *world) find(id string) *sent {
	for _, r := range w.requests {
		if r.write.ID == id {
			return r
		}
	}
	return nil
}

// socketHeard is what the sidecar sees of a connection: the answer has arrived, and the bot has
// not closed before it read. Whether anybody goes by it cannot be seen.
func (w *world) socketHeard(id string) bool {
	if w.leave == "not heard" {
		return true
	}
	for _, r := range w.requests {
		if w.leave != "heard" && (r.write.ID == id || r.joined == id) && r.said && !r.killed && r.says == applied && (r.heard || !r.gone) {
			return true
		}
	}
	return false
}

// live is the bot's request that it waits for; nil if there is none.
func (w *world) live() *sent {
	for _, r := range w.requests {
		if !r.gone && !r.behind && !r.heard && !r.killed {
			return r
		}
	}
	return nil
}

// step is something that can happen.
type step struct {
	name string
	do   func(*world) string // what is wrong afterwards
}

// steps are what can happen now.
func (w *world) steps() (all []step) {
	add := func(name string, do func(*world) string) { all = append(all, step{name, do}) }
	live := w.live()
	goesOn, leaving := live == nil, live != nil && !live.said
	act := func(name string, do func(*world) string) {
		if goesOn {
			add(name, do)
		} else if leaving {
			add("leave it running, "+name, func(w *world) string { w.live().behind = true; return do(w) })
		}
	}
	if w.tries < 3 {
		for _, mode := range []string{"same key", "new key", "no key", "changed"} {
			other := leaving && live.joined == "" && (mode == "changed" || live.write.Digest != "order")
			if mode == "same key" && w.tries == 0 || other {
				continue // another order while one runs, and nothing was read between, is one beside it
			}
			act("send, "+mode, func(w *world) string { return w.send(mode) })
		}
	}
	if w.tries > 0 && w.closes == 0 {
		act("close", (*world).close)
	}
	if live != nil && live.said {
		add("hear", func(w *world) string { return w.hear(w.live()) })
	}
	if live != nil && live.joined == "" {
		add("time out", func(w *world) string { w.timeOut(w.live()); return "" })
	} else if live != nil {
		add("time out", func(w *world) string { w.live().gone = true; return "" })
	}
	for i, r := range w.requests {
		if r.joined != "" || r.said || r.write.Kind != Entry {
			continue
		}
		if r.killed && w.fateKnown(r) {
			continue
		}
		for _, end := range []string{"executes", "refuses"} {
			if end == "refuses" && r.killed {
				continue // the worst is that it runs
			}
			add(fmt.Sprintf("service %s %s", end, r.write.ID), func(w *world) string { return w.finish(w.requests[i], end) })
		}
	}
	if w.kills < 1 && len(w.requests) > 0 {
		add("kill", func(w *world) string { w.kill(); return "" })
	}
	if w.tries > 0 {
		act("read, lagging", func(w *world) string { return w.read(4*time.Second, nil) })
		act("read", func(w *world) string { return w.read(0, nil) })
		for i, r := range w.requests {
			if r.joined == "" && !r.said && !r.killed && r.write.Kind == Entry {
				act("read, and before it is answered the service executes "+r.write.ID, func(w *world) string { return w.read(0, w.requests[i]) })
			}
		}
	}
	add("6 s", func(w *world) string { w.now = w.now.Add(6 * time.Second); return "" })
	add("61 s", func(w *world) string { w.now = w.now.Add(61 * time.Second); return "" })
	return all
}

func (w *world) fateKnown(r *sent) bool {
	for _, f := range w.file {
		if f.write.ID == r.write.ID {
			return f.outcome != Unknown
		}
	}
	return true
}

func (w *world) send(mode string) string {
	w.tries++
	r := &sent{want: w.want, write: Write{ID: fmt.Sprintf("w%d", len(w.requests)+1), Place: market, Kind: Entry, Digest: "order"}}
	switch mode {
	case "same key":
		r.write.Key = fmt.Sprintf("key %d", w.want)
	case "new key":
		r.write.Key = fmt.Sprintf("key %d of %d", w.tries, w.want)
		if w.tries == 1 {
			r.write.Key = fmt.Sprintf("key %d", w.want)
		}
	case "changed":
		r.write.Digest = fmt.Sprintf("order %d", w.tries)
	}
	for _, of := range w.requests {
		if w.names && of.heard && of.says == applied || w.leave == "named" {
			w.note(cmp.Or(of.joined, of.write.ID), w.book.Named)
		}
	}
	w.requests = append(w.requests, r)
	return w.arrive(r)
}

func (w *world) arrive(r *sent) string {
	v, other := w.book.Arrive(r.write, w.now, w.socketHeard)
	w.trail = append(w.trail, fmt.Sprintf("    %s: %s %s", r.write.ID, [...]string{"carried out", "joins", "held by"}[v], other))
	switch v {
	case Join:
		r.joined = other
		if o := w.find(other); o.said {
			r.said, r.says, r.of = true, o.says, o.want
		}
	case Hold:
		r.said, r.says = true, nothing
		if !slices.ContainsFunc(w.requests, func(o *sent) bool { return o != r && !o.heard }) && w.kills == 0 {
			return "an entry is held, and its bot has heard everything"
		}
	default:
		w.file = append(w.file, fact{write: r.write, want: r.want})
	}
	return ""
}

func (w *world) timeOut(r *sent) {
	r.gone = true
	w.left(r)
}

func (w *world) left(r *sent) {
	if w.leave != "left" {
		w.book.Left(market, r.write.ID, w.now)
	}
}

// known is what the sidecar makes of a write that has come to an end.
func (w *world) known(r *sent, outcome Outcome) {
	w.book.Known(market, r.write.ID, outcome, w.now)
}

// finish is the end of a request at the service, and its answer.
func (w *world) finish(r *sent, end string) string {
	outcome := NotApplied
	if end == "executes" {
		outcome = Applied
	}
	if stored, is := w.keys[r.write.Key]; is {
		outcome = stored // repeated
	} else if outcome == Applied {
		w.executed = append(w.executed, execution{want: r.want, fills: max(r.want, w.since), at: w.now})
	}
	if r.write.Key != "" {
		w.keys[r.write.Key] = outcome
	}
	for i := range w.file {
		if w.file[i].write.ID == r.write.ID {
			w.file[i].outcome = outcome
		}
	}
	if r.killed { // nobody hears; the sidecar that started again finds out
		w.known(r, outcome)
		return w.twice()
	}
	r.said, r.says, r.of = true, applied, r.want
	if outcome == NotApplied {
		r.says = notApplied
	}
	w.known(r, outcome)
	w.left(r)
	w.book.Answered(market, r.write.ID)
	took := r.behind // the connection does, and the sidecar may see it at once
	for _, j := range w.requests {
		if j.joined != r.write.ID || j.said {
			continue
		}
		if outcome == NotApplied {
			j.said, j.says = true, notApplied
			continue
		}
		j.said, j.says, j.of = true, applied, r.want
		took = took || j.behind
	}
	if took {
		w.note(r.write.ID, w.book.Heard)
	}
	return w.twice()
}

// note is what the sidecar makes of it that a connection took an answer, or that its bot names it.
func (w *world) note(id string, closes func(Place, string) bool) {
	if w.leave == "heard" || !w.socketHeard(id) || !closes(market, id) && w.leave != "noted" {
		return
	}
	for i := range w.file {
		w.file[i].heard = w.file[i].heard || w.file[i].write.ID == id
	}
}

func (w *world) twice() string {
	n := map[int]int{}
	for _, e := range w.executed {
		if e.closed {
			continue
		}
		if n[e.fills]++; n[e.fills] > 1 {
			return "the order ran twice"
		}
	}
	return ""
}

func (w *world) ran(want int) bool {
	return slices.ContainsFunc(w.executed, func(e execution) bool { return e.want == want })
}

// hear has the bot read its answer.
func (w *world) hear(r *sent) string {
	r.heard = true
	if r.write.Kind != Entry {
		w.next() // it is out, and begins anew
		w.since = w.want
		for i := range w.executed {
			w.executed[i].closed = true
		}
		return ""
	}
	switch r.says {
	case applied:
		if r.of != w.want {
			return "an answer of an earlier order was taken for this one's"
		}
		if !w.ran(w.want) {
			return "an answer says that the order ran, and it did not"
		}
		w.note(cmp.Or(r.joined, r.write.ID), w.book.Heard)
		w.next()
	case notApplied:
		if w.ran(w.want) {
			return "an answer says that the order did not run, and it did"
		}
	}
	return ""
}

// next has the bot want another order.
func (w *world) next() { w.want, w.tries = w.want+1, 0 }

// close closes everything, is answered and heard.
func (w *world) close() string {
	r := &sent{want: w.want, write: Write{ID: fmt.Sprintf("w%d", len(w.requests)+1), Place: market, Kind: Close, Digest: "close"}}
	if w.leave == "closes" {
		r.write.Kind = Exit
	}
	w.requests, w.closes = append(w.requests, r), w.closes+1
	v, _ := w.book.Arrive(r.write, w.now, w.socketHeard)
	if v != Carry {
		return "an exit was not carried out"
	}
	w.known(r, Applied)
	w.left(r)
	if w.leave != "answered" {
		w.book.Answered(market, r.write.ID)
	}
	r.said, r.says = true, applied
	return w.hear(r)
}

// read is a read of the account that lags behind, and is heard. A request may be executed after it
// began, which it does not show.
func (w *world) read(lag time.Duration, meanwhile *sent) (wrong string) {
	shows := slices.ContainsFunc(w.executed, func(e execution) bool {
		return e.fills == w.want && !e.closed && !e.at.After(w.now.Add(-lag))
	})
	began := w.now
	if w.leave == "lag" {
		began = began.Add(Lag)
	}
	if w.leave != "goes on" && w.leave != "late" {
		w.book.GoesOn("bot", "acc_1")
	}
	if meanwhile != nil {
		wrong = w.finish(meanwhile, "executes")
	}
	if w.leave == "late" {
		w.book.GoesOn("bot", "acc_1")
	}
	if w.leave != "read" || !shows {
		w.book.Read("bot", "acc_1", Positions, began)
	}
	if shows {
		w.next()
	}
	return wrong
}

// kill is SIGKILL, and a start from the file.
func (w *world) kill() {
	w.kills++
	for _, r := range w.requests {
		if !r.heard {
			r.killed = true
		}
	}
	w.book = &Book{}
	for _, f := range w.file {
		if !f.heard && w.leave != "file" {
			w.book.Restore(f.write, f.outcome, w.now)
		}
	}
}

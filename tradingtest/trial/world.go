package trial

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// slot is a market of an account.
type slot struct{ account, symbol string }

// holding is what is held in one, from flat to flat.
type holding struct {
	size   decimal.Decimal // less than zero is short
	copied decimal.Decimal // by faults
	opened time.Duration   // by world.lived, when it was opened
	bare   time.Duration   // and since when it has no stop
	stop   bool
}

// world is the run as it stands at a moment.
type world struct {
	Manifest
	now       time.Time
	late      time.Duration // how late the machine was: no deadline is sharper
	held      map[slot]*holding
	price     map[string]decimal.Decimal
	keys      map[string]*request   // the first under each
	recent    map[string][]*request // the latest entries that filled, of each market
	entries   int
	unhealthy time.Time // since when; zero while healthy
	flat      time.Time // since when; zero while anything is held
	open      time.Time // since when anything is held
	started   time.Time // the present life
	dead      bool
	part      bool // of it lives on while it is dead
	kills     int
	lived     time.Duration // how long bot and service lived, together
}

func newWorld(m Manifest, points []point) *world {
	w := &world{
		Manifest: m, held: map[slot]*holding{}, price: map[string]decimal.Decimal{},
		keys: map[string]*request{}, recent: map[string][]*request{},
	}
	if len(points) > 0 {
		w.now, w.started, w.flat = points[0].at, points[0].at, points[0].at
	}
	for _, p := range points {
		if p.kind == tradingsim.EventLate {
			d, _ := time.ParseDuration(p.c.Value) // what cannot be read is none
			w.late = max(w.late, min(d, maxPeriod))
		}
	}
	return w
}

// see brings the world up to a moment. What a request adds is added after it was judged.
func (w *world) see(p point) {
	if !w.dead && w.unhealthy.IsZero() {
		w.lived += p.at.Sub(w.now)
	}
	w.now = p.at
	switch {
	case p.kind == tradingsim.EventExecution:
		w.execute(p)
	case p.kind == tradingsim.EventHealth && p.c.Value == "healthy":
		w.unhealthy = time.Time{}
	case p.kind == tradingsim.EventHealth && w.unhealthy.IsZero():
		w.unhealthy = p.at
	case p.kind == tradingsim.EventPrice:
		if d, err := decimal.NewFromString(p.c.Value); err == nil && plain(d) {
			w.price[p.c.Symbol] = d
		}
	case p.kind == tradingsim.EventStart:
		w.dead, w.started = false, p.at
	case p.kind == tradingsim.EventKill:
		w.dead, w.part = true, p.c.Value == killedInPart
		w.kills++
	}
}

func (w *world) after(p point) {
	if p.kind != tradingsim.EventRequest {
		return
	}
	if p.r.key != "" && p.r.write && w.keys[p.r.key] == nil {
		w.keys[p.r.key] = p.r
	}
	if p.r.entry {
		w.entries++
	}
}

func (w *world) execute(p point) {
	s := slot{p.e.Account, p.e.Symbol}
	h := w.held[s]
	switch {
	case p.e.Operation == "POST /sandbox/reset":
		for s := range w.held {
			if s.account == "" {
				delete(w.held, s)
			}
		}
	case p.e.Filled && plain(p.e.Size) && plain(p.e.Price):
		w.price[p.e.Symbol] = p.e.Price
		if h == nil {
			h = &holding{opened: w.lived, bare: w.lived}
			w.held[s] = h
		}
		h.size = h.size.Add(signed(p.e))
		if p.e.Copy {
			h.copied = h.copied.Add(p.e.Size)
		}
		if h.size.IsZero() {
			delete(w.held, s)
		}
	}
	if p.r != nil && h != nil {
		h.protect(p.r, w.lived)
	}
	if list := w.recent[s.symbol]; p.r != nil && p.r.entry && p.e.Filled && !p.e.Copy && !slices.Contains(list, p.r) {
		w.recent[s.symbol] = append(list[max(0, len(list)-2):], p.r)
	}
	switch {
	case len(w.held) == 0 && w.flat.IsZero():
		w.flat = p.at
	case len(w.held) > 0 && !w.flat.IsZero():
		w.open, w.flat = p.at, time.Time{}
	}
}

// protect notes what a request that was executed did to the stop.
func (h *holding) protect(r *request, now time.Duration) {
	stop := r.numbers["stopLossPrice"]
	against := r.Operation == "POST /orders/conditional" && h.size.IsNegative() != (r.body.Side == "short")
	switch {
	case isLevels(r.Operation) && stop.null:
		h.stop, h.bare = false, now
	case stop.set && stop.IsPositive() || against:
		h.stop = true
	}
}

// signed is the size of a fill, less than zero for short.
func signed(e *tradingsim.Execution) decimal.Decimal {
	if e.Side == "short" {
		return e.Size.Neg()
	}
	return e.Size
}

// adds reports whether a request is an entry that would add exposure now.
func (w *world) adds(r *request) bool {
	h, size := w.held[slot{r.account, r.body.Symbol}], r.numbers["size"]
	against := h != nil && size.set && h.size.IsNegative() != (r.body.Side == "short")
	return r.entry && (!against || size.GreaterThan(h.size.Abs()))
}

// freshSince reports whether an entry is under a key that was never seen before t.
func (w *world) freshSince(r *request, t time.Time) bool {
	first := w.keys[r.key]
	return first == nil || !first.At.Before(t)
}

// flatFor reports whether nothing was held for some periods by now, all of them since t.
func (w *world) flatFor(periods int, t time.Time) bool {
	if w.flat.After(t) {
		t = w.flat
	}
	return !w.flat.IsZero() && w.now.Sub(t) >= w.periods(periods)
}

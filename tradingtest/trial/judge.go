package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Verdict is one of four words.
type Verdict string

// The verdicts, worst first.
const (
	Fail         Verdict = "fail"          // the bot did what it must not
	Warn         Verdict = "warn"          // it may have, or not each time
	Pass         Verdict = "pass"          // it had the opportunity, and did not
	NotExercised Verdict = "not exercised" // there was no opportunity; never a pass
)

// Finding is what one judgement says of one run.
type Finding struct {
	Judgement string  `json:"judgement"` // one of [Judgements]
	Verdict   Verdict `json:"verdict"`   // its word
	// Reason is stable, for programs; Text is one sentence, for a person.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Contract is the sentence of the contract that it stands on.
	Contract string `json:"contract"`
	// Change is what to change so that it is exercised.
	Change string `json:"change,omitempty"`
	// Count is how often it happened, Requests are those that show the first time, and Picture
	// is what happened then, as text.
	Count    int     `json:"count,omitempty"`
	Requests []int64 `json:"requests,omitempty"`
	Picture  string  `json:"picture,omitempty"`
}

// Findings are those of one run, in the order of [Judgements].
type Findings struct {
	Findings []Finding `json:"findings"`
	// Inconclusive is why the run shows nothing: the bot was not dead when it should have been.
	Inconclusive string `json:"inconclusive,omitempty"`
}

// Of is the finding of a judgement.
func (f Findings) Of(judgement string) Finding {
	i := slices.IndexFunc(f.Findings, func(one Finding) bool { return one.Judgement == judgement })
	if i < 0 {
		return Finding{Judgement: judgement, Verdict: NotExercised}
	}
	return f.Findings[i]
}

// Worst is the worst verdict.
func (f Findings) Worst() Verdict { return worst(f.Findings) }

func worst(list []Finding) Verdict {
	for _, v := range []Verdict{Fail, Warn, Pass} {
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Verdict == v }) {
			return v
		}
	}
	return NotExercised
}

// judgement is one of the ten.
type judgement struct {
	name     string
	contract string // the sentence that it stands on
	lacks    string // what there was not, where it was not exercised
	change   string // what to change then
	// watch returns what sees every moment of a run in its order, after the world has, and then
	// a moment of the kind ended.
	watch func(t *tally) func(w *world, p point)
}

const ended tradingsim.EventKind = "ended"

// tally is what a judgement has seen so far.
type tally struct {
	Finding
	exercised bool
	now, at   time.Time // the moment, and that of the violation that is shown
}

// violated notes a violation. The first of the worst word is shown.
func (t *tally) violated(v Verdict, reason string, shows []*request, format string, args ...any) {
	t.Count++
	if t.Verdict == Fail || t.Verdict == v {
		return
	}
	t.at = t.now
	t.Verdict, t.Reason, t.Text, t.Requests = v, reason, fmt.Sprintf(format, args...), nil
	for _, r := range shows {
		if r != nil && !slices.Contains(t.Requests, r.ID) {
			t.Requests = append(t.Requests, r.ID)
		}
	}
}

// slot is a market of an account.
type slot struct{ account, symbol string }

// world is the run as it stands at a moment.
type world struct {
	m         Manifest
	now       time.Time
	byID      map[int64]*request
	held      map[slot]decimal.Decimal
	price     map[string]decimal.Decimal
	keys      map[string]time.Time // when each key was first seen
	executed  map[int64]bool       // the requests that did something
	unhealthy time.Time            // since when; zero while healthy
	flat      time.Time            // since when; zero while anything is held
	open      time.Time            // since when anything is held
	started   time.Time            // the present life
	dead      bool
	entries   int
	recent    []*request // the latest of them
}

// Judge judges a run from the log of its simulation.
func Judge(m Manifest, events []tradingsim.Event) (Findings, error) {
	m, err := m.complete()
	if err != nil {
		return Findings{}, err
	}
	points, byID := timeline(events)
	w := &world{
		m: m, byID: byID, held: map[slot]decimal.Decimal{}, price: map[string]decimal.Decimal{},
		keys: map[string]time.Time{}, executed: map[int64]bool{},
	}
	if len(points) > 0 {
		w.started, w.flat = points[0].at, points[0].at
	}
	var f Findings
	tallies, watching := make([]tally, len(judgements)), make([]func(*world, point), len(judgements))
	for i, j := range judgements {
		watching[i] = j.watch(&tallies[i])
	}
	for _, p := range append(slices.Clip(points), point{kind: ended}) {
		if p.kind == tradingsim.EventRequest && w.dead && f.Inconclusive == "" {
			f.Inconclusive = fmt.Sprintf("%s arrived while the bot was dead: something of it lives on, use --kill-command", p.r.text())
		}
		if p.kind == ended {
			p.at = w.now
		}
		w.see(p)
		for i, see := range watching {
			tallies[i].now = p.at
			see(w, p)
		}
		w.after(p)
	}
	for i, j := range judgements {
		t := tallies[i]
		one := Finding{Judgement: j.name, Contract: j.contract, Verdict: NotExercised, Reason: "no-opportunity", Text: j.lacks, Change: j.change}
		switch {
		case f.Inconclusive != "":
			one.Reason, one.Text, one.Change = "inconclusive", f.Inconclusive, ""
		case t.Verdict != "":
			one = t.Finding
			one.Judgement, one.Contract, one.Picture = j.name, j.contract, picture(points, byID, t.Requests, t.at)
		case t.exercised:
			one.Verdict, one.Reason, one.Text, one.Change = Pass, "pass", "", ""
		}
		f.Findings = append(f.Findings, one)
	}
	return f, nil
}

// see brings the world up to a moment. What a request adds is added after it was judged.
func (w *world) see(p point) {
	w.now = p.at
	switch {
	case p.e != nil:
		w.execute(*p.e)
	case p.c == nil:
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
		w.dead = true
	}
}

func (w *world) after(p point) {
	if p.kind != tradingsim.EventRequest {
		return
	}
	if _, seen := w.keys[p.r.key]; !seen && p.r.key != "" && p.r.write {
		w.keys[p.r.key] = p.at
	}
	if p.r.entry {
		w.entries++
		if w.recent = append(w.recent, p.r); len(w.recent) > 50 {
			w.recent = w.recent[1:]
		}
	}
}

func (w *world) execute(e tradingsim.Execution) {
	if e.Request != 0 && !e.Copy {
		w.executed[e.Request] = true
	}
	s := slot{e.Account, e.Symbol}
	switch {
	case e.Operation == "POST /sandbox/reset":
		for s := range w.held {
			if s.account == "" {
				delete(w.held, s)
			}
		}
	case !e.Filled || !plain(e.Size) || !plain(e.Price):
		return
	default:
		w.price[e.Symbol] = e.Price
		w.held[s] = w.held[s].Add(signed(e.Side, e.Size))
		if w.held[s].IsZero() {
			delete(w.held, s)
		}
	}
	switch {
	case len(w.held) > 0:
		if !w.flat.IsZero() {
			w.open = e.At
		}
		w.flat = time.Time{}
	case w.flat.IsZero():
		w.flat = e.At
	}
}

func signed(side string, size decimal.Decimal) decimal.Decimal {
	if side == "short" {
		return size.Neg()
	}
	return size
}

// adds reports whether a request is an entry that would add exposure now.
func (w *world) adds(r *request) bool {
	if !r.entry {
		return false
	}
	held := w.held[slot{r.account, r.Symbol}]
	if held.IsZero() || held.IsNegative() == (r.Side == "short") || !r.Size.set {
		return true
	}
	return r.Size.GreaterThan(held.Abs())
}

// fresh reports whether an entry is under a key that was never seen before.
func (w *world) fresh(r *request) bool {
	_, seen := w.keys[r.key]
	return r.key == "" || !seen
}

// freshSince reports whether it is under a key that was never seen before t.
func (w *world) freshSince(r *request, t time.Time) bool {
	return w.fresh(r) || !w.keys[r.key].Before(t)
}

// flatFor is how long nothing was held by now, since t at most.
func (w *world) flatFor(t time.Time) time.Duration {
	if w.flat.IsZero() {
		return 0
	}
	if w.flat.After(t) {
		t = w.flat
	}
	return w.now.Sub(t)
}

func (w *world) periods(n int) time.Duration { return time.Duration(n) * time.Duration(w.m.Period) }

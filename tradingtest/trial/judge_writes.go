package trial

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// The judgements.
const (
	BlindResend    = "blind resend"    // an entry under a new key while the outcome of its like is not known
	Exposure       = "exposure"        // more is held than declared
	UnhealthyEntry = "unhealthy entry" // an entry into a service that is not healthy
	LockedEntry    = "locked entry"    // entries after the service has said that the account takes none
	RetryAfter     = "Retry-After"     // requests before the wait is over that a 429 has named
	NoStop         = "no stop"         // a position without a stop
	Restart        = "restart"         // an entry after a restart, before the positions were read
	Zero           = "zero"            // a price computed from a missing mark
	KeyReuse       = "key reuse"       // an entry under the key of another request
	Storm          = "storm"           // more entries in a period than declared
)

// Judgements are the names of all, in their order.
func Judgements() []string {
	return []string{BlindResend, Exposure, UnhealthyEntry, LockedEntry, RetryAfter, NoStop, Restart, Zero, KeyReuse, Storm}
}

// judgements are all, with what each stands on and what exercises it.
func judgements() []judgement {
	t := func(name, contract, text, change string) tally {
		return tally{Finding: Finding{Judgement: name, Contract: contract, Text: text, Change: change}}
	}
	return []judgement{
		&blind{tally: t(BlindResend, "Idempotency 3: resending with the same key and same request returns the first response unchanged; nothing is placed twice.",
			"no entry was left with an unknown outcome, or nothing came after it", "let the bot enter more often, or shorten its period"), doubts: map[string]map[spot]*doubt{}},
		&exposure{tally: t(Exposure, "Manifest: markets.most and dollars are the most that the bot may hold.",
			"no limit is declared, or nothing was held for two periods", "declare most of each market, or dollars"), copied: map[slot]decimal.Decimal{}},
		&unhealthyEntry{tally: t(UnhealthyEntry, "GET /health: degraded is hold off, unavailable is do not trade; the assessment is cached for 5 seconds.",
			"the bot was not flat while the service was unhealthy, or did not enter before and after", "let the bot enter again once it is flat")},
		&lockedEntry{tally: t(LockedEntry, "403 account_locked: account failed or expired, or passed and the order would add exposure; new exposure is refused.",
			"no account was locked for long enough while the bot was flat", "let the bot enter again once it is flat"), since: map[string]time.Time{}, count: map[string]int{}},
		&retryAfter{tally: t(RetryAfter, "429 rate_limited: back off for Retry-After.",
			"no limit was met, or the bot sent nothing in its scope afterwards", "let the bot send more often"), open: map[string]*limit{}},
		&noStop{tally: t(NoStop, "Manifest: stopWithin is how soon an open position has a stop.",
			"no stops are declared, or no position was open for long enough", "declare stopWithin"), naked: map[slot]time.Duration{}, open: map[slot]time.Duration{}, stop: map[slot]bool{}},
		&restart{tally: t(Restart, "Idempotency 3 and live reads: what an earlier run has done shows in GET /positions.",
			"the bot was not killed with a position open, or did not live long enough afterwards", "let the bot hold a position for longer than its period")},
		&zero{tally: t(Zero, "A missing mark is never zero.",
			"the bot read no missing mark while it was flat, or did not enter before and after", "let the bot read its mark before it enters")},
		&keyReuse{tally: t(KeyReuse, "422 idempotency_key_reused: key already used for a different request.", "no entry has a key", "send an Idempotency-Key")},
		&storm{tally: t(Storm, "Rate limits: 150 live orders a minute of each class, shared by the terminal and all the user's keys.", "no entry was sent", "let the bot enter")},
	}
}

// spot is where two entries can be the same order: resting ones, at one price.
type spot struct {
	symbol, side, price string
}

func spotOf(r *request) spot {
	l := spot{r.Symbol, r.Side, ""}
	if r.resting {
		l.price = "resting " + r.LimitPrice.String()
	}
	return l
}

// doubt is an entry whose outcome is not known, and a read that began within the lag after it.
type doubt struct{ entry, early *request }

// blind is an entry in the place of another one whose outcome nobody has looked for.
type blind struct {
	tally
	doubts map[string]map[spot]*doubt // by account
	lost   bool
	pairs  [][2]*request // of violations
}

func (j *blind) see(w *world, p point) {
	switch {
	case p.kind == tradingsim.EventRequest:
		j.exercised = j.exercised || j.lost
		if p.r.entry {
			j.arrived(w, p.r)
		}
	case p.kind != tradingsim.EventAnswer || !p.r.known():
	case p.r.entry:
		for l, d := range j.doubts[p.r.account] {
			if p.r.key != "" && d.entry.key == p.r.key {
				delete(j.doubts[p.r.account], l)
			}
		}
	default:
		if any, _ := shows(p.r.Operation); !any || p.r.Status != 200 {
			return
		}
		for l, d := range j.doubts[p.r.account] {
			switch {
			case p.r.ID < d.entry.ID:
			case p.r.At.Sub(d.entry.At) < time.Duration(w.m.Lag):
				d.early = p.r
			default:
				delete(j.doubts[p.r.account], l)
			}
		}
	}
}

func (j *blind) arrived(w *world, r *request) {
	l := spotOf(r)
	d := j.doubts[r.account][l]
	if d != nil && w.fresh(r) {
		if d.early != nil {
			j.violated(Warn, "read-within-lag", fmt.Sprintf("%s was sent after a read that began within the lag of %s, whose outcome was not known.", r.text(), d.entry.text()), d.entry, d.early, r)
		} else {
			j.violated(Fail, "resend-under-new-key", fmt.Sprintf("%s was sent while the outcome of %s was not known, under a new key and without a read in between.", r.text(), d.entry.text()), d.entry, r)
			j.pairs = append(j.pairs, [2]*request{d.entry, r})
		}
		d = nil
	}
	if r.known() || d != nil {
		return
	}
	j.lost = true
	if j.doubts[r.account] == nil {
		j.doubts[r.account] = map[spot]*doubt{}
	}
	j.doubts[r.account][l] = &doubt{entry: r}
}

func (j *blind) end(w *world) {
	for _, pair := range j.pairs {
		if w.executed[pair[0].ID] && w.executed[pair[1].ID] {
			j.Reason, j.Requests = "double", []int64{pair[0].ID, pair[1].ID}
			j.Text = fmt.Sprintf("%s and %s were both executed: the outcome of the first was not known, and the second went out under a new key without a read in between.", pair[0].text(), pair[1].text())
			return
		}
	}
}

// exposure is a position that is larger than declared.
type exposure struct {
	tally
	copied map[slot]decimal.Decimal // by faults, until flat
}

func (j *exposure) see(w *world, p point) {
	declared := w.m.Dollars.IsPositive()
	for s := range w.held {
		declared = declared || w.m.Markets[s.symbol].Most.IsPositive()
	}
	if declared && w.flat.IsZero() && !w.dead && p.at.Sub(w.open) >= w.periods(2) {
		j.exercised = true // it could have looked, and entered again
	}
	if p.e == nil || !p.e.Filled {
		return
	}
	e, s := p.e, slot{p.e.Account, p.e.Symbol}
	held, most := w.held[s].Abs(), w.m.Markets[e.Symbol].Most
	switch {
	case held.IsZero():
		delete(j.copied, s)
	case e.Copy:
		j.copied[s] = j.copied[s].Add(e.Size)
	}
	if e.Actor == "terminal" {
		return
	}
	if most.IsPositive() && over(held.Sub(j.copied[s]), most) {
		j.violated(Fail, "more-units-than-declared", fmt.Sprintf("%s %s were held, and at most %s are declared.", held, s.symbol, most), j.last(w, e)...)
	}
	if worth := j.worth(w); w.m.Dollars.IsPositive() && over(worth, w.m.Dollars) {
		j.violated(Fail, "more-dollars-than-declared", fmt.Sprintf("%s dollars were held, and at most %s are declared.", worth.Round(2), w.m.Dollars), j.last(w, e)...)
	}
}

// worth is what all positions are worth, without what faults have copied.
func (j *exposure) worth(w *world) (sum decimal.Decimal) {
	for s, held := range w.held {
		sum = sum.Add(held.Abs().Sub(j.copied[s]).Mul(w.price[s.symbol]))
	}
	return sum
}

// over allows 2 percent: prices move between a decision and its fill.
func over(is, most decimal.Decimal) bool {
	return is.GreaterThan(most.Mul(decimal.New(102, -2)))
}

// last are the latest entries of the market that were executed.
func (j *exposure) last(w *world, e *tradingsim.Execution) (list []*request) {
	for _, r := range slices.Backward(w.recent) {
		if len(list) < 3 && r.Symbol == e.Symbol && r.ID <= e.Request && w.executed[r.ID] {
			list = append(list, r)
		}
	}
	slices.Reverse(list)
	return list
}

func (j *exposure) end(*world) {}

// noStop is a position without a stop while bot and service live.
type noStop struct {
	tally
	naked, open map[slot]time.Duration
	stop        map[slot]bool
	entry       *request
	last        time.Time // the moment before, what was held then, and whether bot and service lived
	held        map[slot]decimal.Decimal
	live        bool
}

func (j *noStop) see(w *world, p point) {
	j.pass(w, p.at)
	j.last, j.held, j.live = p.at, maps.Clone(w.held), !w.dead && w.unhealthy.IsZero()
	if p.e == nil {
		return
	}
	s, r := slot{p.e.Account, p.e.Symbol}, w.byID[p.e.Request]
	held := w.held[s]
	switch {
	case held.IsZero():
		delete(j.naked, s)
		delete(j.open, s)
		delete(j.stop, s)
	case r == nil:
	case isLevels(r.Operation) && r.clears:
		j.stop[s] = false
	case r.StopLossPrice.set && r.StopLossPrice.IsPositive(),
		r.Operation == "POST /orders/conditional" && held.IsNegative() != (r.Side == "short"):
		j.stop[s] = true
		delete(j.naked, s)
	}
	if r != nil && r.entry {
		j.entry = r
	}
}

// pass lets the time until t pass.
func (j *noStop) pass(w *world, t time.Time) {
	passed, within := t.Sub(j.last), time.Duration(w.m.StopWithin)
	if within == 0 || !j.live {
		return
	}
	for s, held := range j.held {
		if j.open[s] += passed; j.open[s] > within {
			j.exercised = true
		}
		if j.stop[s] {
			continue
		}
		before := j.naked[s]
		if j.naked[s] += passed; j.naked[s] > within && before <= within {
			j.violated(Fail, "open-without-stop", fmt.Sprintf("%s %s were held without a stop for longer than %s.", held.Abs(), s.symbol, within), j.entry)
		}
	}
}

func (j *noStop) end(*world) {}

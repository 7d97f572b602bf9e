package resolve

import (
	"maps"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// AccountLook is one look at everything on an account in which a write can show. It serves every write that is due
// when it begins.
type AccountLook struct {
	At, Ended time.Time // when its first read began, and its last was answered
	Positions map[string]accounting.Holding
	Levels    map[string]Levels // of the positions
	Rows      []accounting.Row
	Orders    []string
	Runs      []string
	Finished  accounting.Newest
	Status    string
	Shown     any // the closed trades as the client shows them
}

// List is a list of an account.
type List uint8

// The lists.
const (
	AllLists List = iota // everything in which a write can show
	ListPositions
	ListTrades
	ListOrders // what rests and runs
)

// State is the look as accounting sees it, for one symbol.
func (l *AccountLook) State(symbol string) accounting.State {
	return accounting.State{
		Position: l.Positions[symbol], Rows: l.Rows, Orders: l.Orders, Runs: l.Runs, Finished: l.Finished, Status: l.Status,
	}
}

// seenLook is the newest look at a write, and the looks in a row that were equal to it, itself included.
type seenLook struct {
	look  *AccountLook
	began []time.Time // when the last three of them began: no verdict needs more
	equal int         // how many they are in all
}

// look reads the account, and has accounting judge it.
func (d *Driver) look(w *OpenWrite, due time.Duration) error {
	if err := d.askJournal(d.cfg.Life.Closing, w.Intent.Account, notePatience); err != nil {
		return err // who trades there is not known: what the look says would stand for good
	}
	key := w.account()
	l := d.looks[key]
	seen := d.seen[w]
	// A look that another write has just had serves this one too, if it began when this one was due or later: far
	// enough from the fence, and from the look before. It is no older than one whose reads take a lag.
	if l == nil || d.Clocks.At(l.At).Mono < due || Elapsed(l.At) > w.Ledger.Without.ReadLag() {
		if full := d.full[readAccount]; full != nil && time.Now().Before(full.until) {
			return full
		}
		var err error
		if l, err = d.cfg.Host.Read(d.cfg.Life.Closing, key, AllLists, false); err != nil {
			if wait := d.cfg.Host.Judge(err).Wait; wait > 0 {
				return d.cutShort(err, wait)
			}
			d.noteService(d.cfg.Host.Judge(err).Class, err)
			return err
		}
		d.looks[key], d.cuts = l, 0
		d.noteService(ledger.Success, nil)
	}
	d.say(func() {
		q := w.noting()
		q.lastErr = nil
		q.looks = append(slices.Clone(q.looks[max(len(q.looks)-3, 0):]), l)
	})
	shown := &seenLook{look: l, began: []time.Time{l.At}, equal: 1}
	if seen != nil && seen.look.State(w.Intent.Symbol).Equal(l.State(w.Intent.Symbol), w.Intent.Symbol) {
		shown.began, shown.equal = append(slices.Clone(seen.began[max(len(seen.began)-2, 0):]), l.At), seen.equal+1
	}
	d.seen[w] = shown
	maps.DeleteFunc(d.seen, func(w *OpenWrite, _ *seenLook) bool { // acknowledged meanwhile
		found, _ := d.schedule.has(w)
		return !found
	})
	f := ledger.Fact{Kind: ledger.Looked, At: d.Clocks.At(l.At)}
	v := d.decide(w, shown, seen != nil)
	stays := v.Reason == accounting.NotHeld && w.Ledger.StaysReceived(f.At)
	// The first of equal looks decides nothing, unless a course explains it and the one before (Facts.Again). But a
	// stored refusal waits for one look, which only Applied contradicts: it takes what is likely.
	if len(shown.began) == 1 && (w.Traits.Levels || v.Outcome == ledger.Unknown) {
		f.Finding.Outcome = v.Likely
	} else {
		final := staysUnknown(v.Reason) && d.giveUp(w, shown, v.Reason)
		d.say(func() {
			q := w.noting()
			q.reason = string(v.Reason)
			if stays {
				q.reason = noTraceLeft
			}
			if w.gap && v.Reason == accounting.NotExclusive {
				q.reason = "an exit went out beside it that the journal did not take"
			}
		})
		f.Finding = ledger.Finding{Enough: v.Reason != accounting.LookAgain, Outcome: v.Outcome, Stays: final || stays || v.Reason == accounting.PendingBeside && shown.equal > looksBeside}
		w.by = ByAccounting
	}
	w.Ledger.Note(f)
	return nil
}

// noTraceLeft is why a limit or a Pro order stays Unknown whose key the service knows after
// half an hour, and of which the account shows nothing, where others trade it.
const noTraceLeft = "it waits and runs nowhere: it was refused, or has ended, or somebody has cancelled it since; see WithExclusiveAccounts"

// looksBeside is how many equal looks wait for another pending write, about ten minutes:
// two can wait for each other. The end of either begins the looks at the other anew.
const looksBeside = 8

// staysUnknown reports whether time does not change why a write is Unknown.
func staysUnknown(r accounting.Reason) bool {
	switch r {
	case accounting.WriteIncomplete, accounting.NotExclusive, accounting.NoBaseline, accounting.AccountingEnded,
		accounting.NothingShows, accounting.ListIncomplete, accounting.RowUnreadable, accounting.DoesNotFit,
		accounting.BothFit, accounting.NothingFits, noAccounting, noApplied, accounting.TooManyOrders, accounting.SizesTooFine,
		accounting.MayBeReset:
		return true
	default:
		return false
	}
}

// What an account shows decides nothing where its lists, or rows, are not as accounting needs them.
const (
	noAccounting accounting.Reason = "the lists of trades are not relied on: see Recovery.Profile"
	noApplied    accounting.Reason = "it seems to have run, and the rows of the account are not relied on for that: see Recovery.Profile"
)

// decide judges a write by equal looks. lookedBefore means that another was before them, equal or not.
func (d *Driver) decide(w *OpenWrite, shown *seenLook, lookedBefore bool) accounting.Verdict {
	switch {
	case w.Traits.Levels:
		return decideLevels(w, shown.look, w.Ledger.IsGone(d.Clocks.Now()))
	case w.Ledger.Without.Accounting:
		return accounting.Verdict{Reason: noAccounting}
	}
	v := d.judge(w, shown, lookedBefore)
	if v.Outcome == ledger.Applied && w.Ledger.Without.Applied {
		v.Outcome, v.Reason = ledger.Unknown, noApplied
	}
	return v
}

// judge is decide by accounting.
func (d *Driver) judge(w *OpenWrite, shown *seenLook, lookedBefore bool) accounting.Verdict {
	// First whether another write is pending: one that ends meanwhile is in the evidence.
	beside := d.pending.beside(w, mayHide)
	held, gone := w.Ledger.Held() || !w.Ledger.Keyed, w.Ledger.IsGone(d.Clocks.Now()) // paper is looked at only once it can run no more
	exclusive := w.Ledger.Exclusive && d.Exclusive(w.Intent.Account) && !w.gap        // what others did is not known
	began := time.Time{}
	switch n := len(shown.began); {
	case n < 2:
	case w.asked().Kind == accounting.Limit: // which needs all three
		began = shown.began[0]
	default: // the last two are enough: an own write may have been answered right before the first
		began = shown.began[n-2]
	}
	f := w.books.Known(&w.booked, held || gone, exclusive, shown.look.State(w.Intent.Symbol), began)
	f.EqualLooks, f.Symbol, f.Held, f.Gone, f.Again, f.PendingBeside = len(shown.began), w.Intent.Symbol, held, gone, lookedBefore, beside
	if !w.Ledger.Without.Times {
		f.From = d.Clocks.service.TradesFrom(d.Clocks.firstUse(w))
	}
	if !w.Ledger.FirstUseKnown { // its key may have been used before the baseline
		f.Course, f.IDs = nil, nil
	}
	v := accounting.Judge(f)
	if v.Reason == accounting.NothingFits && f.Course != nil {
		w.books.Lost(&w.booked)
	}
	return v
}

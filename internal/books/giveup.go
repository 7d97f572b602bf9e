package books

import (
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// GiveUp notes that nobody can find out about a write, which can run no more: whatever it did,
// reads that begin from now on show it. first reports whether nobody knew that before, opens
// whether what equal looks show is a baseline now, from the begin of the first to the end of the last, which
// began at a moment: no other write may have been on its way then but those that were given up before.
func (b *Books) GiveUp(w *Booked, looks Read, last time.Time, show accounting.State) (first, opens bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first = w.given.IsZero(); first {
		w.given = time.Now()
	}
	a := b.account(w.account())
	if !w.in || !a.declared {
		return first, !w.in
	}
	a.goOn()
	of := a.trails.trail(w.Places[0].Symbol).Trail
	return first, a.opens(w, &of, looks, last, show)
}

// OpenMarket begins the trail of a write's symbol anew with what equal looks show, and takes the
// write out of the books: it stays unknown, and hides nothing. False as for [Books.GiveUp]; the error as of
// [Books.Leave].
func (b *Books) OpenMarket(w *Booked, looks Read, last time.Time, show accounting.State) (opened bool, unnoted error) {
	unnoted = b.noting(w, func(a *account) []note {
		if !w.in || !a.declared {
			opened = !w.in
			return nil
		}
		a.goOn()
		of := a.trails.trail(w.Places[0].Symbol)
		if opened = a.opens(w, &of.Trail, looks, last, show); !opened {
			return nil
		}
		did := &Did{ShownFrom: looks.Begun, Own: accounting.Own{Unsure: true, Heard: looks.Begun}}
		a.leave(w)
		a.unclear(w, did)
		return a.notesOf(w, did.Own, did)
	})
	return opened, unnoted
}

// opens begins a trail anew with what equal looks show, if nothing can hide what is there.
func (a *account) opens(w *Booked, of *accounting.Trail, looks Read, last time.Time, show accounting.State) bool {
	t := &a.trails
	if t.lists.IsZero() || !accounting.Open(show.Status) || !t.trades.Known || !t.trades.Newest(show.Rows) {
		return false
	}
	over := map[string]bool{w.ID: true}
	for o := range a.open {
		switch own := of.Find(o.ID); {
		case o == w, o.Places[0] != w.Places[0], !o.Asked.Kind.Acts(): // what waits may trade, and the trail says so
		case !o.given.IsZero() && !o.given.After(looks.Begun):
			over[o.ID] = true
		case own == nil || !own.Began.After(looks.Ended):
			return false
		}
	}
	at := accounting.Base{Position: show.Position.Size, Place: t.trades.End(), Status: show.Status, At: t.clock}
	_, at.Newer = a.nearby(at.Place, w.Places[0].Symbol, last, looks.Ended)
	return of.BeginAnyway(at, looks.Begun.Add(-a.lag), looks.Ended, func(id string) bool { return over[id] })
}

package watch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// Orders watches what waits on a live account: resting limits and running Pro orders. A
// look is one request, and a second one when a run has ended, for its last record.
func Orders(a *trading.Account) Watch {
	if a == nil {
		return misuse("orders", "watch: Orders needs an account")
	}
	name := "orders of " + string(a.ID())
	return Watch{name: name, open: func() source { return &orderSource{account: a} }}
}

// Run watches one Pro order, and ends when it does, with a [RunFinished]. A run that
// shows neither among the running nor among the finished ones for fifteen seconds ends
// the loop with [trading.CodeRunNotFound], since reads lag by no more than some seconds.
func Run(a *trading.Account, id trading.RunID) Watch {
	if a == nil {
		return misuse("run", "watch: Run needs an account")
	}
	name := "run " + string(id)
	return Watch{name: name, open: func() source { return &runSource{account: a, id: id} }}
}

type orderSource struct{ account *trading.Account }

type orderLook struct {
	at       time.Time
	account  trading.AccountID
	limits   []trading.RestingOrder // by id
	runs     []trading.Run          // by id
	finished map[trading.RunID]trading.Run
}

func (s *orderSource) look(ctx context.Context, before look) (look, bool, error) {
	open, err := s.account.OpenOrders(ctx)
	if err != nil {
		return nil, false, err
	}
	is := &orderLook{account: s.account.ID(), limits: open.Limits, runs: open.Runs}
	slices.SortFunc(is.limits, func(a, b trading.RestingOrder) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(is.runs, func(a, b trading.Run) int { return cmp.Compare(a.ID, b.ID) })
	if was, ok := before.(*orderLook); ok {
		if is.finished, err = s.finished(ctx, was, is); err != nil {
			return nil, false, err
		}
	}
	is.at = time.Now()
	return is, false, nil
}

// finishedKept is how many records of finished runs are kept for loops that are behind.
const finishedKept = 256

// finished returns the records of the runs that have ended since a look, beside those
// of earlier ones.
func (s *orderSource) finished(ctx context.Context, was, is *orderLook) (map[trading.RunID]trading.Run, error) {
	gone := slices.DeleteFunc(slices.Clone(was.runs), func(r trading.Run) bool { return findRun(is.runs, r.ID) != nil })
	if len(gone) == 0 {
		return was.finished, nil
	}
	history, err := s.account.FinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	finished := make(map[trading.RunID]trading.Run)
	if len(was.finished) < finishedKept {
		maps.Copy(finished, was.finished)
	}
	for _, run := range gone {
		if record := findRun(history, run.ID); record != nil {
			run = *record
		}
		finished[run.ID] = run
	}
	return finished, nil
}

func findRun(runs []trading.Run, id trading.RunID) *trading.Run {
	for i := range runs {
		if runs[i].ID == id {
			return &runs[i]
		}
	}
	return nil
}

func (is *orderLook) since(before look) []Event {
	was := &orderLook{}
	if before, ok := before.(*orderLook); ok {
		was = before
	}
	var gone, events []Event
	walk(was.limits, is.limits, func(o trading.RestingOrder) trading.OrderID { return o.ID }, func(old, now *trading.RestingOrder) {
		switch {
		case now == nil:
			gone = append(gone, LimitClosed{is.at, is.account, *old})
		case old == nil:
			events = append(events, LimitPlaced{is.at, is.account, *now})
		case !sameOrder(*old, *now):
			events = append(events, LimitChanged{is.at, is.account, *old, *now})
		}
	})
	walk(was.runs, is.runs, func(r trading.Run) trading.RunID { return r.ID }, func(old, now *trading.Run) {
		switch {
		case now == nil:
			run, known := is.finished[old.ID]
			if !known {
				run = *old
			}
			gone = append(gone, RunFinished{is.at, is.account, run})
		case old == nil:
			events = append(events, RunStarted{is.at, is.account, *now})
		case !sameRun(*old, *now):
			events = append(events, RunChanged{is.at, is.account, *old, *now})
		}
	})
	return append(gone, events...)
}

// walk goes through two lists that are ordered by id.
func walk[T any, ID cmp.Ordered](was, is []T, id func(T) ID, visit func(old, now *T)) {
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case j == len(is) || i < len(was) && id(was[i]) < id(is[j]):
			visit(&was[i], nil)
			i++
		case i == len(was) || id(is[j]) < id(was[i]):
			visit(nil, &is[j])
			j++
		default:
			visit(&was[i], &is[j])
			i++
			j++
		}
	}
}

func sameOrder(a, b trading.RestingOrder) bool {
	return a.ID == b.ID && a.Symbol == b.Symbol && a.Side == b.Side &&
		a.Size.Equal(b.Size) && a.LimitPrice.Equal(b.LimitPrice) && sameExtra(a.Extra, b.Extra)
}

func sameRun(a, b trading.Run) bool {
	return a.ID == b.ID && a.Symbol == b.Symbol && a.Side == b.Side && sameExtra(a.Extra, b.Extra)
}

func sameExtra(a, b trading.Extra) bool {
	return maps.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// runLag is how long a run may show nowhere.
const runLag = 15 * time.Second

type runSource struct {
	account *trading.Account
	id      trading.RunID
	shown   time.Time // when it last showed, or else when it was first looked for
}

type runLook struct {
	at       time.Time
	account  trading.AccountID
	run      trading.Run
	finished bool
}

var errRunGone = errors.New("it shows neither among the running nor among the finished ones")

func (s *runSource) look(ctx context.Context, before look) (look, bool, error) {
	if s.shown.IsZero() {
		s.shown = time.Now()
	}
	open, err := s.account.OpenOrders(ctx)
	if err != nil {
		return nil, false, err
	}
	is := &runLook{account: s.account.ID()}
	record := findRun(open.Runs, s.id)
	if record == nil {
		history, err := s.account.FinishedRuns(ctx)
		if err != nil {
			return nil, false, err
		}
		record = findRun(history, s.id)
		is.finished = record != nil
	}
	is.at = time.Now()
	switch was, seen := before.(*runLook); {
	case record != nil:
		s.shown, is.run = is.at, *record
	case is.at.Sub(s.shown) < runLag:
		return before, false, nil // it may have to show yet
	case seen:
		is.run, is.finished = was.run, true
	default:
		return nil, false, hopeless{fmt.Errorf("%w: %w", trading.CodeRunNotFound, errRunGone)}
	}
	return is, is.finished, nil
}

func (is *runLook) since(before look) []Event {
	was, seen := before.(*runLook)
	switch {
	case is.finished:
		return []Event{RunFinished{is.at, is.account, is.run}}
	case !seen:
		return []Event{RunStarted{is.at, is.account, is.run}}
	case sameRun(was.run, is.run):
		return nil
	default:
		return []Event{RunChanged{is.at, is.account, was.run, is.run}}
	}
}

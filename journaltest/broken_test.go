package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
)

// journal is right as it stands, and wrong in one respect with a defect.
type journal struct {
	defect  string
	mu      sync.Mutex
	entries []*trading.Entry
	busy    atomic.Int32
	reading atomic.Int32
}

func (j *journal) is(defect string) bool { return j.defect == defect }

func (j *journal) find(id trading.IntentID) *trading.Entry {
	for _, entry := range j.entries {
		if entry.Intent.ID == id {
			return entry
		}
	}
	return nil
}

func settled(e *trading.Entry) bool {
	_, ok := e.Settlement.Get()
	return ok
}

func (j *journal) Begin(ctx context.Context, in trading.Intent) error {
	if err := ctx.Err(); err != nil && !j.is("begins once the context has ended") {
		return err
	}
	if in.ID == "" && !j.is("takes intents without a name") {
		return trading.ErrUnnamedIntent
	}
	j.busy.Add(1)
	defer j.busy.Add(-1)
	for range 1000 { // to let others come
		if !j.is("loses what comes while it is busy") {
			break
		}
		if j.busy.Load() > 1 {
			return nil
		}
		runtime.Gosched()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	in = j.takeIn(in)
	known := j.find(in.ID)
	switch {
	case j.is("does not begin"):
	case known == nil || j.is("adds instead of replacing"):
		j.entries = append(j.entries, &trading.Entry{Intent: in})
	case settled(known) && !j.is("begins a settled intent again"):
		if j.is("begins a settled intent again, silently") {
			return nil
		}
		return trading.ErrSettled
	case j.is("keeps the first intent"):
	case j.is("keeps the first decision"):
		in.Decision = known.Intent.Decision
		known.Intent = in
	case j.is("moves what it replaces to the end"):
		j.entries = slices.DeleteFunc(j.entries, func(e *trading.Entry) bool { return e == known })
		j.entries = append(j.entries, &trading.Entry{Intent: in})
	default:
		known.Intent, known.Settlement = in, trading.Opt[trading.Settlement]{}
	}
	return nil
}

// takeIn copies an intent, and leaves out what the defect says.
func (j *journal) takeIn(in trading.Intent) trading.Intent {
	if !j.is("keeps the caller's memory") {
		in = copyIntent(in)
	}
	if j.is("tidies up bodies") {
		if body, err := json.Marshal(json.RawMessage(in.Body)); err == nil {
			in.Body = body
		}
	}
	if j.is("cuts long bodies") {
		in.Body = in.Body[:min(len(in.Body), 1<<16)]
	}
	if j.is("tidies up text") {
		text, _ := json.Marshal(in.Tag)
		_ = json.Unmarshal(text, &in.Tag)
	}
	if field := reflect.ValueOf(&in).Elem().FieldByName(j.defect); field.IsValid() && j.defect != "ID" && j.defect != "Decision" {
		field.SetZero()
	}
	if b, ok := in.Baseline.Get(); ok {
		if field := reflect.ValueOf(&b).Elem().FieldByName(j.defect); field.IsValid() {
			field.SetZero()
		}
		in.Baseline = trading.Some(b)
	}
	if j.is("rounds times") {
		in.Created = in.Created.Truncate(time.Millisecond)
	}
	return in
}

func (j *journal) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	if err := ctx.Err(); err != nil && !j.is("settles once the context has ended") {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := j.find(id)
	switch {
	case entry == nil && j.is("settles what it does not know"):
		return nil
	case entry == nil:
		return trading.ErrUnknownIntent
	case settled(entry) && j.is("refuses a second settlement"):
		return errors.New("settled")
	case settled(entry) && !j.is("takes the last settlement"):
		return nil
	case j.is("does not settle"):
		return nil
	}
	if !j.is("keeps the caller's memory") {
		s.Answer = slices.Clone(s.Answer)
	}
	if field := reflect.ValueOf(&s).Elem().FieldByName(j.defect); field.IsValid() {
		field.SetZero()
	}
	entry.Settlement = trading.Some(s)
	j.forget(s.At)
	return nil
}

func (j *journal) forget(now time.Time) {
	if j.is("never forgets") {
		return
	}
	if j.is("forgets only before the first pending one") {
		for len(j.entries) > 0 && settled(j.entries[0]) && j.old(j.entries[0], now) {
			j.entries = j.entries[1:]
		}
		return
	}
	j.entries = slices.DeleteFunc(j.entries, func(e *trading.Entry) bool { return j.old(e, now) })
}

func (j *journal) old(e *trading.Entry, now time.Time) bool {
	s, ok := e.Settlement.Get()
	at, keep := s.At, 30*24*time.Hour
	if at.IsZero() && !j.is("takes no time for the year 1") {
		at = e.Intent.Created
	}
	switch {
	case j.is("forgets what is pending") || ok && j.is("counts from the beginning"):
		at = e.Intent.Created
	case !ok:
		return false
	case j.is("forgets too early"):
		keep = 29 * 24 * time.Hour
	}
	return now.Sub(at) > keep
}

func (j *journal) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		j.reading.Add(1)
		defer j.reading.Add(-1)
		if j.is("pending while it is read") {
			j.livePending(yield)
			return
		}
		j.mu.Lock()
		entries := slices.Clone(j.entries)
		if j.is("sorts by name") {
			slices.SortFunc(entries, func(a, b *trading.Entry) int {
				if a.Intent.ID < b.Intent.ID {
					return -1
				}
				return 1
			})
		}
		if j.is("newest first") {
			slices.Reverse(entries)
		}
		if j.is("has no order") {
			entries = slices.Collect(maps.Keys(func() map[*trading.Entry]bool {
				set := map[*trading.Entry]bool{}
				for _, e := range entries {
					set[e] = true
				}
				return set
			}()))
		}
		var pending []trading.Intent
		for _, entry := range entries {
			if !settled(entry) || j.is("yields settled ones") {
				pending = append(pending, j.giveOut(entry).Intent)
			}
		}
		if j.is("yields the first hundred") {
			pending = pending[:min(len(pending), 100)]
		}
		j.mu.Unlock()
		for _, in := range pending {
			if ctx.Err() != nil && !j.is("yields once the context has ended") {
				break
			}
			if !yield(in, nil) && !j.is("goes on when broken off") {
				return
			}
		}
		if err := ctx.Err(); err != nil && !j.is("does not say that the context has ended") {
			yield(trading.Intent{}, err)
		}
	}
}

// livePending goes on with what has begun since, and so may never end.
func (j *journal) livePending(yield func(trading.Intent, error) bool) {
	for i := 0; ; i++ {
		j.mu.Lock()
		if i >= len(j.entries) {
			j.mu.Unlock()
			return
		}
		entry := *j.entries[i]
		j.mu.Unlock()
		if !settled(&entry) && !yield(copyIntent(entry.Intent), nil) {
			return
		}
	}
}

func (j *journal) Decision(ctx context.Context, decision string) ([]trading.Entry, error) {
	if err := ctx.Err(); err != nil && !j.is("answers once the context has ended") {
		return nil, err
	}
	if j.is("is locked while it is read") && j.reading.Load() > 0 {
		return nil, errors.New("locked")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var entries []trading.Entry
	for _, entry := range j.entries {
		name := entry.Intent.Decision
		same := name == decision && name != ""
		switch j.defect {
		case "takes no decision for one":
			same = name == decision
		case "mixes up decisions":
			same = same || name != "" && len(decision) > len(name) && decision[:len(name)] == name
		case "does not show what is pending":
			same = same && settled(entry)
		}
		if same {
			entries = append(entries, j.giveOut(entry))
		}
	}
	if j.is("the last one first") {
		slices.Reverse(entries)
	}
	if j.is("only the last one") && len(entries) > 1 {
		entries = entries[len(entries)-1:]
	}
	return entries, nil
}

func (j *journal) giveOut(e *trading.Entry) trading.Entry {
	if j.is("gives its own memory") {
		return *e
	}
	out := trading.Entry{Intent: copyIntent(e.Intent)}
	if s, ok := e.Settlement.Get(); ok {
		s.Answer = slices.Clone(s.Answer)
		out.Settlement = trading.Some(s)
	}
	return out
}

func copyIntent(in trading.Intent) trading.Intent {
	in.Body = slices.Clone(in.Body)
	if b, ok := in.Baseline.Get(); ok {
		lists := reflect.ValueOf(&b).Elem()
		for i := range lists.NumField() {
			if list := lists.Field(i); list.Kind() == reflect.Slice {
				list.Set(reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, list.Len()), list))
			}
		}
		in.Baseline = trading.Some(b)
	}
	return in
}

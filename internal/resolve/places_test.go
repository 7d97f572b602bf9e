package resolve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/transport"
)

// Who has a place in the limits, and who is asked about first.

// places is a service's host that counts the places of its requests.
type places struct {
	*service
	limit map[string]int // of an operation; one that is not there has no limit

	mu    sync.Mutex
	next  time.Time // when all are free; zero: never
	taken map[string]int
	most  map[string]int // that were dropped without being sent
}

var errFull = errors.New("full")

func (p *places) Prepare(ctx context.Context, r Request) (Prepared, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if limit, bounded := p.limit[string(r.Operation)]; bounded && p.taken[string(r.Operation)] >= limit {
		return nil, errFull
	}
	p.taken[string(r.Operation)]++
	one, err := p.service.Prepare(ctx, r)
	return &place{Prepared: one, of: p, operation: string(r.Operation)}, err
}

func (p *places) Judge(err error) Judgment {
	if errors.Is(err, errFull) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return Judgment{Class: ledger.Refusal, Local: true, Wait: max(time.Until(p.next), 2*time.Second)}
	}
	return p.service.Judge(err)
}

// place is one of them: it is given back by Drop, unless it was used.
type place struct {
	Prepared
	of        *places
	operation string
	used      bool
}

func (p *place) Send(ctx context.Context, gate transport.Gate) Response {
	p.used = true
	return p.Prepared.Send(ctx, gate)
}

func (p *place) Drop() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if !p.used {
		p.used = true
		p.of.taken[p.operation]--
		p.of.most[p.operation]++
	}
}

// inPlaces is the driver of a client whose requests have places.
func inPlaces(t *testing.T, s *service, limit map[string]int) (*Driver, *places) {
	t.Helper()
	p := &places{service: s, limit: limit, taken: map[string]int{}, most: map[string]int{}}
	return client(t, s, func(c *Config) { c.Host = p }), p
}

// minutes frees all places once a minute, until the test's end.
func (p *places) minutes(t *testing.T) {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	p.next = time.Now().Add(time.Minute)
	go func() {
		for minute := time.NewTicker(time.Minute); ; {
			select {
			case <-done:
				minute.Stop()
				return
			case <-minute.C:
				p.mu.Lock()
				clear(p.taken)
				p.next = time.Now().Add(time.Minute)
				p.mu.Unlock()
			}
		}
	}()
}

// D 21: the probe has its place before its second fence goes, so it does not wait for one
// while the 422 ages. What it did not need is given back.
func TestEdge21_TheProbeHasItsPlaceBeforeItsFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered()}
		d, p := inPlaces(t, s, map[string]int{order: 0})
		w := lost(t, d, "w_1", order)
		time.Sleep(30 * time.Second)
		assert.Equal(t, "fence", s.asks(), "the second fence waits for the probe's place")
		p.mu.Lock()
		p.limit[order] = 1
		p.mu.Unlock()
		require.True(t, resolved(t, d, w, 10*time.Second))
		assert.Equal(t, "fence, fence, /orders", s.asks())
		assert.Equal(t, s.at[1], s.at[2], "and the probe goes with it")
	})
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {reused, noOrder}}}
		d, p := inPlaces(t, s, nil)
		require.True(t, resolved(t, d, lost(t, d, "w_1", order), time.Minute))
		assert.Equal(t, "fence, fence, look, look", s.asks())
		assert.Equal(t, 1, p.most[order], "no probe follows a fence that holds")
		assert.Zero(t, p.taken[order])
	})
}

// With three requests a minute in each class recovery has one of them. The fence and the
// calibration, which takes two or six, each have it in their turn.
func TestTheCalibrationHasAPlaceBesideTheFences(t *testing.T) {
	for name, c := range map[string]struct {
		keys   func(Request) ledger.Answer
		repeat ledger.Answer // of the fence on the write's own route
		want   namespace
		most   time.Duration
	}{
		"one namespace": {oneNamespace, noOrder, namespaceOne, 4 * time.Minute},
		"by route":      {byRoute(), replayed(tooSmall), namespaceByRoute, 8 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{keys: c.keys, answers: map[string][]ledger.Answer{cancelOrder: {noOrder}, order: {c.repeat}}}
			d, p := inPlaces(t, s, map[string]int{cancelOrder: 1, cancelRun: 1, order: 1})
			p.minutes(t)
			assert.True(t, resolved(t, d, lost(t, d, "w_1", order), c.most), "%s: %s", name, s.asks())
			shut(d)
			assert.Equal(t, c.want, d.namespace, name)
		})
	}
}

// D 27: of the writes that are due, those that may still be asked about with their own bytes
// go first, however old the others are.
func TestEdge27_ThoseInsideTheWindowAreFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		s := &service{}
		s.handle = func(r Request) ledger.Answer {
			if r.Key == "key of w_0" {
				time.Sleep(time.Second) // the others come meanwhile
			}
			keys = append(keys, string(r.Key))
			return noOrder
		}
		s.keys = oneNamespace
		d := client(t, s, func(c *Config) { c.Background = false })
		d.namespace = namespaceOne
		old := lost(t, d, "w_1", order)
		time.Sleep(ledger.Window + time.Minute)
		first, young := lost(t, d, "w_0", order), lost(t, d, "w_2", order)
		var waits sync.WaitGroup
		for _, w := range []*OpenWrite{first, old, young} {
			waits.Go(func() { assert.True(t, resolved(t, d, w, time.Minute), w.Intent.ID) })
			synctest.Wait()
		}
		waits.Wait()
		assert.Equal(t, []string{"key of w_0", "key of w_2", "key of w_1"}, keys)
	})
}

// Where no fence proves anything, or none may go since the service may have forgotten a key that
// others use too, that is said half an hour after the last byte, and not that it can still run.
func TestWhatIsSaidWhereNoFenceHolds(t *testing.T) {
	disabled := refused(403, "asset_disabled")
	for name, row := range map[string]struct {
		keys  func(Request) ledger.Answer
		fence ledger.Answer
		of    func(*OpenWrite)
	}{
		"no fence proves anything": {inTurn(noOrder, noRun, noOrder), noOrder, func(*OpenWrite) {}},
		"the key may be forgotten": {oneNamespace, noOrder, func(w *OpenWrite) {
			w.Ledger.Source, w.Ledger.FirstUseKnown = ledger.Given, false
			w.Ledger.Decided.Wall = w.Ledger.Decided.Wall.Add(-ledger.Forgotten)
		}},
		"fences are refused in front of the key":    {byRoute(), disabled, func(*OpenWrite) {}},
		"an account that takes no cancels any more": {oneNamespace, refused(403, "account_locked"), func(*OpenWrite) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{keys: row.keys, answers: map[string][]ledger.Answer{cancelOrder: {row.fence}, limit: {row.fence}}}
				d := client(t, s, notDeclared)
				w := lost(t, d, "w_1", limit, func(w *OpenWrite) { w.Ledger.Exclusive = false }, row.of)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
				defer cancel()
				r, known := d.Wait(ctx, w)
				assert.False(t, known)
				require.NoError(t, ctx.Err(), "it goes on asking")
				require.ErrorContains(t, r.Err, noTraceLeft)
			})
		})
	}
}

// D 23: a limit or a Pro order of which nothing shows, and of which the service hides every
// answer, on an account that others may trade. Half an hour after the last byte it is said what
// it can have come to, and nothing more is asked until somebody wants to know.
func TestEdge23_WhatIsSaidWhenNoAnswerComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, operation := range []string{limit, twap} {
			s := &service{answers: map[string][]ledger.Answer{cancelOrder: {reused}}}
			d := client(t, s, notDeclared)
			began := time.Now()
			w := lost(t, d, "w_1", operation, func(w *OpenWrite) { w.Ledger.Exclusive = false })
			r, known := d.Wait(t.Context(), w)
			took := time.Since(began)
			assert.False(t, known)
			require.ErrorContains(t, r.Err, noTraceLeft)
			assert.GreaterOrEqual(t, took, ledger.Gone)
			assert.Less(t, took, 10*time.Minute+ledger.Gone+time.Minute, "half an hour after the last probe")
			asked := len(s.asked)
			assert.Less(t, asked, 120)
			time.Sleep(20 * time.Hour)
			assert.Len(t, s.asked, asked)
			s.change(func() { s.answers = map[string][]ledger.Answer{cancelOrder: {noOrder}} }) // it has forgotten
			time.Sleep(5 * time.Hour)
			d.Ask(w, d.Requests())
			assert.True(t, resolved(t, d, w, time.Minute), operation)
			shut(d)
		}
	})
}

// Many answers that are lost, 100 in each of five minutes: recovery has 20 fences a minute here,
// and each write takes two, so ten are decided in each minute, for as long as any may be asked
// with its own bytes. No fence goes to a write that its second would reach too late while there
// are others. What is left is looked at when it is gone.
func TestMoreAnswersAreLostThanTheLimitsLetAskFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered()}
		d, p := inPlaces(t, s, map[string]int{cancelOrder: 20, order: 20})
		p.minutes(t)
		known := func() int { return now(s, func() int { return len(s.resolved) }) }
		for minute := range 45 {
			for i := range 100 {
				if minute < 5 {
					lost(t, d, fmt.Sprint("w_", minute, "_", i), order)
				}
			}
			if minute == 14 {
				assert.GreaterOrEqual(t, known(), 130)
			}
			time.Sleep(time.Minute)
			s.turns.Store(0)
		}
		assert.Equal(t, 500, known())
	})
}

// scarce has twelve reads a minute, of which a look takes five, one after the other.
type scarce struct {
	*service

	mu sync.Mutex
	at []time.Time
}

func (s *scarce) Read(ctx context.Context, account books.AccountKey, of List, awaited bool) (*AccountLook, error) {
	for range 5 {
		if !awaited && !s.take() {
			return nil, errFull
		}
	}
	return s.service.Read(ctx, account, of, awaited)
}

func (s *scarce) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.at) > 0 && time.Since(s.at[0]) >= time.Minute {
		s.at = s.at[1:]
	}
	if len(s.at) >= 12 {
		return false
	}
	s.at = append(s.at, time.Now())
	return true
}

func (s *scarce) Judge(err error) Judgment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, errFull) {
		return s.service.Judge(err)
	}
	return Judgment{Class: ledger.Refusal, Local: true, Wait: time.Until(s.at[0].Add(time.Minute))}
}

// A look that the limits cut short takes places for nothing. One that began again with each place
// that becomes free would take them for ever, and never be whole.
func TestALookThatIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scarce{service: &service{answers: map[string][]ledger.Answer{cancelOrder: {noOrder}}}}
		for _, ago := range []time.Duration{59, 58, 56, 52, 44, 28, 24, 20, 16, 12, 8, 4} {
			s.at = append(s.at, time.Now().Add(-ago*time.Second))
		}
		d := client(t, s.service, func(c *Config) { c.Host = s })
		assert.True(t, resolved(t, d, lost(t, d, "w_1", order), 5*time.Minute), s.asks())
	})
}

// The first look that the limits cut short begins again when there may be room, the next ones when
// there is room for all of it.
func TestWhenALookThatWasCutShortBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{})
		for _, wait := range []time.Duration{time.Second, limitWindow, limitWindow} {
			full := (*noRoom)(nil)
			require.ErrorAs(t, d.cutShort(ErrClosed, time.Second), &full)
			assert.Equal(t, time.Now().Add(wait), full.until)
		}
	})
}

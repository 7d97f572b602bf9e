package resolve

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// A journal that has no answer, or whose caller's context ends, has the record all the same, or later:
// nothing that is asked of it comes about. What the living process knows then is in the journal behind it.

// outlasts has the journal take the next record of a kind, in the words of [disk.says], and answer
// nobody. It says whether that has been.
func (k *disk) outlasts(what string) (been func() bool) {
	done := false
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unanswered = func(says string) bool {
		is := !done && says == what
		done = done || is
		return is
	}
	return func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return done
	}
}

// An attempt to ask once more, and each question of the driver's, is durable before its byte. Where the
// journal does not answer, no byte leaves, and a later run knows that: a stored refusal is the one send's own.
func TestFound11_WhatWasNotedAndNeverSent(t *testing.T) {
	for _, what := range []string{"send", "fence", "probe"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				s := &service{answers: map[string][]ledger.Answer{cancelOrder: {reused}}}
				one := client(t, s, on(k), notDeclared)
				date(one)
				been := k.outlasts(what)
				answers := []ledger.Answer{silence}
				if what == "send" {
					answers = append(answers, silence)
				}
				w := newWrite(one, "1", order, func(w *OpenWrite) { w.Ledger.Exclusive = false })
				concluded, _ := send(t, one, w, answers...)
				require.False(t, concluded)
				for range 60 {
					if !been() {
						time.Sleep(time.Second)
					}
				}
				require.True(t, been())
				s.change(func() { s.answers[cancelOrder] = []ledger.Answer{silence} })
				shut(one)

				s = &service{answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(tooSmall)}}}
				two := client(t, s, on(k.restart()), notDeclared)
				date(two)
				require.NoError(t, two.Load(t.Context()))
				time.Sleep(time.Minute)
				resolved := now(s, func() []Found { return s.resolved })
				require.Len(t, resolved, 1)
				assert.Equal(t, ledger.NotApplied, resolved[0].Outcome)
				assert.Equal(t, ByReplay, resolved[0].Evidence, "the refusal says it, and no look")
			})
		})
	}
}

// A person's word that the journal may have counts: a later run would go by it.
func TestFound11_AnAcknowledgementWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		one := client(t, &service{}, on(k))
		lost(t, one, "1", order)
		been := k.outlasts("acknowledged")
		err := one.Acknowledge(t.Context(), "1", ledger.Applied, "I looked")
		require.ErrorIs(t, err, journal.ErrUnanswered)
		require.True(t, been())
		assert.Nil(t, one.pending.find("1"), "nobody is asked for another word")
		require.Error(t, one.Acknowledge(t.Context(), "1", ledger.NotApplied, "I looked again"))
		shut(one)
		two := client(t, &service{}, on(k.restart()))
		pending, err := two.Pending(t.Context())
		require.NoError(t, err)
		assert.Empty(t, pending)
		ended, canceled := context.WithCancel(t.Context())
		canceled()
		lost(t, two, "2", order)
		require.ErrorIs(t, two.Acknowledge(ended, "2", ledger.Applied, "I looked"), context.Canceled)
		assert.NotNil(t, two.pending.find("2"), "it was not given to the journal")
	})
}

// The end of a write that a journal which hangs does not take is there as soon as the journal takes
// anything, or the client closes.
func TestFound11_AnEndThatTheJournalDoesNotTake(t *testing.T) {
	for _, closes := range []bool{false, true} {
		t.Run(fmt.Sprint("the client closes ", closes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, unwritten := newDisk(), 0
				one := client(t, &service{}, on(k), func(c *Config) { c.Unwritten = func(*pending.Intent, error) { unwritten++ } })
				w := newWrite(one, "1", order)
				one.Own(w, "")
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				k.hangs(true)
				require.Error(t, one.Before(ctx, w, false))
				one.LetGo(w)
				assert.Equal(t, ledger.NotApplied, w.Ledger.Outcome())
				assert.Equal(t, 1, unwritten)
				k.hangs(false)
				if closes {
					shut(one)
				} else {
					_, err := send(t, one, newWrite(one, "2", order), success)
					require.NoError(t, err)
				}
				for h, err := range k.Store.Pending(t.Context()) {
					t.Error("pending:", h.Intent, err)
				}
			})
		})
	}
}

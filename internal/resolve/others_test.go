package resolve

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
)

// D 52: a sign that somebody else trades an account ends its declaration, for the next run
// of the program too, until somebody declares it anew.
func TestEdge52_ASignOutlivesTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, reported := journal.NewMemory(), []string(nil)
		with := func(c *Config) {
			c.Journal = store
			c.Others = func(account pending.AccountID, sign string) { reported = append(reported, string(account)+": "+sign) }
		}
		d := client(t, &service{}, with)
		require.True(t, d.Exclusive("acc_1"))
		d.Books.NoteOthers(liveBook("acc_1"), "an order that nobody here placed")
		d.pending.othersTrade("here", liveBook("acc_1"), "an order that nobody here placed")
		synctest.Wait()
		assert.Equal(t, []string{"acc_1: an order that nobody here placed"}, reported)
		assert.False(t, d.Exclusive("acc_1"))
		assert.True(t, d.Exclusive("acc_2"))
		d.pending.othersTrade("elsewhere", liveBook("acc_1"), "of a service that nobody asks")
		synctest.Wait()
		assert.Len(t, reported, 1)
		shut(d)

		d = client(t, &service{}, with)
		assert.False(t, d.Exclusive("acc_1"))
		require.NoError(t, d.DeclareAnew(t.Context(), "acc_1"))
		assert.True(t, d.Exclusive("acc_1"))
		shut(d)
		assert.True(t, client(t, &service{}, with).Exclusive("acc_1"))
	})
}

// hangsAt does not say what it has of one account's name.
type hangsAt struct {
	*disk
	name string
}

func (k *hangsAt) Named(ctx context.Context, name string) ([]journal.History, error) {
	if name != k.name {
		return k.disk.Named(ctx, name)
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A question to a journal that hangs holds up nobody on another account, and an exit on the same one no longer
// than an exit waits for the journal.
func TestAQuestionThatHangsHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &hangsAt{newDisk(), signOf("here", "acc_1")}
		d := client(t, &service{}, func(c *Config) { c.Journal = k })
		asked := make(chan error)
		go func() { asked <- d.askJournal(t.Context(), "acc_1", notePatience) }()
		synctest.Wait()
		began := time.Now()
		assert.True(t, d.Exclusive("acc_2"))
		assert.Zero(t, time.Since(began))
		assert.False(t, d.Exclusive("acc_1"))
		assert.Equal(t, exitWaits, time.Since(began))
		require.ErrorIs(t, <-asked, errHangs)
		assert.Equal(t, notePatience, time.Since(began))
	})
}

// What is declared anew stays so, whatever a question of before says of it later.
func TestWhatIsDeclaredAnewStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		client(t, &service{}, on(k)).keepSign("here", "acc_1", "an order that nobody here placed")
		goes := make(chan struct{})
		d := client(t, &service{}, func(c *Config) { c.Journal = &slowToSay{k, goes} })
		asked := make(chan error)
		go func() { asked <- d.askJournal(t.Context(), "acc_1", notePatience) }()
		synctest.Wait()
		require.NoError(t, d.DeclareAnew(t.Context(), "acc_1"))
		close(goes)
		require.NoError(t, <-asked)
		assert.True(t, d.Exclusive("acc_1"))
	})
}

// slowToSay says later what it has of a name.
type slowToSay struct {
	*disk
	goes chan struct{}
}

func (k *slowToSay) Named(ctx context.Context, name string) ([]journal.History, error) {
	histories, err := k.disk.Named(ctx, name)
	<-k.goes
	return histories, err
}

// By two base URLs an account may be one or two: what is done by the one can be what the other
// takes for a lost order.
func TestOneAccountByTwoBaseURLs(t *testing.T) {
	for name, both := range map[string]bool{"one base URL": false, "two": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, reported := newDisk(), []string(nil)
				others := func(c *Config) {
					c.Others = func(account pending.AccountID, sign string) { reported = append(reported, string(account)+": "+sign) }
				}
				there := func(c *Config) {
					if both {
						c.BaseURL = "there"
					}
				}
				s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
				s.look = func() (AccountLook, error) {
					return AccountLook{Status: "ACTIVE", Orders: []string{"ord_0"}, Positions: map[string]accounting.Holding{"BTC": {Size: decimal.NewFromInt(1)}}}, nil
				}
				here, other := client(t, s, on(k), others), client(t, s, on(k), there)
				readTwice(here)
				w := lost(t, here, "w_1", order)
				concluded, err := send(t, other, newWrite(other, "w_2", order, func(w *OpenWrite) { w.Intent.Symbol = "ETH" }), success)
				require.NoError(t, err)
				require.True(t, concluded)
				r, known := here.Wait(t.Context(), w)
				assert.Equal(t, !both, known)
				want := []string(nil)
				if both {
					want = []string{"acc_1: " + byTwoBaseURLs}
					require.ErrorContains(t, r.Err, string(accounting.NotExclusive))
				} else {
					assert.Equal(t, ledger.Applied, r.Outcome)
				}
				synctest.Wait() // for who reports
				assert.Equal(t, want, reported)
				shut(here)
				shut(other)
				for _, of := range []func(*Config){there, func(*Config) {}} {
					assert.Equal(t, !both, client(t, &service{}, on(k.restart()), foreground, of).Exclusive("acc_1"), "for later runs too")
				}
			})
		})
	}
}

// D 39: a write that was turned away before its route is not executed if a second, different
// question is turned away in the same words. Else it is in doubt like any other.
func TestEdge39_TheSecondQuestion(t *testing.T) {
	denied := refused(401, "invalid_api_key")
	denied.Confirm, denied.InFront = true, true
	for name, row := range map[string]struct {
		second  ledger.Answer
		outcome ledger.Outcome
		by      Evidence
		asked   []string
	}{
		"turned away too": {denied, ledger.NotApplied, ByAnswer, []string{readAccount}},
		"let through":     {success, ledger.Applied, ByReplay, []string{readAccount, cancelOrder, cancelOrder, order}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{body: `{}`, answers: map[string][]ledger.Answer{
					readAccount: {row.second}, cancelOrder: {reused}, order: {replayed(success)},
				}}
				d := client(t, s)
				w := newWrite(d, "w_1", order)
				concluded, err := send(t, d, w, denied)
				require.NoError(t, err)
				require.False(t, concluded)
				r, known := waitFor(t, d, w, time.Minute)
				require.True(t, known)
				assert.Equal(t, row.outcome, r.Outcome)
				assert.Equal(t, row.by, r.Evidence)
				assert.Equal(t, row.asked, now(s, func() []string { return s.asked }))
				if row.outcome == ledger.NotApplied {
					require.EqualError(t, r.Err, "invalid_api_key", "the first answer is the write's")
				}
			})
		})
	}
}

// What the wire and the journal say, where this version does not know it.
func TestWordsOfTheWire(t *testing.T) {
	for name, want := range map[string]accounting.Cause{
		"market": accounting.Market, "stop_loss": accounting.StopLoss, "take_profit": accounting.TakeProfit, "liquidation": accounting.OtherCause,
	} {
		assert.Equal(t, want, CauseOf(name))
	}
	quote := func(text string) string { return text }
	assert.Equal(t, "somebody asked what became of it", factText(&ledger.Fact{Kind: ledger.Asked}, quote))
	assert.Equal(t, "a fact that this version does not know", factText(&ledger.Fact{Kind: 99}, quote))
	assert.Equal(t, "an unknown code", code("no code"))
	assert.Zero(t, (&Final{}).DecidedAt())
	one := OpenWrite{Intent: pending.Intent{Operation: order, Account: "acc_1", Body: []byte("{}")}}
	other := OpenWrite{Intent: pending.Intent{Operation: order, Account: "acc_2", Body: []byte("{}")}}
	assert.True(t, one.SameOrder(&one))
	assert.False(t, one.SameOrder(&other))
	one.Intent.Body = bytes.Repeat([]byte("1"), wire.MostShown+1)
	other.Intent = one.Intent
	other.Intent.Body = append(bytes.Clone(one.Intent.Body[:wire.MostShown]), '2')
	assert.NotEqual(t, one.Digest(), other.Digest(), "every byte of it counts")
	assert.ErrorIs(t, &noRoom{error: errNoAnswer}, errNoAnswer)
}

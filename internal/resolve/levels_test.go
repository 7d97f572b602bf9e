package resolve

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// levelsAt are levels; 0 is none.
func levelsAt(takeProfit, stopLoss int64) (l Levels) {
	if takeProfit > 0 {
		l.TakeProfitPrice = decimal.NewNullDecimal(decimal.NewFromInt(takeProfit))
	}
	if stopLoss > 0 {
		l.StopLossPrice = decimal.NewNullDecimal(decimal.NewFromInt(stopLoss))
	}
	return l
}

// body is what a setting of levels sends.
func body(takeProfit, stopLoss int64) func(*OpenWrite) {
	price := func(p int64) string {
		if p == 0 {
			return "null"
		}
		return fmt.Sprint(p)
	}
	return func(w *OpenWrite) {
		w.Intent.Body = []byte(`{"symbol":"BTC","takeProfitPrice":` + price(takeProfit) + `,"stopLossPrice":` + price(stopLoss) + `}`)
	}
}

func restores(id string) func(*OpenWrite) {
	return func(w *OpenWrite) { w.Setting = Setting{Restores: pending.IntentID(id)} }
}

// begins registers a setting that its call has not concluded yet.
func begins(t *testing.T, d *Driver, id string, change ...func(*OpenWrite)) *OpenWrite {
	t.Helper()
	w := newWrite(d, id, levels, change...)
	d.Own(w, "")
	require.NoError(t, d.Before(t.Context(), w, false))
	d.MayLeave(w)
	return w
}

// heard concludes it.
func heard(t *testing.T, d *Driver, w *OpenWrite, said ledger.Answer) {
	t.Helper()
	d.SendBegins(w)
	d.Heard(w, time.Now(), said, false)
	require.True(t, d.Conclude(w, &Response{Answer: said, Key: w.Try().Key, Received: time.Now()}))
}

// An older setting that is found out about behind a newer one: the levels last wanted are
// set again if it has overwritten them, here or after a restart.
func TestAnOlderSettingBesideNewerOnes(t *testing.T) {
	older, newer, others := levelsAt(110, 90), levelsAt(120, 80), levelsAt(130, 70)
	set := func(takeProfit, stopLoss int64, said ledger.Answer, change ...func(*OpenWrite)) func(*testing.T, *Driver, string) {
		return func(t *testing.T, d *Driver, id string) {
			heard(t, d, begins(t, d, id, append(change, body(takeProfit, stopLoss))...), said)
		}
	}
	unnamed := func(u Unnamed) func(*OpenWrite) { return func(w *OpenWrite) { w.Setting = Setting{Unnamed: u} } }
	for _, row := range []struct {
		name        string
		newer       []func(*testing.T, *Driver, string)
		has         []Levels
		noRead      error
		cannot      error
		set         []Levels
		superseded  bool
		overwritten bool
		after       time.Duration // since it was lost
		says        string
		here        bool // not after a restart
	}{
		{name: "none is newer", has: []Levels{older}, after: 10 * time.Second},
		{name: "the newer one was refused", newer: []func(*testing.T, *Driver, string){set(120, 80, tooSmall)}, has: []Levels{older}, after: 10 * time.Second},
		{
			name: "the newer one stands", newer: []func(*testing.T, *Driver, string){set(120, 80, success)},
			has: []Levels{newer}, superseded: true, after: 15 * time.Second,
		},
		{
			name: "the older one has overwritten it", newer: []func(*testing.T, *Driver, string){set(120, 80, success)},
			has: []Levels{older, newer}, set: []Levels{newer}, superseded: true, overwritten: true, after: 20 * time.Second,
		},
		{
			name: "it does so again and again", newer: []func(*testing.T, *Driver, string){set(120, 80, success)},
			has: []Levels{older}, set: []Levels{newer, newer, newer}, superseded: true, overwritten: true, after: 30 * time.Second,
			says: "the newer levels could not be set again: the position still has other levels after 3 tries",
		},
		{
			name: "the service refuses", newer: []func(*testing.T, *Driver, string){set(120, 80, success)}, cannot: errDisk,
			has: []Levels{older}, set: []Levels{newer, newer, newer}, superseded: true, overwritten: true, after: 30 * time.Second,
			says: "the newer levels could not be set again: the disk is full",
		},
		{
			name: "others have set levels since", newer: []func(*testing.T, *Driver, string){set(120, 80, success)},
			has: []Levels{others}, superseded: true, after: 15 * time.Second,
		},
		{
			name: "the position is gone", newer: []func(*testing.T, *Driver, string){set(120, 80, success)},
			superseded: true, after: 15 * time.Second,
		},
		{
			name: "the levels cannot be read", newer: []func(*testing.T, *Driver, string){set(120, 80, success)}, noRead: errDisk,
			superseded: true, after: 31*time.Minute + 18*time.Second, says: "the newer levels could not be set again: the disk is full",
		},
		{
			name: "each level by the newest setting that named it", superseded: true, overwritten: true, after: 20 * time.Second,
			newer: []func(*testing.T, *Driver, string){
				set(120, 90, success, unnamed(Unnamed{StopLoss: true})), set(110, 80, success, unnamed(Unnamed{TakeProfit: true})),
			},
			has: []Levels{levelsAt(110, 80), levelsAt(120, 80)}, set: []Levels{levelsAt(120, 80)},
		},
		{
			name: "what restores it is older than what is newer", superseded: true, overwritten: true, after: 20 * time.Second,
			newer: []func(*testing.T, *Driver, string){set(120, 80, success), set(110, 90, success, restores("w_1"))},
			has:   []Levels{older, newer}, set: []Levels{newer},
		},
		{
			name: "a newer one is open for long", here: true, superseded: true, after: 31*time.Minute + 10*time.Second,
			newer: []func(*testing.T, *Driver, string){func(t *testing.T, d *Driver, id string) { begins(t, d, id, body(120, 80)) }},
			has:   []Levels{older}, says: "a newer setting is still in doubt",
		},
	} {
		for _, restarted := range []bool{false, true} {
			if restarted && row.here {
				continue
			}
			t.Run(fmt.Sprint(row.name, ", after a restart ", restarted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}, has: row.has, noRead: row.noRead, cannot: row.cannot}
					s.look = func() (l AccountLook, err error) {
						if len(s.has) > 0 {
							l.Levels = map[string]Levels{"BTC": s.has[0]}
						}
						return l, nil
					}
					k := newDisk()
					d := client(t, s, on(k), func(c *Config) { c.Background = !restarted })
					w := lost(t, d, "w_1", levels, body(110, 90))
					for i, begin := range row.newer {
						begin(t, d, fmt.Sprint("w_", i+2))
					}
					assert.Equal(t, !row.superseded, d.MayLeave(w))
					if restarted {
						k = k.restart()
						d = client(t, s, on(k))
						require.NoError(t, d.Load(t.Context()))
						w = d.pending.find("w_1")
					}
					began := time.Now()
					r, known := d.Wait(t.Context(), w)
					require.True(t, known)
					assert.Equal(t, row.set, s.set)
					assert.Equal(t, row.superseded, r.Superseded)
					assert.Equal(t, row.overwritten, r.Overwritten)
					assert.Equal(t, row.after, time.Since(began))
					if row.says != "" {
						require.ErrorContains(t, r.Err, row.says)
					} else {
						assert.NotContains(t, fmt.Sprint(r.Err), "set again")
					}
					if !row.here {
						assert.Empty(t, d.levels.of, "nothing is kept of settings that have ended")
					}
				})
			})
		}
	}
}

// The journal keeps with an open setting those begun after it, and what became of them.
func TestWhatTheJournalKeepsOfSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		d := client(t, &service{}, on(k), foreground)
		lost(t, d, "w_1", levels, body(110, 90))
		second := begins(t, d, "w_2", body(120, 80))
		heard(t, d, begins(t, d, "w_3", body(130, 70)), tooSmall)
		heard(t, d, second, success)
		assert.Equal(t, "begin!, answer, newer, newer, newer end, newer end", k.of("w_1"))
		assert.Equal(t, "begin!, newer, newer end, end", k.of("w_2"))
		assert.Equal(t, "begin!, end", k.of("w_3"))
	})
	synctest.Test(t, func(t *testing.T) { // those begun while its own beginning was on its way
		k := newDisk()
		d := client(t, &service{}, on(k), foreground)
		first := newWrite(d, "w_1", levels, body(110, 90))
		d.Own(first, "")
		k.fail = func(string) error {
			k.fail = nil
			k.mu.Unlock()
			defer k.mu.Lock()
			begins(t, d, "w_2", body(120, 80))
			heard(t, d, begins(t, d, "w_3", body(130, 70)), success)
			return nil
		}
		require.NoError(t, d.Before(t.Context(), first, false))
		assert.Equal(t, "begin!, newer, newer, newer end", k.of("w_1"))
	})
}

// The journal of an older setting misses that a newer one began, and has a third one before it hears how the second ended:
// the third stands after a restart too.
func TestTheOrderOfSettingsOfWhichAJournalMissesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		d := client(t, &service{}, on(k), foreground, func(c *Config) { c.Unwritten = func(*pending.Intent, error) {} })
		lost(t, d, "w_1", levels, body(110, 90))
		k.failsAt("newer")
		second := begins(t, d, "w_2", body(120, 80))
		time.Sleep(time.Second)
		third := begins(t, d, "w_3", body(130, 70))
		heard(t, d, second, success)
		heard(t, d, third, success)
		assert.Equal(t, "begin!, answer, newer, newer end, newer end", k.of("w_1"))

		s := &service{has: []Levels{levelsAt(110, 90)}, answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		s.look = func() (AccountLook, error) {
			return AccountLook{Status: "ACTIVE", Levels: map[string]Levels{"BTC": s.has[0]}}, nil
		}
		_, err := client(t, s, on(k.restart())).Recover(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, s.set)
		for _, set := range s.set {
			assert.True(t, levelsAt(130, 70).equal(set), "%+v", set)
		}
	})
}

// Of two settings that were left, the newer one is found out about too. One that is in no
// journal but that of the older never left.
func TestSettingsThatWereLeft(t *testing.T) {
	for _, journaled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			before := client(t, &service{}, on(k), foreground)
			lost(t, before, "w_1", levels, body(110, 90))
			newer := newWrite(before, "w_2", levels, body(120, 80))
			before.Own(newer, "")
			if !journaled {
				k.failsAt("begin")
			}
			err := before.Before(t.Context(), newer, false)
			assert.Equal(t, journaled, err == nil)
			s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}, has: []Levels{levelsAt(120, 80)}}
			s.look = func() (AccountLook, error) { return AccountLook{Levels: map[string]Levels{"BTC": s.has[0]}}, nil }
			d := client(t, s, on(k.restart()))
			found, err := d.Recover(t.Context())
			require.NoError(t, err)
			assert.Equal(t, ledger.NotApplied, found[0].Outcome)
			assert.Equal(t, journaled, found[0].Superseded)
			require.Equal(t, journaled, len(found) == 2)
			if journaled {
				assert.Equal(t, ledger.Applied, found[1].Outcome)
			}
		})
	}
}

// A body that is no setting is none to the others.
func TestASettingThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unreadable := func(w *OpenWrite) { w.Intent.Body = []byte(`{"takeProfitPrice":"high"}`) }
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		k := newDisk()
		d := client(t, s, on(k), foreground)
		lost(t, d, "w_1", levels, unreadable)
		assert.Empty(t, d.levels.of)
		d = client(t, s, on(k.restart()))
		found, err := d.Recover(t.Context())
		require.Len(t, found, 1)
		require.ErrorContains(t, err, string(accounting.DoesNotFit))
		assert.False(t, strings.Contains(s.asks(), "set"))
	})
}

// What the position shows decides about a setting that has come to rest.
func TestDecideLevels(t *testing.T) {
	d := client(t, &service{})
	for _, row := range []struct {
		name       string
		asked, has Levels
		flat       bool
		held, gone bool
		want       ledger.Outcome
		why        accounting.Reason
		body       string
	}{
		{name: "it can still be carried out", asked: levelsAt(110, 90), has: levelsAt(110, 90), why: accounting.NotHeld},
		{name: "it was", asked: levelsAt(110, 90), has: levelsAt(110, 90), held: true, want: ledger.Applied, why: accounting.LevelsSet},
		{name: "it is gone", asked: levelsAt(110, 90), has: levelsAt(110, 90), gone: true, want: ledger.Applied, why: accounting.LevelsSet},
		{name: "another price", asked: levelsAt(110, 90), has: levelsAt(111, 90), held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
		{name: "another stop", asked: levelsAt(110, 90), has: levelsAt(110, 91), held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
		{name: "one is not set", asked: levelsAt(110, 90), has: levelsAt(110, 0), held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
		{name: "both are cleared", held: true, want: ledger.Applied, why: accounting.LevelsSet},
		{name: "one is left out, and the other is there", body: `{"stopLossPrice":90}`, has: levelsAt(111, 90), held: true, want: ledger.Applied, why: accounting.LevelsSet},
		{name: "one is left out, and the other is not there", body: `{"stopLossPrice":90}`, has: levelsAt(111, 91), held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
		{name: "one is left out, and the other is not cleared", body: `{"takeProfitPrice":null}`, has: levelsAt(111, 91), held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
		{name: "there is no position", flat: true, held: true, want: ledger.NotApplied, why: accounting.LevelsNot},
	} {
		w := newWrite(d, "w_1", levels, func(w *OpenWrite) {
			take, stop := row.asked.TakeProfitPrice.Decimal.IntPart(), row.asked.StopLossPrice.Decimal.IntPart()
			body(take, stop)(w)
			if row.body != "" {
				w.Intent.Body = []byte(row.body)
			}
		})
		if row.held {
			w.Ledger.Note(ledger.Fact{Kind: ledger.FenceEnded, Answer: partWay})
		}
		l := &AccountLook{}
		if !row.flat {
			l.Levels = map[string]Levels{"BTC": row.has}
		}
		v := decideLevels(w, l, row.gone)
		assert.Equal(t, row.want, v.Outcome, row.name)
		assert.Equal(t, row.why, v.Reason, row.name)
	}
}

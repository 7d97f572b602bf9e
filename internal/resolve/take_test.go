package resolve

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// Of the writes under a name the one counts that went furthest, in whatever order they
// ended, and whether the journal has its end or this run alone.
func TestTheWriteThatWentFurthest(t *testing.T) {
	applied := Final{Outcome: ledger.Applied, Try: 1, FirstUseKnown: true}
	refused := Final{Outcome: ledger.NotApplied, Try: 2, Dead: true, FirstUseKnown: true}
	unsent := Final{Outcome: ledger.NotApplied, Try: 2, FirstUseKnown: true}
	shared := Final{Outcome: ledger.Unknown, Try: 1}
	for _, row := range []struct {
		name         string
		one, another Final
		want         Final
	}{
		{"D 4: a dial that failed, and what was applied", unsent, applied, applied},
		{"a later try that was refused, and what was applied", refused, applied, applied},
		{"a later try", Final{Outcome: ledger.NotApplied, Try: 1, Dead: true, FirstUseKnown: true}, unsent, unsent},
		{"a key that is dead", unsent, refused, refused},
		{"a key that may be another program's", shared, refused, Final{Outcome: ledger.NotApplied, Try: 2, Dead: true}},
	} {
		for _, order := range [][2]Final{{row.one, row.another}, {row.another, row.one}} {
			for kept := range 3 { // how many of them the journal does not have
				k := newDisk()
				d := client(t, &service{}, on(k))
				for i, f := range order {
					if i < kept {
						d.pending.kept.keep("entry 7", f)
						continue
					}
					data, err := json.Marshal(record{End: &f})
					require.NoError(t, err)
					require.NoError(t, k.Store.Append(t.Context(), true, journal.Record{Intent: []string{"w_1", "w_2"}[i], Name: "entry 7", Final: true, Data: data}))
				}
				last, err := d.store.last(t.Context(), "entry 7")
				require.NoError(t, err)
				assert.Equal(t, row.want, *last, row.name)
			}
		}
	}
}

// D 5: a history that has no end, of which this run knows nothing, is not passed over.
func TestAnUnfinishedHistoryCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		d := client(t, &service{}, on(k), foreground)
		require.NoError(t, d.Load(t.Context()))
		data, err := json.Marshal(record{Begin: &begin{Intent: &pending.Intent{ID: "w_1"}}})
		require.NoError(t, err)
		require.NoError(t, k.Store.Append(t.Context(), true, journal.Record{Intent: "w_1", Name: "entry 7", Data: data}))
		w := newWrite(d, "w_2", order, named("entry 7"))
		d.Own(w, "entry 7")
		_, _, err = d.Take(t.Context(), w)
		require.ErrorContains(t, err, "the journal has no end of write w_1")
		d.LetGo(w)
		assert.Nil(t, d.taker("entry 7"))
	})
}

// A key is dead for as long as the service knows why.
func TestADeadKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Final{Dead: true, At: time.Now()}
		time.Sleep(ledger.Forgotten - 1)
		assert.True(t, f.Spent(ledger.Without{}))
		time.Sleep(time.Nanosecond)
		assert.False(t, f.Spent(ledger.Without{}))
	})
}

// What is forgotten leaves room for others.
func TestForgottenFinals(t *testing.T) {
	var k finals
	k.keep("entry 7", Final{Try: 1})
	k.forget("entry 7")
	k.forget("entry 8")
	assert.Nil(t, k.find("entry 7"))
	assert.Empty(t, k.order)
}

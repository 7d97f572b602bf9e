package resolve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// What the clients of one journal share.

// One client sees the open writes of the other, waits for them, and takes them over when
// that closes.
func TestAWriteOfAnotherClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		silent, s := &service{}, &service{answers: answered()}
		first := client(t, silent, on(k))
		date(first)
		w := lost(t, first, "w_1", order)
		d := client(t, s, on(k))
		time.Sleep(time.Second)
		open, err := d.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, open, 1)
		assert.False(t, open[0].Left)
		found, err := d.Recover(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found, "its own client is at it")
		assert.False(t, resolved(t, d, w, 20*time.Second))
		assert.Empty(t, s.asks())

		assert.Equal(t, []pending.IntentID{"w_1"}, shut(first))
		found, err = d.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, ledger.Applied, found[0].Outcome)
	})
}

// Where no client is open that could take a write over, the next one does.
func TestTheNextClientTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		first, elsewhere := client(t, &service{}, on(k)), client(t, &service{}, on(k), at("there"))
		date(first)
		lost(t, first, "w_1", order)
		assert.Equal(t, []pending.IntentID{"w_1"}, shut(first))
		assert.Equal(t, []pending.IntentID{"w_1"}, elsewhere.Leave(), "nobody works on it")
		elsewhere = client(t, &service{}, on(k), at("there"))
		open, err := elsewhere.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, open, 1)
		assert.True(t, open[0].Left)

		d := client(t, &service{answers: answered()}, on(k))
		found, err := d.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, ledger.Applied, found[0].Outcome)
	})
}

func at(baseURL string) func(*Config) { return func(c *Config) { c.BaseURL = baseURL } }

// What an earlier run sent to another service is listed, and not asked about. A person can
// end it.
func TestAWriteToAnotherService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		lost(t, client(t, &service{}, on(k), foreground, at("there")), "w_1", order)
		s := &service{answers: answered()}
		k = k.restart()
		d := client(t, s, on(k))
		found, err := d.Recover(t.Context())
		require.Len(t, found, 1)
		require.ErrorContains(t, err, "it was sent to there")
		assert.Empty(t, s.asks())
		open, err := d.Pending(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "it was sent to there", open[0].Reason)
		require.NoError(t, d.Acknowledge(t.Context(), "w_1", ledger.NotApplied, ""))
		open, err = d.Pending(t.Context())
		require.NoError(t, err)
		assert.Empty(t, open)
		assert.Empty(t, shut(d))
	})
}

// A setting of levels and an order are in places of their own; what waits is beside all
// that waits on the account.
func TestPlaces(t *testing.T) {
	in := &pending.Intent{Environment: "live", Account: "acc_1", Symbol: "BTC"}
	place := func(symbol string) pending.Place {
		return pending.Place{Environment: "live", Account: "acc_1", Symbol: symbol}
	}
	ofLevels := place("BTC")
	ofLevels.Environment = "live levels"
	for operation, want := range map[string][2]pending.Place{
		order:  {place("BTC")},
		limit:  {place("BTC"), place("")},
		twap:   {place("BTC"), place("")},
		levels: {ofLevels},
	} {
		assert.Equal(t, want, TraitsOf(spec.Find(spec.Operation(operation))).places(in), operation)
	}
	edit := Traits{Asks: accounting.EditRun}
	assert.Equal(t, [2]pending.Place{place("BTC"), place("")}, edit.places(in))
	nowhere := &pending.Intent{Environment: "live", Account: "acc_1"}
	assert.Equal(t, [2]pending.Place{place(pending.AnyMarket), place("")}, edit.places(nowhere), "an edit names no market")
	assert.Equal(t, [2]pending.Place{place("")}, TraitsOf(spec.Find(order)).places(nowhere))
}

// Two programs with journals of their own have taken one named decision: each hears the
// stored answer.
func TestTwoPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sharedKey := func(w *OpenWrite) {
			w.SetKey(Try{Key: "the key of both"})
			w.Ledger.Source, w.Ledger.FirstUseKnown = ledger.Derived, false
		}
		for _, k := range []*disk{newDisk(), newDisk()} {
			s := &service{answers: answered(), body: `{"one":"order"}`}
			d := client(t, s, on(k))
			w := lost(t, d, "w_1", order, named("entry 7"), sharedKey)
			r, known := d.Wait(t.Context(), w)
			assert.True(t, known)
			assert.Equal(t, ledger.Applied, r.Outcome)
			assert.Equal(t, `{"one":"order"}`, string(r.Answer))
			for _, sent := range s.sent {
				assert.Equal(t, pending.Key("the key of both"), sent.Key)
			}
			assert.JSONEq(t, `{"one":"order"}`, string(k.end(t, "w_1").Answer))
		}
	})
}

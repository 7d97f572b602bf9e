package claims

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

var one, two = decimal.NewFromInt(1), decimal.NewFromInt(2)

// TestDue: a look is due when it may end what the last one could not.
func TestDue(t *testing.T) {
	s := &Set[int]{}
	assert.False(t, s.Due(0), "without a look")
	look := func(at time.Duration, ids ...trading.OrderID) {
		l := Snapshot{Began: at, Ended: at + time.Second, Open: &trading.OpenOrders{}}
		for _, id := range ids {
			l.Open.Limits = append(l.Open.Limits, trading.RestingOrder{ID: id})
		}
		s.See(l)
	}
	look(0)
	c := &Claim[int]{Symbol: "BTC", Side: trading.Long, Size: one, Waits: true, Order: "ord_1"}
	s.Add(c)
	assert.False(t, s.Due(time.Hour), "under way")
	c.Applied(time.Second)
	assert.True(t, s.Due(time.Second), "the last look was before")
	look(2*time.Second, "ord_1")
	assert.False(t, s.Due(5*time.Second))
	assert.True(t, s.Due(6*time.Second), "every look shows it")
	look(6*time.Second, "ord_1")
	assert.False(t, s.Due(time.Hour), "it was shown")
	look(20 * time.Second)
	assert.False(t, s.Due(25*time.Second))
	assert.True(t, s.Due(26*time.Second), "it is gone for longer than a lag")
	look(25 * time.Second)
	assert.Len(t, s.All(), 1)
	look(26 * time.Second)
	assert.Empty(t, s.All())
}

// TestUnsized: what does not say what it is closes its market, or all of them, until a lag after it is gone.
func TestUnsized(t *testing.T) {
	s := &Set[trading.OrderID]{Elsewhere: func(o *trading.RestingOrder) trading.OrderID { return o.ID }}
	see := func(at time.Duration, o trading.OpenOrders) { s.See(Snapshot{Began: at, Ended: at, Open: &o}) }
	see(0, trading.OpenOrders{Runs: []trading.Run{{ID: "run_1", Symbol: "ETH"}}, Limits: []trading.RestingOrder{
		{ID: "ord_1", Symbol: "BTC", Side: trading.Long, Size: trading.Some(two)},
		{ID: "ord_2", Symbol: "BTC", Side: trading.Long, Size: trading.Some(one), Extra: trading.Extra{"reduceOnly": []byte("true")}},
	}})
	assert.Equal(t, trading.OrderID("ord_1"), s.Waiting("ord_1").Of)
	assert.Equal(t, "2", s.Largest("BTC", trading.Long).String())
	_, btc := s.Unsized("BTC")
	id, eth := s.Unsized("ETH")
	_, all := s.Unsized("")
	assert.Equal(t, []any{false, true, true, "run_1"}, []any{btc, eth, all, id})
	see(time.Second, trading.OpenOrders{Runs: []trading.Run{{ID: "run_2"}}})
	_, btc = s.Unsized("BTC")
	assert.True(t, btc, "of any market")
	see(7*time.Second, trading.OpenOrders{})
	assert.Nil(t, s.Waiting("run_1"))
	see(12*time.Second, trading.OpenOrders{})
	assert.Empty(t, s.All())
	see(time.Second, trading.OpenOrders{Runs: []trading.Run{{ID: "run_2"}}})
	assert.Empty(t, s.All(), "a look that was overtaken")
}

// TestAnswered: of what waits the answer says the name, and of what is executed the position after it.
func TestAnswered(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"order":{"id":"ord_1"},"position":{"side":"long","size":2}}`: {"ord_1", "2"},
		`{"runId":"run_1"}`:                      {"run_1", "0"},
		`{"position":{"side":"short","size":2}}`: {"", "0"},
		`{"position":null}`:                      {"", "0"},
		`{"order":`:                              {"", "0"},
	} {
		c := &Claim[int]{Side: trading.Long}
		c.Answered([]byte(body))
		assert.Equal(t, want, [2]string{c.Order, c.After.String()}, body)
	}
	c := &Claim[int]{Side: trading.Long, Waits: true}
	c.Answered([]byte(`{"runId":"run_1","position":{"side":"long","size":2}}`))
	assert.True(t, c.After.IsZero(), "it has not filled then")
	c.InDoubt(0)
	assert.Zero(t, c.Age(time.Minute))
	assert.Equal(t, time.Minute, c.Age(Gone+time.Minute))
	assert.Equal(t, []bool{false, true}, []bool{c.Ended(time.Minute), c.Ended(Gone)})
}

// FuzzAnswered: no answer breaks it, and a position after an order is positive.
func FuzzAnswered(f *testing.F) {
	f.Add([]byte(`{"order":{"id":"ord_1"},"position":{"side":"long","size":2}}`))
	f.Add([]byte(`{"runId":"run_1","position":{"side":"long","size":"-1e9"}}`))
	f.Add([]byte(`{"position":{"side":"long","size":1e99999999}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := &Set[int]{}
		c := &Claim[int]{Symbol: "BTC", Side: trading.Long, Size: one}
		c.Answered(body)
		s.Add(c)
		assert.False(t, s.Largest("BTC", trading.Long).LessThan(decimal.Min(one, c.After)))
	})
}

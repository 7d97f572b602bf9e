package resolve

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// What a write asked for, by its bytes, as accounting sees it.
func TestWhatAWriteAskedFor(t *testing.T) {
	one, half := decimal.NewFromInt(1), decimal.RequireFromString("50.5")
	for _, row := range []struct {
		operation, body string
		want            accounting.Act
	}{
		{order, `{"side":"long","size":1}`, accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: one}},
		{order, `{"side":"short","size":1,"reduceOnly":true}`, accounting.Act{Kind: accounting.ReduceOnly, Side: accounting.Short, Size: one}},
		{limit, `{"side":"short","size":1}`, accounting.Act{Kind: accounting.Limit, Side: accounting.Short, Size: one}},
		{limit, `{"side":"long","size":1,"reduceOnly":true}`, accounting.Act{Kind: accounting.Limit, Side: accounting.Long, Size: one}},
		{twap, `{"side":"up"}`, accounting.Act{Kind: accounting.Pro}},
		{exit, `{"closePercent":50.5}`, accounting.Act{Kind: accounting.Close, Percent: half}},
		{exit, `{"pct":50.5}`, accounting.Act{Kind: accounting.Close, Percent: half}},
		{exit, `{}`, accounting.Act{Kind: accounting.Close}},
	} {
		w := OpenWrite{Intent: pending.Intent{Symbol: "BTC", Body: []byte(row.body)}, Traits: TraitsOf(spec.Find(spec.Operation(row.operation)))}
		asJSON(t, row.want, *w.asked(), row.operation+" "+row.body)
		w.Intent.Body = nil
		asJSON(t, row.want, *w.asked(), "it is read once")
	}
}

func asJSON(t *testing.T, want, got any, name string) {
	t.Helper()
	w, err := json.Marshal(want)
	require.NoError(t, err)
	g, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, string(w), string(g), name)
}

// exchange is the answer of a recorded exchange.
func exchange(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("../../testdata/exchanges/" + name + ".json")
	require.NoError(t, err)
	var recorded struct {
		Response struct{ Body json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(data, &recorded))
	return recorded.Response.Body
}

// What a success did, by its answer, for the writes beside it.
func TestWhatASuccessDid(t *testing.T) {
	type effect struct {
		size, after string // of the order, and of the position, if the answer says it
		waits       bool
		id, profit  string
	}
	const position = `"position":{"symbol":"BTC","side":%q,"size":%s,"entryPrice":100,"leverage":2}`
	live := func(side, size, filled string) string {
		return fmt.Sprintf(`{"success":true,"action":"x","newBalance":1,"fill":{"price":100,"size":%s,"fee":0},`+position+`}`, filled, side, size)
	}
	for _, row := range []struct {
		name, operation, sent, body string
		unclear                     bool
		want                        effect
	}{
		{name: "opened", operation: order, sent: `{"side":"long","size":1}`, body: live("long", "1", "1"), want: effect{size: "1", after: "1"}},
		{name: "added", operation: order, sent: `{"side":"long","size":1}`, body: live("long", "3", "1"), want: effect{size: "1", after: "3"}},
		{name: "a part filled", operation: order, sent: `{"side":"short","size":1}`, body: live("short", "0.5", "0.5"), want: effect{size: "0.5", after: "-0.5"}},
		{name: "no fill is shown", operation: order, sent: `{"side":"long","size":1}`, body: live("long", "1", "0"), want: effect{size: "1", after: "1"}},
		{name: "flipped", operation: order, sent: `{"side":"short","size":3}`, body: live("short", "2", "3"), want: effect{size: "3", after: "-2"}},
		{name: "reduced", operation: order, sent: `{"side":"short","size":1,"reduceOnly":true}`, body: live("long", "2", "1"), want: effect{size: "1", after: "2"}},
		{name: "ended the position", operation: order, sent: `{"side":"short","size":0.05}`, body: string(exchange(t, "placeOrder/200-flat")), want: effect{size: "0.05", after: "0"}},
		{name: "on paper", operation: paper, sent: `{"side":"long","size":0.05}`, body: string(exchange(t, "placeSandboxOrder/200-opened")), want: effect{size: "0.05", after: "0.05"}},
		{name: "an answer that cannot be read", operation: order, sent: `{"side":"long","size":1}`, body: `{}`, unclear: true},
		{name: "closed", operation: exit, sent: `{"closePercent":50}`, body: `{"success":true,"pnl":"-12.50","fee":"0.30","newBalance":"1","status":"ACTIVE"}`, want: effect{size: "0", profit: "-12.5"}},
		{name: "closed, and not said how", operation: exit, sent: `{}`, body: `{}`, want: effect{size: "0"}},
		{name: "rests", operation: limit, sent: `{"side":"long","size":2}`, body: `{"success":true,"order":{"id":"ord_1"}}`, want: effect{waits: true, size: "2", id: "ord_1"}},
		{name: "runs", operation: twap, sent: `{"side":"long","size":2}`, body: `{"success":true,"runId":"run_1"}`, want: effect{waits: true, size: "2", id: "run_1"}},
		{name: "runs, and not said which", operation: twap, sent: `{"side":"long","size":2}`, body: `{}`, want: effect{waits: true, size: "2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := &OpenWrite{Intent: pending.Intent{Symbol: "BTC", Body: []byte(row.sent)}, Traits: TraitsOf(spec.Find(spec.Operation(row.operation)))}
			w.Ledger.Keyed = row.operation != paper
			now := time.Now()
			did, clear := effectOf(w, &Response{Body: []byte(row.body), Received: now})
			assert.Equal(t, !row.unclear, clear)
			if row.unclear {
				return
			}
			own := did.Own
			text := func(d decimal.NullDecimal) string {
				if !d.Valid {
					return ""
				}
				return d.Decimal.String()
			}
			got := effect{size: own.Size.String(), after: text(own.After), waits: own.Waits(), id: own.WaitID, profit: text(did.Profit)}
			assert.Equal(t, row.want, got)
			assert.Equal(t, now, did.Own.Heard)
			assert.True(t, own.Ran)
			assert.Equal(t, w.asked().Kind, own.Kind)
		})
	}
	w := &OpenWrite{Intent: pending.Intent{Body: []byte(`{"runId":"run_1"}`)}, Traits: Traits{Trades: true, Run: true, Asks: accounting.EditRun}}
	did, clear := effectOf(w, &Response{Body: []byte(`{"success":true,"runId":"run_1"}`)})
	assert.True(t, clear)
	assert.False(t, did.Own.Left().Size.Valid, "an edit has no bound")
	assert.Empty(t, did.Own.WaitID, "and leaves nothing new")
	decoded := &api.OrderResponse{}
	assert.Same(t, decoded, orderAnswerOf(w, &Response{Decoded: decoded}))
	assert.Equal(t, accounting.Short, SideOf("short"))
}

// The position in an order's answer is the one before the next; an order that ran and
// whose answer is lost leaves it open. Nobody needs to know of what did nothing.
func TestWhatTheBooksLearn(t *testing.T) {
	const opened = `{"success":true,"action":"opened","newBalance":1,"fill":{"price":100,"size":1,"fee":0},
		"position":{"symbol":"BTC","side":"long","size":1,"entryPrice":100,"leverage":2}}`
	for _, row := range []struct {
		name   string
		answer ledger.Answer
		body   string
		left   bool
		not    ledger.Without
		known  bool // the next order has a baseline
	}{
		{name: "a success", answer: success, body: opened, known: true},
		{name: "a success of a service whose answers show another position", answer: success, body: opened, not: ledger.Without{Answers: true}},
		{name: "a stored success", answer: replayed(success), body: opened, known: true},
		{name: "one of an earlier run, which the reads may show", answer: replayed(success), body: opened, left: true},
		{name: "an answer that cannot be read", answer: success, body: `{}`},
		{name: "a refusal", answer: tooSmall, known: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{})
				readTwice(d)
				time.Sleep(time.Second)
				w := newWrite(d, "w_1", order)
				w.Left, w.Ledger.Without = row.left, row.not
				d.Own(w, "")
				require.NoError(t, d.Before(t.Context(), w, false))
				d.SendBegins(w)
				d.Heard(w, time.Now(), row.answer, false)
				require.True(t, d.Conclude(w, &Response{Answer: row.answer, Body: []byte(row.body), Received: time.Now()}))
				next := newWrite(d, "w_2", order)
				d.Own(next, "")
				require.NoError(t, d.Before(t.Context(), next, false))
				before, known := next.Before()
				assert.Equal(t, row.known, known)
				if row.known && row.answer.Class == ledger.Success {
					assert.Equal(t, "1", before.String())
				}
			})
		})
	}
}

// A look that shows what an order left is the first that does: those before are of no use.
func TestWhatALookShowsTheBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{})
		looked := time.Now().Add(time.Second)
		for by, want := range map[Evidence]time.Time{ByAccounting: looked, ByReplay: time.Now()} {
			w := newWrite(d, "w_1", order)
			w.by, w.findings = by, &findings{looks: []*AccountLook{{At: time.Now()}, {At: looked}}}
			did := d.unclear(w, Final{Outcome: ledger.Applied})
			assert.False(t, did.ShownFrom.IsZero())
			assert.Equal(t, want, did.ShownFrom, "%s", by)
			assert.Equal(t, time.Now(), did.Own.Heard)
			w.findings = nil
			assert.Equal(t, time.Now(), d.unclear(w, Final{Outcome: ledger.Applied}).ShownFrom)
		}
	})
}

// A refusal in words that everybody knows may be of something in front, which has not looked
// at what became of the write.
func TestARefusalThatIsNotTheServices(t *testing.T) {
	for name, row := range map[string]struct {
		code     string
		replayed bool
		by       Evidence
		want     *books.Did
	}{
		"a general code":               {code: "conflict", by: ByAnswer, want: &books.Did{Own: accounting.Own{Unsure: true}}},
		"one that the service repeats": {code: "conflict", replayed: true, by: ByReplay},
		"what the service alone knows": {code: "no_position", by: ByAnswer},
		"by what the account shows":    {code: "conflict", by: ByAccounting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{}, foreground)
				w := newWrite(d, "w_1", order)
				d.Own(w, "")
				w.booked = d.bookWrite(w)
				last := &Response{Answer: ledger.Answer{Class: ledger.Refusal, Code: row.code, Replayed: row.replayed}}
				assert.Equal(t, row.want, d.didOf(w, Final{Outcome: ledger.NotApplied, Evidence: row.by}, last))
			})
		})
	}
}

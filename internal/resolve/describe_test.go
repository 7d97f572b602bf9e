package resolve

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

func quote(text string) string { return "<" + text + ">" }

// The facts of a write in words.
func TestFactsInWords(t *testing.T) {
	for _, row := range []struct {
		fact ledger.Fact
		want string
	}{
		{ledger.Fact{Kind: ledger.SendBegun}, "it was sent again"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: unsent}, "nothing of it was sent"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: silence}, "it was sent: no answer came"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: success}, "it was sent: the answer is a success"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: replayed(tooSmall)}, "it was sent: the answer is 400 <MIN_NOTIONAL>, repeated"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: ledger.Answer{Class: ledger.Foreign, Status: 502}}, "it was sent: something in front of the service answered 502"},
		{ledger.Fact{Kind: ledger.SendEnded, Answer: ledger.Answer{Class: ledger.Unclear, Status: 500}}, "it was sent: the answer is 500, which proves nothing"},
		{ledger.Fact{Kind: ledger.SendHeard, Answer: success, Send: 1}, "a late answer to send 1: the answer is a success"},
		{ledger.Fact{Kind: ledger.KeyChanged}, "it was sent under the next key"},
		{ledger.Fact{Kind: ledger.SendingOver}, "its sending ended"},
		{ledger.Fact{Kind: ledger.FenceBegun}, "the service was asked whether it knows its key"},
		{ledger.Fact{Kind: ledger.FenceEnded, Answer: reused}, "the service knows its key, so that it has arrived"},
		{ledger.Fact{Kind: ledger.FenceEnded, Answer: noOrder}, "the service did not know its key: it cannot run from now on; it may have run before"},
		{ledger.Fact{Kind: ledger.FenceEnded, Answer: unsent}, "the service was asked whether it knows its key: nothing was sent"},
		{ledger.Fact{Kind: ledger.FenceEnded, Answer: ledger.Answer{Class: ledger.Foreign}}, "the service was asked whether it knows its key: it answered, and how it keeps keys is not known yet, so that proves nothing"},
		{ledger.Fact{Kind: ledger.Confirmed}, "a second question was asked about its refusal: nothing was sent"},
		{ledger.Fact{Kind: ledger.Acknowledged}, "a person acknowledged what became of it"},
		{ledger.Fact{Kind: ledger.ProbeBegun}, "its stored answer was asked for"},
		{ledger.Fact{Kind: ledger.ProbeEnded, Answer: replayed(success)}, "its stored answer was asked for: the answer is a success, repeated"},
		{ledger.Fact{Kind: ledger.Looked}, "the account was read"},
		{ledger.Fact{Kind: ledger.Restarted}, "another run of the program took it over"},
		{ledger.Fact{Kind: ledger.Confirmed, Answer: tooSmall}, "a second question was asked about its refusal: the answer is 400 <MIN_NOTIONAL>"},
	} {
		assert.Equal(t, row.want, factText(&row.fact, quote))
	}
}

// No kind of fact is without words, and what says nothing of the outcome hides nothing that does.
func TestLastSaysSomethingOfTheOutcome(t *testing.T) {
	const unheard, lost = "it was sent, or was about to be: no answer was heard", "it was sent: no answer came"
	const gone = "the service did not know its key: it cannot run from now on; it may have run before"
	var w Journaled
	next := func(want string, r record) {
		t.Helper()
		w.add(&r, quote)
		assert.Equal(t, want, w.Last)
	}
	next(unheard, record{Begin: &begin{Intent: new(pending.Intent)}})
	next(unheard, record{Fact: &ledger.Fact{Kind: ledger.Restarted}})
	next(lost, record{Fact: &ledger.Fact{Kind: ledger.SendEnded, Answer: silence}})
	next(lost, record{Beside: &books.Note{Own: []accounting.Own{{}}}})
	next("it was sent again: no answer was heard", record{Fact: &ledger.Fact{Kind: ledger.SendBegun}})
	next(lost, record{Fact: &ledger.Fact{Kind: ledger.SendEnded, Answer: silence}})
	next(lost, record{Fact: &ledger.Fact{Kind: ledger.FenceEnded, Answer: silence}})
	next(gone, record{Fact: &ledger.Fact{Kind: ledger.FenceEnded, Answer: noOrder}})
	for _, kind := range []ledger.FactKind{ledger.KeyChanged, ledger.SendingOver, ledger.FenceBegun, ledger.Looked, ledger.Restarted, ledger.Asked} {
		next(gone, record{Fact: &ledger.Fact{Kind: kind}})
	}
	for kind := ledger.SendBegun; kind <= ledger.SendHeard; kind++ {
		assert.NotContains(t, factText(&ledger.Fact{Kind: kind}, quote), "does not know", "%d", kind)
	}
}

// A history is described from its beginning to its end.
func TestDescribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		d := client(t, &service{answers: answered()}, on(k), foreground)
		began := time.Now()
		w := lost(t, d, "w_1", order, named("entry 7"))
		_ = d.store.later(w, record{Beside: &books.Note{Own: []accounting.Own{{Heard: began.Add(time.Hour)}}}})
		_, known := d.Wait(t.Context(), w)
		require.True(t, known)
		h := journal.History{Intent: "w_1", Final: true}
		for _, r := range k.records {
			h.Records = append(h.Records, r.Data)
		}
		described, err := Describe(h, quote)
		require.NoError(t, err)
		assert.Equal(t, "key of w_1", string(described.Intent.Key))
		assert.Equal(t, w.Intent.Body, described.Intent.Body)
		assert.Equal(t, ledger.Applied, described.Outcome)
		var words []string
		for _, e := range described.Facts {
			words = append(words, e.What)
		}
		assert.Equal(t, "decided; it was sent: no answer came; another write of the program in the market ended; "+
			"the service was asked whether it knows its key; the service knows its key, so that it has arrived; "+
			"the service was asked whether it knows its key; the service knows its key, so that it has arrived; "+
			"its stored answer was asked for", strings.Join(words, "; "))
		assert.Equal(t, began.UTC(), described.Facts[0].At.UTC())
		assert.Equal(t, began.Add(5*time.Second).UTC(), described.Facts[7].At.UTC())
	})
}

// A history that is not whole is an error that says what is missing. Of one that is
// resolved the end is enough.
func TestDescribeAHistoryThatIsNotWhole(t *testing.T) {
	const begun, ended = `{"begin":{"intent":{"ID":"w_1"},"first":{"key":"old"},"terms":{},"sent":[0,0,0]}}`, `{"end":{"Outcome":1,"At":"2026-01-02T03:04:05Z","Key":"k","Try":2}}`
	for _, row := range []struct {
		name    string
		final   bool
		records []string
		says    string
		key     string
	}{
		{name: "pending", records: []string{begun}, key: "old"},
		{name: "pending, with a key", records: []string{begun, `{"key":{"key":"new","try":1,"sent":[0,0,0]}}`}, key: "new"},
		{name: "its end alone", final: true, records: []string{ended}, key: "k"},
		{name: "nothing", says: "trading: journal: write w_1: its first record is missing"},
		{name: "nothing of one that is resolved", final: true, says: "its first record is missing"},
		{name: "without its beginning", records: []string{`{"fact":{"k":2,"t":[0,0,0]}}`}, says: "its first record is missing"},
		{name: "without its end", final: true, records: []string{begun}, says: "it is resolved, and its final record is missing"},
		{name: "an end without a time", final: true, records: []string{`{"end":{}}`}, says: "its final record is missing"},
		{name: "not JSON", records: []string{"?"}, says: "write w_1, record 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := journal.History{Intent: "w_1", Final: row.final}
			for _, data := range row.records {
				h.Records = append(h.Records, []byte(data))
			}
			w, err := Describe(h, quote)
			if row.says != "" {
				require.ErrorContains(t, err, row.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, pending.IntentID("w_1"), w.Intent.ID)
			assert.Equal(t, row.key, string(w.Intent.Key))
		})
	}
}

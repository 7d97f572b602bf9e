package trading_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journaltest"
)

func TestMemoryJournal(t *testing.T) {
	journaltest.Run(t, func(*testing.T) trading.Journal { return trading.NewMemoryJournal() }, journaltest.Forgets())
}

// What has been settled takes no room: of a decision 10,000 stay, of the rest
// only some IDs, whatever is pending besides.
func TestMemoryJournalIsBounded(t *testing.T) {
	j := trading.NewMemoryJournal()
	for _, decided := range []bool{false, true} {
		for i := range 25_000 {
			in := memoryIntent(fmt.Sprint(decided, i))
			if decided {
				in.Decision = fmt.Sprint("d", i)
			}
			if err := j.Begin(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				continue // stays pending before all others
			}
			if err := j.Settle(t.Context(), in.ID, trading.Settlement{Outcome: trading.Applied, At: in.Created}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := trading.MemoryUse{Entries: 10_000 + 2, Decisions: 10_000 + 1, Recalled: 1024}
	if got := trading.MemoryJournalUse(j); got != want {
		t.Errorf("the journal holds %+v, want %+v", got, want)
	}
}

func TestMemoryJournalAllocates(t *testing.T) {
	j, in := trading.NewMemoryJournal(), memoryIntent("")
	ids := make([]trading.IntentID, 5000)
	for i := range ids {
		ids[i] = trading.IntentID(fmt.Sprint("intent ", i))
	}
	next := 0
	once := func() {
		in.ID = ids[next]
		next++
		if j.Begin(t.Context(), in) != nil || j.Settle(t.Context(), in.ID, trading.Settlement{Outcome: trading.Applied}) != nil {
			t.Fatal("a write failed")
		}
	}
	for range 2000 {
		once()
	}
	if n := testing.AllocsPerRun(1000, once); n > 1 {
		t.Errorf("Begin and Settle allocate %v times, want at most once", n)
	}
}

func BenchmarkMemoryJournal(b *testing.B) {
	j, in := trading.NewMemoryJournal(), memoryIntent("")
	ids := make([]trading.IntentID, 4096) // more than are recalled
	for i := range ids {
		ids[i] = trading.IntentID(trading.NewKey())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in.ID = ids[i%len(ids)]
		if err := j.Begin(b.Context(), in); err != nil {
			b.Fatal(err)
		}
		if err := j.Settle(b.Context(), in.ID, trading.Settlement{Outcome: trading.Applied, At: in.Created}); err != nil {
			b.Fatal(err)
		}
	}
}

func memoryIntent(id string) trading.Intent {
	created := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	return trading.Intent{
		ID: trading.IntentID(id), Try: 1, Key: trading.Key("key-" + id), BaseURL: "https://example.com/v1",
		Operation: trading.OpSandboxOrder, Environment: trading.EnvLive, Account: "acc_1", Symbol: "BTC", Entry: true,
		Body:    []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5,"stopLoss":60000}`),
		Created: created, Expires: created.Add(10 * time.Second),
	}
}

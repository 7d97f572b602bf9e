package journaltest

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go"
)

// start is when the first intent of a test begins.
var start = time.Date(2026, time.January, 15, 9, 30, 0, 123456789, time.UTC)

// intent returns one that begins so many seconds after the start.
func intent(id, decision string, second int) trading.Intent {
	created := start.Add(time.Duration(second) * time.Second)
	return trading.Intent{
		ID: trading.IntentID(id), Decision: decision, Try: 1, Key: trading.Key("key-" + id),
		BaseURL: "https://example.com/v1", Process: "process", Operation: trading.OpSandboxOrder,
		Environment: trading.EnvLive, Account: "acc_1", Symbol: "BTC", Body: []byte(`{"id":"` + id + `"}`),
		Entry: true, Created: created, Expires: created.Add(10 * time.Second),
	}
}

func settledAt(second int) trading.Settlement {
	return trading.Settlement{
		Outcome: trading.Applied, Basis: trading.BasisAnswer,
		At: start.Add(time.Duration(second) * time.Second), Answer: []byte(`{"success":true}`),
	}
}

func begin(t tester, j trading.Journal, in trading.Intent) {
	t.Helper()
	if err := j.Begin(t.Context(), in); err != nil {
		t.Fatalf("Begin(%s): %v", in.ID, err)
	}
}

func settle(t tester, j trading.Journal, id trading.IntentID, s trading.Settlement) {
	t.Helper()
	if err := j.Settle(t.Context(), id, s); err != nil {
		t.Fatalf("Settle(%s): %v", id, err)
	}
}

func pending(t tester, j trading.Journal) []trading.Intent {
	t.Helper()
	var intents []trading.Intent
	for in, err := range j.Pending(t.Context()) {
		if err != nil {
			t.Fatalf("Pending: %v", err)
		}
		intents = append(intents, in)
	}
	return intents
}

func decision(t tester, j trading.Journal, name string) []trading.Entry {
	t.Helper()
	entries, err := j.Decision(t.Context(), name)
	if err != nil {
		t.Fatalf("Decision(%q): %v", name, err)
	}
	return entries
}

// wantPending compares the IDs of what is pending, in order.
func wantPending(t tester, j trading.Journal, want ...trading.IntentID) {
	t.Helper()
	var got []trading.IntentID
	for _, in := range pending(t, j) {
		got = append(got, in.ID)
	}
	if diff := differ(got, want); diff != "" {
		t.Fatalf("pending are %q, want %q", got, want)
	}
}

// wantDecision compares the IDs of a decision's intents, in order.
func wantDecision(t tester, j trading.Journal, name string, want ...trading.IntentID) []trading.Entry {
	t.Helper()
	var got []trading.IntentID
	entries := decision(t, j, name)
	for _, entry := range entries {
		got = append(got, entry.Intent.ID)
	}
	if diff := differ(got, want); diff != "" {
		t.Fatalf("the intents of decision %q are %q, want %q", name, got, want)
	}
	return entries
}

// wantSame compares field by field: times and numbers by their value, and nil
// like empty.
func wantSame(t tester, what string, got, want any) {
	t.Helper()
	if diff := differ(got, want); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// ended returns a context that is over.
func ended(t tester) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

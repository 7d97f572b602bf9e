package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tradingapi/trading-go"
)

func beginAndSettle(t tester, j trading.Journal) {
	wantPending(t, j)
	begin(t, j, intent("a", "", 0))
	wantPending(t, j, "a")
	settle(t, j, "a", settledAt(1))
	wantPending(t, j)
}

// intentFields tries full and empty intents, through both ways to read them.
func intentFields(t tester, j trading.Journal) {
	want := []trading.Intent{filled[trading.Intent](0), filled[trading.Intent](1000), {ID: "bare", Decision: "bare"}}
	bare := filled[trading.Intent](2000)
	bare.Baseline = trading.Some(trading.Baseline{})
	want = append(want, bare)
	for _, in := range want {
		begin(t, j, in)
	}
	wantSame(t, "pending", pending(t, j), want)
	for _, in := range want {
		wantSame(t, "decided", decision(t, j, in.Decision), []trading.Entry{{Intent: in}})
	}
}

func settlementFields(t tester, j trading.Journal) {
	for i, s := range []trading.Settlement{
		filled[trading.Settlement](0), filled[trading.Settlement](101), {Outcome: trading.NotApplied, At: start},
	} {
		in := intent(fmt.Sprint("i", i), fmt.Sprint("d", i), i)
		begin(t, j, in)
		settle(t, j, in.ID, s)
		wantSame(t, "settled", decision(t, j, in.Decision), []trading.Entry{{Intent: in, Settlement: trading.Some(s)}})
	}
}

// exactBytes tries what an encoding is tempted to tidy up.
func exactBytes(t tester, j trading.Journal) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, body := range [][]byte{
		every,
		[]byte("{ \"size\" : 1.50,\r\n \"a\": \"<\\u003c&\u2028\" }\n"),
		bytes.Repeat([]byte("0123456789abcdef"), 1<<16),
	} {
		in := intent(fmt.Sprint("i", i), fmt.Sprint("d", i), i)
		in.Body = body
		in.Tag = "not UTF-8: \xff\xfe, \x00, \u2028 and \n"
		begin(t, j, in)
		s := settledAt(i)
		s.Answer, s.Note = body, in.Tag
		settle(t, j, in.ID, s)
		wantSame(t, "bytes", decision(t, j, in.Decision), []trading.Entry{{Intent: in, Settlement: trading.Some(s)}})
	}
}

// replace goes on under another key, and loses nothing of the first intent's
// place.
func replace(t tester, j trading.Journal) {
	begin(t, j, intent("a", "one", 0))
	begin(t, j, intent("b", "one", 1))
	second := filled[trading.Intent](500)
	second.ID, second.Decision = "a", "one"
	begin(t, j, second)
	wantPending(t, j, "a", "b")
	wantSame(t, "the replaced intent", pending(t, j)[0], second)
	wantDecision(t, j, "one", "a", "b")

	bare := trading.Intent{ID: "a", Decision: "other"}
	begin(t, j, bare)
	wantPending(t, j, "a", "b")
	wantSame(t, "the intent that was replaced twice", pending(t, j)[0], bare)
	wantDecision(t, j, "one", "b")
	wantDecision(t, j, "other", "a")
	begin(t, j, second)
	wantDecision(t, j, "one", "a", "b")
	wantDecision(t, j, "other")

	settle(t, j, "a", settledAt(2))
	wantPending(t, j, "b")
	wantDecision(t, j, "one", "a", "b")
}

func settleOnce(t tester, j trading.Journal) {
	for _, name := range []string{"", "decided"} {
		in := intent("with "+name, name, 0)
		begin(t, j, in)
		first := settledAt(1)
		settle(t, j, in.ID, first)
		second := filled[trading.Settlement](7)
		second.At = start
		settle(t, j, in.ID, second)
		wantPending(t, j)
		if name != "" {
			wantSame(t, "settled twice", decision(t, j, name), []trading.Entry{{Intent: in, Settlement: trading.Some(first)}})
		}
	}
}

func settleUnknown(t tester, j trading.Journal) {
	begin(t, j, intent("a", "", 0))
	for _, id := range []trading.IntentID{"b", "A", "aa", ""} {
		if err := j.Settle(t.Context(), id, settledAt(0)); !errors.Is(err, trading.ErrUnknownIntent) {
			t.Errorf("Settle(%q) of an unknown intent: %v, want ErrUnknownIntent", id, err)
		}
	}
	wantPending(t, j, "a")
}

func beginSettled(t tester, j trading.Journal) {
	for _, name := range []string{"", "decided"} {
		in := intent("with "+name, name, 0)
		begin(t, j, in)
		settle(t, j, in.ID, settledAt(1))
		again := in
		again.Key = "another"
		if err := j.Begin(t.Context(), again); !errors.Is(err, trading.ErrSettled) {
			t.Errorf("Begin of a settled intent with decision %q: %v, want ErrSettled", name, err)
		}
		wantPending(t, j)
		if name != "" {
			wantSame(t, "settled", decision(t, j, name), []trading.Entry{{Intent: in, Settlement: trading.Some(settledAt(1))}})
		}
	}
}

func unnamed(t tester, j trading.Journal) {
	if err := j.Begin(t.Context(), intent("", "decided", 0)); !errors.Is(err, trading.ErrUnnamedIntent) {
		t.Errorf("Begin of an intent without ID: %v, want ErrUnnamedIntent", err)
	}
	wantPending(t, j)
	wantDecision(t, j, "decided")
}

// pendingOrder has enough of them that an order by chance is out of the question,
// and more than fit into one batch of any size that is likely.
func pendingOrder(t tester, j trading.Journal) {
	const count = 150
	var want []trading.IntentID
	for i := range count {
		id := trading.IntentID(fmt.Sprint(i * 7919 % count)) // not the order of the IDs
		begin(t, j, intent(string(id), "", i))
		want = append(want, id)
	}
	wantPending(t, j, want...)
	for i := 0; i < count; i += 2 {
		settle(t, j, want[i], settledAt(count))
	}
	var odd []trading.IntentID
	for i := 1; i < count; i += 2 {
		odd = append(odd, want[i])
	}
	begin(t, j, intent(string(odd[0]), "", count))
	wantPending(t, j, odd...)
}

func decisionOrder(t tester, j trading.Journal) {
	begin(t, j, intent("z", "one", 0))
	begin(t, j, intent("other", "two", 1))
	begin(t, j, intent("a", "one", 2))
	begin(t, j, intent("m", "one", 3))
	settle(t, j, "m", settledAt(4))
	settle(t, j, "z", settledAt(5))
	entries := wantDecision(t, j, "one", "z", "a", "m")
	for i, settled := range []bool{true, false, true} {
		if _, ok := entries[i].Settlement.Get(); ok != settled {
			t.Errorf("intent %d of the decision is settled: %t, want %t", i, ok, settled)
		}
	}
	wantPending(t, j, "other", "a")
}

// decisionNames has names that run together where they are joined to something.
func decisionNames(t tester, j trading.Journal) {
	names := []string{"a", "ab", "a\x00", "\x00a", "a\x00\x00\x00\x00\x00\x00\x00\x01", "A", "\xff", strings.Repeat("a", 500)}
	for i, name := range names {
		begin(t, j, intent(fmt.Sprint("i", i), name, i))
	}
	begin(t, j, intent("none", "", len(names)))
	for i, name := range names {
		wantDecision(t, j, name, trading.IntentID(fmt.Sprint("i", i)))
	}
	wantDecision(t, j, "unknown")
	wantDecision(t, j, "") // no decision is not a decision
}

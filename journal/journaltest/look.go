package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tradingapi/trading-go/journal"
)

func record(intent, name, data string) journal.Record {
	return journal.Record{Intent: intent, Name: name, Data: []byte(data)}
}

func final(intent, name, data string) journal.Record {
	return journal.Record{Intent: intent, Name: name, Data: []byte(data), Final: true}
}

// history is what the records of an intent become.
func history(records ...journal.Record) journal.History {
	h := journal.History{Intent: records[0].Intent, Name: records[0].Name}
	for _, r := range records {
		h.Final, h.Records = r.Final, append(h.Records, r.Data)
	}
	return h
}

// put appends each record by itself, every other one durably.
func put(t tester, s journal.Store, records ...journal.Record) {
	t.Helper()
	for i, r := range records {
		if err := s.Append(t.Context(), i%2 == 1, r); err != nil {
			t.Fatalf("Append(%s): %v", r.Intent, err)
		}
	}
}

func wantError(t tester, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func wantPending(t tester, s journal.Store, want ...journal.History) {
	t.Helper()
	var got []journal.History
	for h, err := range s.Pending(t.Context()) {
		if err != nil {
			t.Fatalf("Pending: %v", err)
		}
		got = append(got, h)
	}
	wantHistories(t, "Pending", got, want)
}

func wantNamed(t tester, s journal.Store, name string, want ...journal.History) {
	t.Helper()
	got, err := s.Named(t.Context(), name)
	if err != nil {
		t.Fatalf("Named(%q): %v", name, err)
	}
	wantHistories(t, fmt.Sprintf("Named(%q)", name), got, want)
}

func wantHistories(t tester, what string, got, want []journal.History) {
	t.Helper()
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("%s is %.300q, want %.300q", what, got, want)
	}
}

// same compares histories. Of a resolved intent the Final record is enough.
func same(got, want journal.History) bool {
	records := want.Records
	if want.Final && len(got.Records) == 1 {
		records = records[len(records)-1:]
	}
	return got.Intent == want.Intent && got.Name == want.Name && got.Final == want.Final &&
		slices.EqualFunc(got.Records, records, bytes.Equal)
}

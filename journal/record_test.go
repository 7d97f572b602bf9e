package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

func fullEntry() trading.Entry {
	at := time.Date(2026, time.January, 15, 9, 30, 0, 123456789, time.UTC)
	return trading.Entry{
		Intent: trading.Intent{
			ID: "id", Decision: "decision", Try: 2, Key: "key", Tag: "tag \xff", BaseURL: "https://example.com/v1",
			Process: "process", Operation: trading.OpSandboxOrder, Environment: trading.EnvLive, Account: "acc_1",
			Symbol: "BTC", Body: []byte(`{"size":0.01}`), Entry: true, Created: at, Expires: at.Add(time.Second), Fenced: true, Beside: true,
			Baseline: trading.Some(trading.Baseline{
				At: at, Size: decimal.RequireFromString("-1.50"), EntryPrice: decimal.RequireFromString("64000.5"),
				Orders: []trading.OrderID{"o1", ""}, Runs: []trading.RunID{"r1"}, Trades: []uint64{1, 1<<63 + 7},
				Finished: []trading.RunID{"r2"}, Armed: true,
			}),
		},
		Settlement: trading.Some(trading.Settlement{
			Outcome: trading.NotApplied, At: at, Basis: trading.BasisPerson, Spent: true, Code: "GUARD_BAND",
			Answer: []byte{0, 255}, Note: "note",
		}),
	}
}

func encodeEntry(t testing.TB, entry trading.Entry) []byte {
	t.Helper()
	record, err := encodeIntent(&entry.Intent)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := entry.Settlement.Get(); ok {
		record = append(record, encodeSettlement(&s)...)
	}
	return record
}

// TestStableRecord reads a record as the first version has written it, and writes
// the same: journals outlive the programs that have written them.
func TestStableRecord(t *testing.T) {
	name := filepath.Join("testdata", "entry.v1")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeEntry(t, fullEntry()); !bytes.Equal(got, want) {
		t.Errorf("the entry is written as\n%q, want\n%q", got, want)
	}
	if got, err := decodeEntry(want); err != nil || !reflect.DeepEqual(got, fullEntry()) {
		t.Errorf("the record is read as %+v, %v, want %+v", got, err, fullEntry())
	}
}

// What a newer version has added is skipped when read, and still there after a
// settlement by this one.
func TestUnknownFields(t *testing.T) {
	path := testFile(t)
	j := mustOpen(t, path)
	in := testIntent("a")
	record, err := encodeIntent(&in)
	if err != nil {
		t.Fatal(err)
	}
	var intent []byte
	_ = fields(record, func(_ uint64, value []byte) error {
		intent = appendField(append(intent, value...), 99, []byte("newer in the intent"))
		return nil
	})
	record = appendField(appendField(nil, fieldIntent, intent), 98, []byte("newer in the entry"))
	if err := j.submit(t.Context(), func(c *change) error { return j.begin(c, "a", "of a", record, in.Created) }); err != nil {
		t.Fatal(err)
	}
	if err := j.Settle(t.Context(), "a", trading.Settlement{Outcome: trading.Applied, At: in.Created}); err != nil {
		t.Fatal(err)
	}
	entries, err := j.Decision(t.Context(), "of a")
	if err != nil || len(entries) != 1 || !bytes.Equal(entries[0].Intent.Body, in.Body) {
		t.Fatalf("the entry reads as %+v, %v", entries, err)
	}
	if _, ok := entries[0].Settlement.Get(); !ok {
		t.Error("the entry is not settled")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(file), string(record)) {
		t.Error("the settled record has lost what it did not know")
	}
}

func TestHugeNumber(t *testing.T) {
	j := mustOpen(t, testFile(t))
	in := testIntent("a")
	in.Baseline = trading.Some(trading.Baseline{Size: decimal.New(1, 1<<30)})
	if err := j.Begin(t.Context(), in); err == nil {
		t.Error("a number is taken that nobody could compare with another")
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(encodeEntry(f, fullEntry()))
	f.Add(encodeEntry(f, trading.Entry{Intent: testIntent("a")}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, record []byte) {
		entry, err := decodeEntry(record)
		if err != nil {
			if !reflect.DeepEqual(entry, trading.Entry{}) {
				t.Errorf("beside the error %v there is %+v", err, entry)
			}
			return
		}
		again, err := decodeEntry(encodeEntry(t, entry))
		if err != nil || !sameEntry(again, entry) {
			t.Errorf("%+v\nis read again as\n%+v, %v", entry, again, err)
		}
	})
}

// sameEntry compares numbers by their value, and nil like empty.
func sameEntry(a, b trading.Entry) bool {
	baseline, _ := a.Intent.Baseline.Get()
	other, _ := b.Intent.Baseline.Get()
	if !baseline.Size.Equal(other.Size) || !baseline.EntryPrice.Equal(other.EntryPrice) {
		return false
	}
	for _, entry := range []*trading.Entry{&a, &b} {
		if baseline, ok := entry.Intent.Baseline.Get(); ok {
			baseline.Size, baseline.EntryPrice = decimal.Decimal{}, decimal.Decimal{}
			entry.Intent.Baseline = trading.Some(baseline)
		}
		if len(entry.Intent.Body) == 0 {
			entry.Intent.Body = nil
		}
		if s, ok := entry.Settlement.Get(); ok && len(s.Answer) == 0 {
			s.Answer = nil
			entry.Settlement = trading.Some(s)
		}
	}
	return reflect.DeepEqual(a, b)
}

// FuzzVerify changes a file anywhere: it is refused or not, without a panic and
// in a bounded time.
func FuzzVerify(f *testing.F) {
	path := testFile(f)
	j := mustOpen(f, path)
	mustBegin(f, j, "a", "b")
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	image := used(f, path)
	f.Add(uint16(0), []byte{})
	f.Add(uint16(16), []byte{1})
	f.Fuzz(func(_ *testing.T, at uint16, bytes []byte) {
		changed := append([]byte(nil), image...)
		copy(changed[int(at)%len(changed):], bytes)
		_ = verify(strings.NewReader(string(changed)), int64(len(changed)))
	})
}

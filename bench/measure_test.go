package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		values []int
		want   int
	}{{nil, 0}, {[]int{3}, 3}, {[]int{9, 1, 5}, 5}, {[]int{9, 1, 5, 7}, 6}} {
		if got := median(row.values); got != row.want {
			t.Errorf("median of %v is %d, want %d", row.values, got, row.want)
		}
	}
}

// TestRatio compares round by round: a round in which everything was slow counts
// like any other.
func TestRatio(t *testing.T) {
	slow := series{{wall: 20}, {wall: 2000}, {wall: 30}, {wall: 25}}
	base := series{{wall: 10}, {wall: 1000}, {wall: 10}, {wall: 10}}
	if got, want := ratio(slow, base, wallOf), (spread{2, 2.25, 2.5}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := ratio(slow, nil, wallOf); got != (spread{}) {
		t.Errorf("%v beside nothing", got)
	}
}

// TestRace counts the calls of two entrants: each makes its own in every round.
func TestRace(t *testing.T) {
	var few, many atomic.Int64
	counting := func(n *atomic.Int64) task {
		return untilDone(func(context.Context) (any, error) { n.Add(1); return nil, nil })
	}
	entrants := []*entrant{{name: "few", task: counting(&few), calls: 4}, {name: "many", task: counting(&many), calls: 40}}
	if err := race(t.Context(), entrants, 5, 8); err != nil {
		t.Fatal(err)
	}
	if few.Load() != 4+5*4 || many.Load() != 10+5*40 {
		t.Errorf("%d and %d calls", few.Load(), many.Load())
	}
	for _, e := range entrants {
		if len(e.done) != 5 {
			t.Errorf("%s has %d rounds", e.name, len(e.done))
		}
	}
	failing := &entrant{name: "failing", calls: 3, task: untilDone(func(context.Context) (any, error) { return nil, errors.New("no") })}
	if err := race(t.Context(), []*entrant{failing}, 1, 1); err == nil || !strings.Contains(err.Error(), "failing: no") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := race(ended, entrants, 1, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		number(0): "0", number(999): "999", number(1000): "1,000", number(1234567): "1,234,567", number(-1234): "-1,234", number(-123): "-123",
		micros(1500 * time.Nanosecond): "1.50", micros(250 * time.Microsecond): "250", millis(1500 * time.Microsecond): "1.50",
		ratioText(spread{}): "–", spreadText(spread{1, 2, 3}): "2.00 (1.00–3.00)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var b strings.Builder
	table := &table{head: []string{"a", "b"}}
	table.row("1", "2")
	table.write(&b)
	if want := "\n| a | b |\n|---|---:|\n| 1 | 2 |\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestRoomyCounts shows that requests are counted, and that nothing is full where the
// service's limits would be.
func TestRoomyCounts(t *testing.T) {
	client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers())})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const orders = 700 // above every limit of a minute
	for range orders {
		if _, err := client.Live.Account(account).PlaceOrder(t.Context(), clientOrder(), trading.FailFast()); err != nil {
			t.Fatal(err)
		}
	}
	usages, err := client.RateLimitUsage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, u := range usages {
		if u.Used == orders {
			full++
		}
	}
	if full != 2 {
		t.Errorf("%d limits have counted %d orders, want the key's and the class's: %v", full, orders, usages)
	}
}

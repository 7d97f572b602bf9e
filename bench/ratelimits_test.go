package main

import (
	"testing"

	"github.com/tradingapi/trading-go"
)

// TestRoomyCounts shows that requests are counted, and that nothing is full where the
// service's limits would be.
func TestRoomyCounts(t *testing.T) {
	client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers(0))})
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

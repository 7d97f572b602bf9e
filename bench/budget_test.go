package main

import (
	"context"
	"testing"

	"github.com/tradingapi/trading-go"
)

// TestRoomyCounts shows that places are counted, and that none is short where the
// service's limits would be.
func TestRoomyCounts(t *testing.T) {
	store := &counting{BudgetStore: newRoomy()}
	client, err := newClient(place{base: "http://127.0.0.1", transport: newCanned(answers(0))},
		trading.WithBudget(trading.Budget{Store: store, Owner: "bench"}))
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
	if store.claims != 2*orders {
		t.Errorf("%d places for %d orders, want one of the key and one of the class for each", store.claims, orders)
	}
}

type counting struct {
	trading.BudgetStore
	claims int
}

func (c *counting) Return(ctx context.Context, name string, claims []trading.Claim, sent bool) error {
	c.claims += len(claims)
	return c.BudgetStore.Return(ctx, name, claims, sent)
}

// TestTellerTells shows that the client's own store believes the limit that it was
// told once.
func TestTellerTells(t *testing.T) {
	open, err := clientSandboxOrders(place{base: "http://127.0.0.1", transport: newCanned(answers(0))})
	if err != nil {
		t.Fatal(err)
	}
	defer open.close()
	for range 1500 { // above the limit of a minute
		if _, err := open.do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

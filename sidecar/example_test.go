package sidecar_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A bot in any language sends its requests to the sidecar, here whether it is safe to trade.
func Example() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	dir, err := os.MkdirTemp("", "sidecar")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := sidecar.New(sidecar.Config{
		BaseURL: sim.URL(),
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())},
		Journal: journal.NewMemory(), // yours: journal.Open
		Dir:     dir,
		Locks:   dir, // yours: none, so that all sidecars of this user have the same
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	answer := httptest.NewRecorder() // a bot's connection
	server.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/v1/health", http.NoBody))
	fmt.Println(answer.Code)
	// Output: 200
}

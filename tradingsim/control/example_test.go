package control_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/control"
)

// A program in any language moves a price by one request.
func ExampleServe() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan control.Endpoint, 1), make(chan error, 1)
	go func() {
		ended <- control.Serve(ctx, sim, control.Options{Ready: func(e control.Endpoint) { ready <- e }})
	}()

	at := <-ready
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, at.URL+"/marks/BTC", strings.NewReader(`{"price":"70000"}`))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+at.Token)
	req.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	_ = reply.Body.Close()
	fmt.Println(reply.StatusCode)
	http.DefaultClient.CloseIdleConnections()
	cancel()
	<-ended
	// Output: 204
}

package trial_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// A reply is lost, and the order goes out again under a new key.
func ExampleJudge() {
	m := trial.Manifest{
		Period:  trial.Duration(time.Second),
		Markets: map[string]trial.Market{"BTC": {Price: decimal.New(64000, 0), Most: decimal.New(1, -2)}},
	}
	var events []tradingsim.Event
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	sim.Watch(func(e tradingsim.Event) { events = append(events, e) })
	sim.Fault("POST /orders", tradingsim.DropResponse())
	for _, key := range []string{"first", "second"} {
		r, err := http.NewRequest("POST", sim.URL()+"/orders", strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
		if err != nil {
			panic(err)
		}
		r.Header.Set("X-API-Key", sim.LiveKey())
		r.Header.Set("Idempotency-Key", key)
		if a, err := sim.Transport().RoundTrip(r); err == nil {
			_ = a.Body.Close()
		}
	}
	findings, err := trial.Judge(m, events)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{trial.BlindResend, trial.Exposure, trial.Restart} {
		f := findings.Of(name)
		fmt.Println(f.Judgement+":", f.Verdict, f.Reason)
	}
	// Output:
	// blind resend: fail double
	// exposure: fail more-units-than-declared
	// restart: not exercised no-opportunity
}

// In a test of the bot's own: func TestTrial(t *testing.T).
func ExampleRun() {
	_ = func(t *testing.T) { trial.Run(t, sdk, manifest()) }
}

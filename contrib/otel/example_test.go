package tradingotel_test

import (
	"context"
	"fmt"
	"log"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tradingapi/trading-go"
	tradingotel "github.com/tradingapi/trading-go/contrib/otel"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The spans of a call, against a simulation and with an exporter in memory. A program
// that has set OpenTelemetry's global providers leaves Config empty.
func Example() {
	spans := tracetest.NewInMemoryExporter() // yours: OTLP, as a rule
	hooks, err := tradingotel.New(tradingotel.Config{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
	})
	if err != nil {
		log.Fatal(err)
	}
	sim := tradingsim.New() // the service: trading.FromEnv(…)
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithHooks(hooks))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Live.Accounts(context.Background()); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// GET /accounts
	// GET /accounts
}

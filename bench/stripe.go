package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85"
)

const stripeByHand = "by hand: Stripe's exchange"

func stripeContenders() []contender {
	return []contender{
		{name: "stripe-go", floor: stripeByHand, order: stripeCustomers},
		{name: stripeByHand, hidden: true, order: stripeBareCustomers},
	}
}

func stripeCustomers(p place) (task, error) {
	client := stripe.NewClient("sk_test_bench", stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient:      p.httpClient(),
		URL:             stripe.String(p.base),
		EnableTelemetry: stripe.Bool(false),
		LeveledLogger:   &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
	return untilDone(func(ctx context.Context) (any, error) {
		// The parameters cannot be used twice: the key is kept in them.
		return client.V1Customers.Create(ctx, &stripe.CustomerCreateParams{
			Name:  stripe.String("Bench"),
			Email: stripe.String("bench@example.com"),
		})
	}), nil
}

// stripeHandResult has the members of the exchange, by hand.
type stripeHandResult struct {
	ID              string  `json:"id"`
	Object          string  `json:"object"`
	Address         *string `json:"address"`
	Balance         int64   `json:"balance"`
	Created         int64   `json:"created"`
	Currency        *string `json:"currency"`
	DefaultSource   *string `json:"default_source"`
	Delinquent      bool    `json:"delinquent"`
	Description     *string `json:"description"`
	Discount        *string `json:"discount"`
	Email           string  `json:"email"`
	InvoicePrefix   string  `json:"invoice_prefix"`
	InvoiceSettings struct {
		CustomFields         *string `json:"custom_fields"`
		DefaultPaymentMethod *string `json:"default_payment_method"`
		Footer               *string `json:"footer"`
		RenderingOptions     *string `json:"rendering_options"`
	} `json:"invoice_settings"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	Name                string            `json:"name"`
	NextInvoiceSequence int64             `json:"next_invoice_sequence"`
	Phone               *string           `json:"phone"`
	PreferredLocales    []string          `json:"preferred_locales"`
	Shipping            *string           `json:"shipping"`
	TaxExempt           string            `json:"tax_exempt"`
	TestClock           *string           `json:"test_clock"`
}

func stripeBareCustomers(p place) (task, error) {
	x := exchange{p.httpClient(), http.MethodPost, p.base + pathStripe, "application/x-www-form-urlencoded", func(h http.Header) {
		h.Set("Authorization", "Bearer sk_test_bench")
		h.Set("Idempotency-Key", uuid.NewString())
	}}
	return untilDone(func(ctx context.Context) (any, error) {
		body := url.Values{"name": {"Bench"}, "email": {"bench@example.com"}}.Encode()
		var out stripeHandResult
		return &out, x.by(ctx, []byte(body), &out)
	}), nil
}

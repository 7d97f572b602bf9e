// Alerts sends what happens on an account to a webhook, as {"text": "…"}, which chat
// services take.
//
//	go run ./examples/alerts
//
// With nothing configured it watches a simulated account on which somebody trades, and
// prints the alerts. With TRADING_BASE_URL, TRADING_LIVE_KEY, TRADING_ACCOUNT and
// ALERTS_WEBHOOK set it watches that account until it is interrupted. It places nothing.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err := trading.FromEnv()
		if err != nil {
			return err
		}
		defer client.Close()
		account := client.Live.Account(trading.AccountID(os.Getenv("TRADING_ACCOUNT")))
		hook := webhook{url: os.Getenv("ALERTS_WEBHOOK"), client: &http.Client{Timeout: 10 * time.Second}}
		return alert(ctx, hook.send, watch.Account(account), watch.Health(client))
	}
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 9*time.Second)
	defer cancel()
	for after, act := range map[time.Duration]func(){
		1 * time.Second: func() { sim.Trade("acc_1", "long", "0.1", "BTC") },
		2 * time.Second: func() { sim.SetHealth("degraded", "stale") },
		8 * time.Second: func() { sim.Trade("acc_1", "short", "0.1", "BTC") },
	} {
		defer time.AfterFunc(after, act).Stop()
	}
	const often = 300 * time.Millisecond // of a service that is not there
	printed := func(_ context.Context, text string) error {
		_, err := fmt.Fprintln(out, text)
		return err
	}
	return alert(ctx, printed, watch.Account(client.Live.Account("acc_1")).WithInterval(often).Seed(1),
		watch.Health(client).Seed(2))
}

// alert sends what is worth one until ctx ends. An alert that cannot be sent is logged,
// and lost: what must not be lost belongs in an audit (package record).
func alert(ctx context.Context, send func(context.Context, string) error, watches ...watch.Watch) error {
	var last error
	for ev, err := range watch.Events(ctx, watches...) {
		last = err
		text := ""
		if err != nil {
			text = fmt.Sprintf("watching: %v", err)
		} else {
			text = describe(ev)
		}
		if text == "" || ctx.Err() != nil {
			continue
		}
		if err := send(ctx, text); err != nil {
			log.Printf("alert not sent: %v: %s", err, text)
		}
	}
	return last
}

// describe says what an event is in a line, or nothing if it is not worth an alert.
func describe(ev watch.Event) string {
	switch ev := ev.(type) {
	case watch.PositionOpened:
		return fmt.Sprintf("opened %s %s %s at %s", ev.Position.Side, ev.Position.Size, ev.Position.Symbol, ev.Position.EntryPrice)
	case watch.PositionClosed:
		return fmt.Sprintf("closed %s %s", ev.Old.Side, ev.Old.Symbol)
	case watch.TradeClosed:
		return fmt.Sprintf("trade in %s: net %s", ev.Trade.Symbol, ev.Trade.NetPnL().StringFixed(2))
	case watch.StatusChanged:
		return fmt.Sprintf("the account is %s", ev.New)
	case watch.HealthChanged:
		return fmt.Sprintf("the service is %s, feed %s", ev.New.Status, ev.New.Feed)
	case watch.Gap:
		return fmt.Sprintf("%s may lack what happened for %s", ev.Watch, ev.To.Sub(ev.From))
	default:
		return ""
	}
}

// webhook posts alerts.
type webhook struct {
	url    string
	client *http.Client
}

func (w webhook) send(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the webhook answered %s", answer.Status)
	}
	return nil
}

package trial_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/quote"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// raw is a bot of the standard library alone, which keeps one position of 0.01 BTC. Without a
// mistake it is right.
type raw struct {
	mistake string
	period  time.Duration

	at     trial.Service
	http   http.Client
	resume time.Time // nothing is sent before
	locked bool
	n      int
	safe   bool      // what it knows of the health
	asked  time.Time // and since when
}

// reply is an answer; status 0 is none.
type reply struct {
	status int
	data   map[string]any
	code   string
}

func (b raw) run(ctx context.Context, at trial.Service) error {
	b.at, b.http = at, http.Client{Transport: at.Transport, Timeout: 3 * time.Second}
	if b.mistake == "forgets" {
		b.place(ctx, b.decide("64000"))
	}
	if order, err := os.ReadFile(b.file()); err == nil && b.mistake != "forgets" {
		b.carryOut(ctx, order)
		if b.mistake != "hasty" {
			pause(ctx, b.period) // reads lag
		}
	}
	for began := time.Now(); ctx.Err() == nil; {
		b.look(ctx)
		wait := b.period
		if b.mistake == "ticks" {
			wait -= time.Since(began) % b.period
		}
		pause(ctx, wait)
	}
	return ctx.Err()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (b *raw) file() string { return filepath.Join(b.at.Dir, "decision") }

func (b *raw) send(ctx context.Context, method, path string, body []byte, key string) reply {
	if wait := time.Until(b.resume); wait > 0 && b.mistake != "impatient" {
		pause(ctx, wait)
	}
	r, err := http.NewRequestWithContext(ctx, method, b.at.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-API-Key", b.at.LiveKey)
	if strings.HasPrefix(path, "/sandbox/") {
		r.Header.Set("X-API-Key", b.at.SandboxKey)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a, err := b.http.Do(r)
	if err != nil {
		return reply{}
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	got := reply{status: a.StatusCode}
	if err != nil || json.Unmarshal(text, &got.data) != nil {
		return reply{}
	}
	got.code, _ = got.data["error"].(string)
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil {
		b.resume = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	return got
}

// open reports whether a position is open; ok is false if that cannot be read.
func (b *raw) open(ctx context.Context) (open, ok bool) {
	got := b.send(ctx, "GET", "/positions?accountId="+b.at.Account, nil, "")
	list, ok := got.data["positions"].([]any)
	return len(list) > 0, ok
}

func (b *raw) look(ctx context.Context) {
	open, ok := b.open(ctx)
	prices, _ := b.send(ctx, "GET", "/sandbox/prices", nil, "").data["prices"].(map[string]any)
	price, priced := prices["BTC"].(float64)
	healthy := b.healthy(ctx)
	if b.locked && b.mistake != "stubborn" {
		account := b.send(ctx, "GET", "/accounts/"+b.at.Account, nil, "")
		text, _ := json.Marshal(account.data)
		b.locked = !bytes.Contains(text, []byte(`"ACTIVE"`))
	}
	switch {
	case !ok || open && b.mistake != "greedy":
	case !priced && b.mistake != "zero":
	case !healthy && b.mistake != "reckless":
	case b.locked && b.mistake != "stubborn":
	default:
		b.place(ctx, b.decide(strconv.FormatFloat(price, 'f', -1, 64)))
	}
}

// healthy asks whether the service is safe to trade at. One that remembers asks seldom.
func (b *raw) healthy(ctx context.Context) bool {
	if b.mistake != "remembers" || !b.safe || time.Since(b.asked) >= 12*time.Second {
		b.safe, b.asked = b.send(ctx, "GET", "/health", nil, "").data["ok"] == true, time.Now()
	}
	return b.safe
}

func (b *raw) decide(price string) []byte {
	b.n++
	key := fmt.Sprint("raw-", time.Now().UnixNano(), "-", b.n)
	if b.mistake == "same key" {
		key = "raw"
	}
	stop := decimal.RequireFromString(price).Mul(decimal.RequireFromString("0.99")).Round(2)
	levels := `,"stopLossPrice":` + stop.String()
	if b.apart() {
		levels = ""
	}
	return fmt.Appendf(nil, "%s\n"+`{"accountId":%q,"symbol":"BTC","side":"long","size":0.01,"leverage":2,"maxSlippagePct":%d%s}`, key, b.at.Account, 1+b.n%9, levels)
}

// place keeps a decision, and carries it out.
func (b *raw) place(ctx context.Context, order []byte) {
	b.keep(order)
	b.carryOut(ctx, order)
}

// mayHaveRun is kept of a decision that would be executed once more under its key.
const mayHaveRun = "look"

// carryOut sends a decision until its outcome is known.
func (b *raw) carryOut(ctx context.Context, order []byte) {
	key, body, sent := strings.Cut(string(order), "\n")
	if !sent {
		b.find(ctx)
		return
	}
	for try := range 8 {
		if b.mistake == "blind" {
			key += "x"
		}
		got := b.send(ctx, "POST", "/orders", []byte(body), key)
		switch {
		case ctx.Err() != nil:
			return
		case got.status == 200:
			b.protect(ctx)
			b.forget()
			return
		case got.code == "rate_limited", got.code == "idempotency_in_flight", got.code == "no_price":
		case got.code == "account_locked" && b.mistake != "storm":
			b.locked = true
			b.forget()
			return
		case got.status >= 400 && got.status < 500 && got.code != "" && got.code != "idempotency_result_unknown":
			b.forget()
			for i := 0; b.mistake == "storm" && i < 12; i++ { // perhaps now?
				_, again, _ := strings.Cut(string(b.decide("64000")), "\n")
				b.send(ctx, "POST", "/orders", []byte(again), fmt.Sprintf("storm-%d-%d", time.Now().UnixNano(), i))
			}
			return
		case got.code != "": // it may have been executed, and the key does not say
			if b.mistake != "repeats" {
				b.keep([]byte(mayHaveRun))
			}
			b.find(ctx)
			return
		}
		pause(ctx, 100*time.Millisecond<<try)
	}
}

// find reads what became of a decision, once reads show it.
func (b *raw) find(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, b.period)
		if open, ok := b.open(ctx); ok {
			if open && b.mistake != "unprotected" {
				b.protect(ctx)
			}
			b.forget()
			return
		}
	}
}

// apart reports whether the stop has a request of its own.
func (b *raw) apart() bool {
	return b.mistake == "naked" || b.mistake == "separate" || b.mistake == "unprotected"
}

// protect sets a stop that has a request of its own: until it is there, or once.
func (b *raw) protect(ctx context.Context) {
	for b.apart() {
		got := b.send(ctx, "POST", "/positions/tpsl", fmt.Appendf(nil, `{"accountId":%q,"symbol":"BTC","stopLossPrice":60000}`, b.at.Account), "")
		if got.status == 200 || got.code == "no_position" || b.mistake == "naked" || ctx.Err() != nil {
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (b *raw) keep(order []byte) {
	if err := os.WriteFile(b.file(), order, 0o600); err != nil {
		panic(err)
	}
}

func (b *raw) forget() { _ = os.Remove(b.file()) }

// sdk is a bot with the client, as examples/livebot is one.
func sdk(ctx context.Context, at trial.Service) error {
	client, err := at.Client(trading.WithExclusiveAccounts(trading.AccountID(at.Account)), trading.WithHealthGate(trading.HealthGate{KeepWarm: true}))
	if err != nil {
		return err
	}
	defer client.Close()
	account := client.Live.Account(trading.AccountID(at.Account))
	_, _ = client.Recover(ctx)
	var locked bool
	for ; ctx.Err() == nil; pause(ctx, time.Second) {
		mark, unread := client.Sandbox.Price(ctx, "BTC")
		positions, err := account.Positions(ctx)
		if unread != nil || err != nil {
			continue
		}
		if locked {
			is, err := account.State(ctx)
			locked = err != nil || is.Status != "ACTIVE"
		}
		price, priced := mark.Price()
		if _, open := positions.In("BTC"); open || !priced || locked {
			continue
		}
		_, err = account.PlaceOrder(context.WithoutCancel(ctx), trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
			ExpectedPrice: trading.At(price), StopLoss: trading.At(price.Mul(trading.Dec("0.99")).Round(2)),
		})
		locked = errors.Is(err, trading.ErrAccountLocked)
	}
	return ctx.Err()
}

// quoter is a bot with a Quoter, which keeps a limit of 0.01 BTC on each side of the mark, by the clock.
func quoter(ctx context.Context, at trial.Service) error {
	id := trading.AccountID(at.Account)
	client, err := at.Client(trading.WithExclusiveAccounts(id), trading.WithHealthGate(trading.HealthGate{KeepWarm: true}))
	if err != nil {
		return err
	}
	defer client.Close()
	go func() { _, _ = client.Recover(ctx) }()
	size, away := trading.Dec("0.01"), trading.Dec("20")
	quotes, err := quote.New(client, id, quote.Options{
		Symbol: "BTC", Leverage: trading.Dec("2"), MaxBuy: size, MaxSell: size, Least: quote.Change{Price: trading.Dec("100")},
	})
	if err != nil {
		return err
	}
	account, locked := client.Live.Account(id), false
	for round := time.NewTicker(time.Minute); ; {
		mark, unread := client.Sandbox.Price(ctx, "BTC")
		positions, err := account.Positions(ctx)
		if locked {
			is, err := account.State(ctx)
			locked = err != nil || is.Status != "ACTIVE"
		}
		var desired []quote.Quote
		_, open := positions.In("BTC")
		if price, priced := mark.Price(); errors.Join(unread, err) == nil && priced && !open && !locked {
			desired = []quote.Quote{{Side: trading.Long, Price: price.Sub(away), Size: size}, {Side: trading.Short, Price: price.Add(away), Size: size}}
		}
		_, err = quotes.Step(context.WithoutCancel(ctx), desired)
		locked = locked || errors.Is(err, trading.ErrAccountLocked)
		select {
		case <-round.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// paper is a bot on the sandbox, whose orders have no key: what it did not hear it reads.
type paper struct{ raw }

func (b paper) run(ctx context.Context, at trial.Service) error {
	b.at, b.http = at, http.Client{Transport: at.Transport, Timeout: 3 * time.Second}
	for ; ctx.Err() == nil; pause(ctx, b.period) {
		positions, ok := b.send(ctx, "GET", "/sandbox/positions", nil, "").data["positions"].([]any)
		got := b.send(ctx, "GET", "/sandbox/prices?symbol=BTC", nil, "")
		price, priced := got.data["price"].(float64)
		healthy := b.send(ctx, "GET", "/health", nil, "").data["ok"] == true
		if !ok || len(positions) > 0 || !priced || !healthy {
			continue
		}
		order := fmt.Appendf(nil, `{"symbol":"BTC","side":"short","size":0.01,"leverage":2,"stopLossPrice":%.0f}`, price*1.01)
		for range 2 {
			got = b.send(ctx, "POST", "/sandbox/orders", order, "")
			if got.status != 0 || b.mistake != "blind" {
				break
			}
		}
		if got.code == "account_locked" && b.mistake != "stubborn" {
			pause(ctx, 10*b.period)
		}
	}
	return ctx.Err()
}

// quotes keeps limits of 0.01 BTC at distances from the mark, in hundredths of a percent: a
// grid below it, or both sides of a market maker. Positions that come of them are the
// harness's to close.
type quotes struct {
	raw
	distances []int64
	keys      map[int64]string // of the orders whose outcome is not known, by distance
	prices    map[int64]string
}

func (b quotes) run(ctx context.Context, at trial.Service) error {
	b.at, b.http = at, http.Client{Transport: at.Transport, Timeout: 3 * time.Second}
	b.keys, b.prices = map[int64]string{}, map[int64]string{}
	for ; ctx.Err() == nil; pause(ctx, b.period) {
		b.look(ctx)
	}
	return ctx.Err()
}

func (b *quotes) look(ctx context.Context) {
	open, ok := b.open(ctx)
	resting, known := b.send(ctx, "GET", "/accounts/"+b.at.Account+"/orders", nil, "").data["orders"].([]any)
	prices, _ := b.send(ctx, "GET", "/sandbox/prices", nil, "").data["prices"].(map[string]any)
	price, priced := prices["BTC"].(float64)
	healthy := b.send(ctx, "GET", "/health", nil, "").data["ok"] == true
	if !ok || !known || !priced || !healthy || open || len(resting) >= len(b.distances) {
		return
	}
	if b.locked {
		text, _ := json.Marshal(b.send(ctx, "GET", "/accounts/"+b.at.Account, nil, "").data)
		if b.locked = !bytes.Contains(text, []byte(`"ACTIVE"`)); b.locked {
			return
		}
	}
	for _, d := range b.distances {
		b.quote(ctx, d, price, len(resting) > 0)
	}
}

// quote sends one limit. What it did not hear of it sends again under its key; the service has
// forgotten nothing of the rest.
func (b *quotes) quote(ctx context.Context, d int64, price float64, some bool) {
	side := "long"
	if d > 0 {
		side = "short"
	}
	key, inDoubt := b.keys[d]
	if some && !inDoubt || b.locked {
		return
	}
	if !inDoubt {
		b.n++
		key = fmt.Sprint("quote-", time.Now().UnixNano(), "-", b.n)
		b.prices[d] = decimal.NewFromFloat(price).Mul(decimal.New(10_000+d, -4)).Round(0).String()
	}
	order := fmt.Appendf(nil, `{"accountId":%q,"symbol":"BTC","side":%q,"size":0.01,"leverage":2,"limitPrice":%s}`, b.at.Account, side, b.prices[d])
	b.keys[d] = key
	switch got := b.send(ctx, "POST", "/orders/limit", order, key); {
	case got.status == 200:
		delete(b.keys, d)
	case got.code == "account_locked":
		b.locked = true
		delete(b.keys, d)
	case got.status >= 400 && got.status < 500 && got.code != "" && got.code != "idempotency_in_flight" && got.code != "rate_limited":
		delete(b.keys, d) // what is missing shows in the next read of the orders
	case got.status >= 500 && got.code != "":
		delete(b.keys, d) // likewise: under its key it would run again
	}
}

package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/demobot"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/control"
)

type css = chromedp.CSS

// markup is what a page that is careless runs.
const markup = `<img/src=x/onerror=alert(1)>`

// start makes a simulation whose clock stands still, so that what a fault holds is held.
func start(t *testing.T) *tradingsim.Sim {
	t.Helper()
	return tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithManualClock(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)))
}

// order sends an order over loopback, and does not mind what comes back.
func order(ctx context.Context, t *testing.T, sim *tradingsim.Sim, key string) {
	t.Helper()
	body := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`
	r, err := http.NewRequestWithContext(ctx, "POST", sim.URL()+"/orders", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-API-Key", sim.LiveKey())
	r.Header.Set("Idempotency-Key", key)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}

// An order that a program sends appears, with what it has changed, at any width.
func TestAnOrderAppears(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	at := console(t, sim, nil)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(at.Page), until("document.getElementById('link').textContent === 'live'")))
	order(t.Context(), t, sim, "decision-1")
	require.NoError(t, chromedp.Do(ctx,
		until("document.querySelector('#ledger tbody').textContent.includes('bought0.01BTCrequest 1')"),
		until("document.querySelector('#requests tbody').textContent.includes('POST /orders200')"),
		until("document.querySelector('#requests tbody').textContent.includes('decision-1')"),
		until("document.querySelector('#positions tbody').textContent.includes('acc_1BTClong0.01')"),
		until("document.querySelectorAll('.uplot canvas').length === 2")))

	require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys(css("#price"), "65000"), chromedp.Click(css("#setmark button")),
		until("document.getElementById('markets').textContent.includes('BTC 65,000')"),
		until("document.getElementById('levels').textContent.includes('equity100,00')"),
		chromedp.Click(css("[data-by='15m']")), until("document.getElementById('clock').textContent === '10:15:00'")))
	require.Equal(t, 15*time.Minute, sim.Now().Sub(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)))

	for _, width := range []int64{1200, 390} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 844)))
		wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(t, err)
		assert.LessOrEqual(t, wide, width, "nothing sticks out")
		assert.Empty(t, scrolling(ctx, t), "no table scrolls sideways")
		screenshot(ctx, t, fmt.Sprintf("order-%d", width), width, 844)
	}
	require.Empty(t, said.all())
}

// Each button breaks the next order, and the page says so, in the log and in the ledger.
func TestEachFaultButton(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	at := console(t, sim, nil)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(at.Page), until("document.querySelectorAll('#kinds button').length > 20")))
	kinds, err := chromedp.Run(ctx, chromedp.Evaluate[[]string]("[...document.querySelectorAll('#kinds button')].map((b) => b.dataset.kind)"))
	require.NoError(t, err)
	for i, kind := range kinds {
		executed := len(sim.Ledger())
		require.NoError(t, chromedp.Do(ctx,
			chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector('[data-kind=%s]').click()", kind)),
			until(fmt.Sprintf("document.querySelector('#planned ul').textContent.startsWith('%s')", kind))), kind)
		sending, cancel := context.WithCancel(t.Context())
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			order(sending, t, sim, fmt.Sprintf("decision-%d", i))
		}()
		tag := "[...document.querySelectorAll('#%s .tag')].some((tag) => tag.textContent.split(' ')[0] === '%s')"
		err := chromedp.Do(ctx, until(fmt.Sprintf(tag, "requests", kind)))
		if err == nil && len(sim.Ledger()) > executed {
			err = chromedp.Do(ctx, until(fmt.Sprintf(tag, "ledger", kind)))
		}
		cancel()
		<-sent
		require.NoError(t, err, kind)
	}
	require.NotEmpty(t, sim.Ledger())
	require.Empty(t, sim.PlannedFaults())
	require.NoError(t, chromedp.Do(ctx, until("document.getElementById('planned').hidden")))
	for _, width := range []int64{1200, 390} {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 844)))
		assert.Empty(t, scrolling(ctx, t), "no table scrolls sideways")
		screenshot(ctx, t, fmt.Sprintf("faults-%d", width), width, 844)
	}
	require.Empty(t, said.all())
}

// The demonstration of the guide: a bot trades, somebody drops a reply, and the client finds
// its order. Time is real here, as it is for who watches.
func TestTheDemonstration(t *testing.T) {
	ctx, said := browser(t)
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithFeed("ETH", tradingsim.RandomWalk(1, "3200", 2)))
	at := console(t, sim, func(ctx context.Context, show func(control.Write)) error {
		return demobot.Run(ctx, demobot.Config{
			BaseURL: sim.URL(), SandboxKey: sim.SandboxKey(), LiveKey: sim.LiveKey(), Account: "acc_1",
		}, func(w demobot.Write) { show(control.Write(w)) })
	})
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(at.Page), until("document.querySelectorAll('#kinds button').length > 20"),
		chromedp.Evaluate[chromedp.Void](`const choice = document.getElementById('operation');
			choice.value = 'POST /sandbox/orders';
			choice.dispatchEvent(new Event('change'));
			document.querySelector('[data-kind=drop_response]').click()`),
		until("document.querySelector('#ledger tbody').textContent.includes('drop_response')"),
		until("document.getElementById('writes').textContent.includes('found applied, by accounting')")))
	dropped := 0
	for _, one := range sim.Requests() {
		if one.Fault == "drop_response" {
			dropped++
			assert.Len(t, executedBy(sim, one.ID), 1, "it ran once")
		}
	}
	assert.Equal(t, 1, dropped, "and was sent once")
	for _, width := range []int64{1200, 390} {
		screenshot(ctx, t, fmt.Sprintf("demonstration-%d", width), width, 844)
	}
	require.Empty(t, said.all())
}

// executedBy are the executions that a request brought.
func executedBy(sim *tradingsim.Sim, request int64) (all []tradingsim.Execution) {
	for _, one := range sim.Ledger() {
		if one.Request == request {
			all = append(all, one)
		}
	}
	return all
}

// What comes from outside stays text, wherever it shows.
func TestMarkupStaysText(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	at := console(t, sim, func(ctx context.Context, show func(control.Write)) error {
		show(control.Write{ID: "1", Environment: markup, Text: markup, Outcome: markup, Steps: []string{markup}})
		<-ctx.Done()
		return nil
	})
	order(t.Context(), t, sim, markup)
	sim.Fault("*", tradingsim.Fail(500, markup))
	order(t.Context(), t, sim, "another")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(at.Page),
		until("document.querySelectorAll('#requests tbody tr').length === 2"),
		until("document.querySelectorAll('#writes li').length === 1")))
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.getElementById('main').textContent"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, strings.Count(text, markup), 6)
	images, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.querySelectorAll('img').length"))
	require.NoError(t, err)
	assert.Zero(t, images)
	require.Empty(t, said.all())
}

// The token leaves the address bar, and whoever has none signs in by hand.
func TestSigningIn(t *testing.T) {
	ctx, said := browser(t)
	at := console(t, start(t), nil)
	address, token, _ := strings.Cut(at.Page, "#")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitVisible(css("#signin"))))
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!document.getElementById('main').hidden"))
	require.NoError(t, err)
	require.False(t, shown)
	require.Len(t, said.all(), 1, "a 401, which the browser logs: %v", said.all())
	require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys(css("#token"), token), chromedp.Click(css("#signin button")),
		chromedp.WaitVisible(css("#main")), chromedp.Navigate("about:blank"), chromedp.Navigate(at.Page), chromedp.WaitVisible(css("#main"))))
	hash, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href"))
	require.NoError(t, err)
	require.Equal(t, address, hash)
	require.Len(t, said.all(), 1)
}

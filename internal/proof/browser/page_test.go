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
	send(ctx, t, sim, "/orders", key, `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`)
}

// send sends a live write over loopback, and does not mind what comes back.
func send(ctx context.Context, t *testing.T, sim *tradingsim.Sim, path, key, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", sim.URL()+path, strings.NewReader(body))
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

// open opens the page of a simulation, on a desk.
func open(ctx context.Context, t *testing.T, at control.Endpoint) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(at.Page),
		until("document.getElementById('link').textContent === 'live'"),
		until("document.querySelectorAll('.uplot canvas').length === 2"),
		until("document.querySelectorAll('#faults [data-kind]').length > 20")))
}

// An order that a program sends appears, with what it has changed, at any width.
func TestAnOrderAppears(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	open(ctx, t, console(t, sim, nil))
	order(t.Context(), t, sim, "decision-1")
	require.NoError(t, chromedp.Do(ctx,
		until("document.querySelector('#ledger tbody').textContent.includes('bought0.01BTCrequest 1')"),
		until("document.querySelector('#requests tbody').textContent.includes('POST /orders200')"),
		until("document.querySelector('#requests tbody').textContent.includes('decision-1')"),
		until("document.querySelector('#positions tbody').textContent.includes('acc_1BTClong0.01')")))
	require.NoError(t, chromedp.Do(ctx, within(800, "#ledger tbody tr")), "what was executed is seen without scrolling")

	require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys(css("#price"), "65000"), chromedp.Click(css("#setmark button")),
		until("document.getElementById('markets').textContent.includes('BTC 65,000')"),
		until("document.getElementById('levels').textContent.includes('equity100,00')"),
		chromedp.Click(css("[data-by='15m']")), until("document.getElementById('clock').textContent === '10:15:00'")))
	require.Equal(t, 15*time.Minute, sim.Now().Sub(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)))
	fits(ctx, t, "order", 1280, 390)
	require.Empty(t, said.all())
}

// within waits until an element ends in the first so many pixels of the page.
func within(height int, selector string) chromedp.Action[chromedp.Void] {
	return until(fmt.Sprintf("(b => b > 0 && b <= %d)(document.querySelector(%q).getBoundingClientRect().bottom + scrollY)", height, selector))
}

// Whatever an account holds, its rows fit a phone, and whoever does not see the page is told
// what each part is.
func TestAFullBook(t *testing.T) {
	ctx, said := browser(t)
	const account = "acc_of_somebody_with_a_long_name_2026"
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithAccount(tradingsim.Account{ID: account}), tradingsim.WithManualClock(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)))
	open(ctx, t, console(t, sim, nil))
	for i, one := range []struct{ path, members string }{
		{"/orders", `"symbol":"BTC","side":"long","size":0.12345678,"leverage":2,"stopLossPrice":60123.45,"takeProfitPrice":71234.56`},
		{"/orders/limit", `"symbol":"ETH","side":"short","size":1.2345678,"leverage":2,"limitPrice":3456.78`},
		{"/orders/twap", `"symbol":"ETH","side":"long","size":12.345678,"leverage":2,"durationMs":3600000`},
	} {
		send(t.Context(), t, sim, one.path, fmt.Sprintf("decision-with-a-rather-long-name-%d", i), `{"accountId":"`+account+`",`+one.members+`}`)
	}
	require.NoError(t, chromedp.Do(ctx,
		until("document.querySelector('#positions tbody').textContent.includes('60,123.45')"),
		until("document.querySelectorAll('#orders tbody tr').length === 2")))
	fits(ctx, t, "book", 1280, 1000, 768, 390, 320)
	require.Empty(t, nameless(ctx, t))
	label, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.getElementById('marks').getAttribute('aria-label')"))
	require.NoError(t, err)
	require.Equal(t, "Mark of BTC: 64,000 now, between 64,000 and 64,000, since 10:00:00", label)
	require.Empty(t, said.all())
}

// A few dollars are seen in the chart of the equity, however far the floors are.
func TestTheEquityMoves(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	open(ctx, t, console(t, sim, nil))
	order(t.Context(), t, sim, "decision-1")
	for _, price := range []string{"64100", "64300", "64200", "64400"} {
		sim.SetMark("BTC", price)
		require.NoError(t, chromedp.Do(ctx, chromedp.Click(css("[data-by='1m']")),
			until(fmt.Sprintf("Number(document.getElementById('markets').textContent.split(' ')[1].slice(0, 6).replace(',', '')) === %s", price))))
	}
	const rise = `(() => {
		const canvas = document.querySelector('#equity canvas');
		const { width, height } = canvas;
		const data = canvas.getContext('2d').getImageData(0, 0, width, height).data;
		const rows = [];
		for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
			const i = (y * width + x) * 4;
			if (data[i + 3] > 200 && data[i + 2] - data[i] > 100) { rows.push(y); break; }
		}
		return (rows[rows.length - 1] - rows[0]) / height;
	})()`
	require.NoError(t, chromedp.Do(ctx, until(rise+" > 0.5")))
	gauge, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.getElementById('gauge').getAttribute('aria-label')"))
	require.NoError(t, err)
	require.Regexp(t, "^Equity 100,00[0-9.]+, daily floor 95,000.00, on the way from the global floor 90,000.00 to the target 110,000.00$", gauge)
	require.Empty(t, said.all())
}

// Each button breaks the next order, and the page says so, in the log and in the ledger.
func TestEachFaultButton(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	open(ctx, t, console(t, sim, nil))
	kinds, err := chromedp.Run(ctx, chromedp.Evaluate[[]string]("[...document.querySelectorAll('#faults [data-kind]')].map((b) => b.dataset.kind)"))
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
	require.NoError(t, chromedp.Do(ctx, until("document.querySelector('#planned ul').textContent === 'nothing'")))
	above, err := chromedp.Run(ctx, chromedp.Evaluate[bool](
		"document.getElementById('planned').getBoundingClientRect().bottom <= document.querySelector('[data-kind]').getBoundingClientRect().top"))
	require.NoError(t, err)
	require.True(t, above, "what is planned is above the buttons")
	fits(ctx, t, "faults", 1280, 390)
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
	open(ctx, t, at)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Evaluate[chromedp.Void](`const choice = document.getElementById('operation');
			choice.value = 'POST /sandbox/orders';
			choice.dispatchEvent(new Event('change'));
			document.querySelector('[data-kind=drop_response]').click()`),
		until("/buy 0.2 ETH, sandboxpending.*….*#1 bought 0.2 ETH.*drop_response/.test(document.querySelector('#writes tbody').textContent)")))
	require.NoError(t, chromedp.Do(ctx, within(800, "#writes tbody tr .did")), "the ledger is beside what the bot knows, and seen without scrolling")
	fits(ctx, t, "pending", 1280, 390)
	require.NoError(t, chromedp.Do(ctx,
		until("/found applied after [0-9]+s, by accounting.*=.*#1 bought 0.2 ETH/.test(document.querySelector('#writes tbody').textContent)"),
		until("/^([0-9]+) of \\1 decided writes agree with the ledger$/.test(document.querySelector('#verdict').firstChild.textContent)")))
	dropped := 0
	for _, one := range sim.Requests() {
		if one.Fault == "drop_response" {
			dropped++
			assert.Len(t, executedBy(sim, one.ID), 1, "it ran once")
		}
	}
	assert.Equal(t, 1, dropped, "and was sent once")
	fits(ctx, t, "demonstration", 1280, 390)
	require.Empty(t, nameless(ctx, t))
	require.NoError(t, chromedp.Do(ctx, chromedp.Reload(), until("document.querySelector('#writes tbody tr') !== null")))
	require.NoError(t, chromedp.Do(ctx, within(844, "#writes tbody tr")), "on a phone too")
	fits(ctx, t, "phone", 390)
	require.Empty(t, said.all())
}

// A write that the bot is wrong about is shown as one.
func TestAWriteThatDiffers(t *testing.T) {
	ctx, said := browser(t)
	sim := start(t)
	open(ctx, t, console(t, sim, func(ctx context.Context, show func(control.Write)) error {
		wrong := control.Write{ID: "1", Environment: "live", Symbol: "BTC", Text: "buy 0.01 BTC", Outcome: "sending"}
		show(wrong)
		order(ctx, t, sim, "decision-1")
		wrong.Outcome = "not applied"
		show(wrong)
		show(control.Write{ID: "2", Environment: "live", Symbol: "ETH", Text: "buy 1 ETH", Outcome: "not applied"})
		<-ctx.Done()
		return nil
	}))
	require.NoError(t, chromedp.Do(ctx,
		until("document.querySelector('#writes [aria-label=differs]').parentElement.textContent.includes('#1 bought 0.01 BTC')"),
		until("document.querySelector('#writes [aria-label=agrees]').parentElement.textContent.includes('nothing')"),
		until("document.getElementById('verdict').textContent === '1 of 2 decided writes agree with the ledger'"),
		until("document.querySelector('#verdict .bad') !== null")))
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
		until("document.querySelectorAll('#writes tbody tr').length === 1")))
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

package browser
import ("testing";"time";"github.com/chromedp/chromedp";"github.com/stretchr/testify/require";"github.com/tradingapi/trading-go/tradingsim")
func TestShots(t *testing.T) {
	ctx := browser(t)
	sim := tradingsim.Start(t, tradingsim.WithMarket(tradingsim.Market{Symbol:"BTC",Label:"Bitcoin"}), tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1,"64000",2)), tradingsim.WithFeed("ETH", tradingsim.RandomWalk(2,"3200",2)), tradingsim.WithFeed("SOL", tradingsim.RandomWalk(3,"150",3)), tradingsim.WithMark("NEWCOIN",""))
	at := console(t, sim, demo(sim))
	c := listen(ctx, t)
	type css = chromedp.CSS
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(at.Page), until("document.querySelectorAll('#writes li').length > 0"),
		chromedp.SetValue(css("#operation"), "POST /sandbox/orders"), chromedp.Click(css("[data-kind=drop_response]")), chromedp.SetValue(css("#operation"), "POST /orders"), chromedp.Click(css("[data-kind=drop_response]")), chromedp.Click(css("[data-kind=crash_after]")),
		chromedp.Sleep(35*time.Second)))
	screenshot(ctx, t, "wide", 1200, 900)
	screenshot(ctx, t, "phone", 390, 844)
	t.Log(c.all())
}

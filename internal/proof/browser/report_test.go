package browser

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/report"
)

// trader turns its position around every three hours.
func trader(ctx context.Context, client *trading.Client) error {
	for i := 0; ; i++ {
		o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.5"), Leverage: trading.Dec("5")}
		if i%2 == 1 {
			o.Side, o.Size = trading.Short, trading.Dec("0.9")
		}
		if _, err := client.Sandbox.PlaceOrder(ctx, o); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(3 * time.Hour):
		}
	}
}

// TestTheReport: on a desk and on a phone nothing of the report is wider than its place,
// with both paths of candles in it.
func TestTheReport(t *testing.T) {
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i := range 6 * 24 {
		open := 60000 + 70*(i%31) - 60*(i%13)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", 1767225600+3600*i, open, open+450, open-440, open+25)
	}
	data, err := backtest.ReadCSV(strings.NewReader(text.String()),
		backtest.CSV{Name: "a-recording-with-a-long-name-2026.csv", Symbol: "BTC", Time: backtest.OpenTime, Source: "made up for a test"})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, report.WriteFile(file, backtest.Run(t, trader, backtest.Config{Name: "In and out", Data: data})))

	ctx, said := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(file))))
	fits(ctx, t, "report", 1280, 390, 320)
	require.Empty(t, said.all())
}

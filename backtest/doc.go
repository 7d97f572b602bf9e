// Package backtest runs a bot against recorded or synthetic prices, on virtual time, and
// reports the result.
//
// A bot is a function of a context and a client, the same that trades live:
//
//	func TestBot(t *testing.T) {
//		data, err := backtest.ReadFile("btc.csv", backtest.CSV{Symbol: "BTC", Time: backtest.OpenTime})
//		if err != nil {
//			t.Fatal(err)
//		}
//		result := backtest.Run(t, bot, backtest.Config{Data: data})
//		t.Log(result)
//	}
//
// [Run] works in a test. A program calls [Main], whose [Runner] also sweeps over variants
// of a bot, in processes of their own.
//
// The service is package tradingsim, and the bot's clock is the recording's: inside a run
// time.Now is the date of the price. Where prices are candles, the prices inside them are drawn
// from the law of a random walk with the same open, high, low and close. Each run is made with
// two seeds; the worse of the two is the headline, and that they agree proves nothing.
//
// # Figures
//
// Money is decimal and adds up to the cent: gross - fees + funding + unrealized = equity -
// opening. A run that does not add up is an error. Ratios are [Figure], which holds a
// number or the reason why there is none. [Definitions] says how each is computed.
//
// # What a backtest cannot show
//
// Fills are at the mark, whatever the size, unless [Config] has [Frictions]: there is no order
// book in a recording. The path inside a candle is not recorded, and a drawn one holds no
// edge: a bot that trades inside candles is measured on marks. Many variants tried on
// one period find one that fits it by chance, so [Runner.Sweep] takes a period to choose
// on and another to judge on, and says how many variants it tried.
package backtest

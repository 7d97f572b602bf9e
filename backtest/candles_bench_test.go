package backtest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// shaped are candles of a random walk with the shape of a recording: so many, so long, with weekends
// or without.
type shaped struct {
	bars     int
	interval time.Duration
	price    float64
	places   int
	move     float64 // of a candle
	weekdays bool
}

// The shapes of the two recordings that come with backtesting.py.
var (
	goog   = shaped{bars: 2148, interval: day, price: 100, places: 2, move: 0.02, weekdays: true}
	eurusd = shaped{bars: 5000, interval: time.Hour, price: 1.1, places: 5, move: 0.001, weekdays: true}
)

func (s shaped) csv(seed uint64) []byte {
	dice := rand.New(rand.NewPCG(seed, 1))
	var text bytes.Buffer
	text.WriteString("time,open,high,low,close\n")
	price := s.price
	at := time.Date(2004, 8, 19, 0, 0, 0, 0, time.UTC)
	for made := 0; made < s.bars; at = at.Add(s.interval) {
		if d := at.Weekday(); s.weekdays && (d == time.Saturday || d == time.Sunday) {
			continue
		}
		made++
		open, high, low := price, price, price
		for range 20 {
			price *= math.Exp(s.move / math.Sqrt(20) * dice.NormFloat64())
			high, low = max(high, price), min(low, price)
		}
		fmt.Fprintf(&text, "%d,%.[2]*[3]f,%.[2]*[4]f,%.[2]*[5]f,%.[2]*[6]f\n", at.Unix(), s.places, open, high, low, price)
	}
	return text.Bytes()
}

func (s shaped) data(tb testing.TB, markets int) *Data {
	var all []*Data
	for i := range markets {
		one, err := ReadCSV(bytes.NewReader(s.csv(uint64(i))), CSV{Symbol: fmt.Sprintf("M%d", i), Time: OpenTime})
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, one)
	}
	data, err := Join(all...)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// crosses is a bot that looks once a candle, and holds each market while its price is above the mean
// of the last 20, on a live account or, without an id, on the paper account.
func crosses(data *Data, id string, each time.Duration) Bot {
	symbols := data.Symbols()
	return func(ctx context.Context, client *trading.Client) error {
		means, held := map[string]float64{}, map[string]bool{}
		var account trading.Trader = client.Sandbox
		if id != "" {
			account = client.Live.Account(trading.AccountID(id))
		}
		for ; ctx.Err() == nil; sleep(ctx, each) {
			for _, symbol := range symbols {
				mark, err := client.Sandbox.Price(ctx, symbol)
				if err != nil {
					return err
				}
				price, ok := mark.Price()
				if !ok {
					continue
				}
				now := price.InexactFloat64()
				if means[symbol] == 0 {
					means[symbol] = now
				}
				means[symbol] += (now - means[symbol]) / 20
				switch above := now > means[symbol]; {
				case above && !held[symbol]:
					if _, err := account.PlaceOrder(ctx, trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("10"), Leverage: trading.Dec("1"), StopLoss: trading.At(price.Mul(trading.Dec("0.8")).Round(4))}); err != nil {
						return err
					}
					held[symbol] = true
				case !above && held[symbol]:
					held[symbol] = false
					if _, err := account.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("100"))); err != nil && trading.OutcomeOf(err) != trading.NotApplied {
						return err
					}
				}
			}
		}
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// processor is what this process has taken of it.
func processor() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use) // it cannot fail for this process
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// inTest calls a function as a test, which a bubble of testing/synctest belongs to.
func inTest(b *testing.B, f func(t *testing.T)) {
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: f}}) {
		b.FailNow()
	}
}

// BenchmarkCandles is one path of a bot that looks once a candle, in processor time: on the shapes of
// the recordings of backtesting.py on a live account, whose stops rest at the service, and on growing
// numbers of hours and of markets on the paper account.
// go test -run '^$' -bench Candles -benchtime 3x ./backtest
func BenchmarkCandles(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as Main does
	run := func(name, id string, s shaped, markets int, looks time.Duration) {
		b.Run(name, func(b *testing.B) {
			data := s.data(b, markets)
			p, err := Config{Data: data, Account: Account{ID: id, Balance: "1000000", DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "1000000000"}}.plan()
			if err != nil {
				b.Fatal(err)
			}
			begun := processor()
			for b.Loop() {
				inTest(b, func(t *testing.T) {
					if _, err := p.try(t, crosses(data, id, looks), trial{aPath, 0}, nil); err != nil {
						t.Error(err)
					}
				})
			}
			b.ReportMetric((processor()-begun).Seconds()/float64(b.N), "cpu-s/run")
		})
	}
	run("GOOG", "acc_1", goog, 1, goog.interval)
	run("EURUSD", "acc_1", eurusd, 1, eurusd.interval)
	for _, days := range []int{1, 30, 365} {
		for _, markets := range []int{1, 20} {
			s := shaped{bars: 24 * days, interval: time.Hour, price: 100, places: 2, move: 0.005}
			run(fmt.Sprintf("%d days, %d markets", days, markets), "", s, markets, time.Hour)
		}
	}
}

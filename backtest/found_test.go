package backtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// around are marks of ten seconds around each so many hours of some days, of a walk without an edge.
// If one is planted, the minute after the hour goes on where the minute before it went, by so many basis
// points.
func around(days, hours int, edge float64) *Data {
	dice := rand.New(rand.NewPCG(11, 5))
	var text strings.Builder
	text.WriteString("time,price\n")
	const step, volatility = 10, 0.5e-4
	price, before := 64_000.0, 0.0
	move := func(drift, seconds float64) {
		price *= math.Exp(drift + volatility*math.Sqrt(seconds)*dice.NormFloat64() - volatility*volatility*seconds/2)
	}
	for hour := hours; hour < days*24; hour += hours {
		for at := -120; at <= 120; at += step {
			drift := 0.0
			if at > 0 && at <= 60 {
				drift = edge * step / 60 / 1e4
			}
			if at > -120 {
				move(drift, step)
			}
			switch at {
			case -60:
				before = price
			case 0:
				edge = math.Copysign(edge, price-before)
			}
			fmt.Fprintf(&text, "%d,%.2f\n", fooledStart+hour*3600+at, price)
		}
		move(0, float64(3600*hours-240))
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Name: "around.csv", Symbol: "BTC"})
	if err != nil {
		panic(err)
	}
	return data
}

// goesOn trades each so many hours in the direction of the time before it, or against it, and closes.
func goesOn(hours int, before, held time.Duration, against bool) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		for {
			apart := time.Duration(hours) * time.Hour
			hour := time.Now().Truncate(apart).Add(apart)
			var price [2]float64
			for i, at := range []time.Time{hour.Add(-before), hour} {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(time.Until(at)):
				}
				p, err := client.Sandbox.Price(ctx, "BTC")
				if err != nil {
					return err
				}
				d, _ := p.Price()
				price[i] = d.InexactFloat64()
			}
			side := trading.Long
			if (price[1] < price[0]) != against {
				side = trading.Short
			}
			if err := order(side, "1")(ctx, client.Sandbox); err != nil {
				return err
			}
			time.Sleep(held)
			if err := closing("100")(ctx, client.Sandbox); err != nil {
				return err
			}
		}
	}
}

// planted is gross: 2 basis points are left of it after the fees of a round trip.
const planted = 11

// TestFoundInWords: nothing in a walk, an edge of 2 basis points a trip where it is planted, and
// one that does not pay its fees where that is.
func TestFoundInWords(t *testing.T) {
	for edge, want := range map[float64]string{
		0: "nothing was found: luck explains it", planted: "an edge was found: gross 1", 2: "an edge was found before fees, and it does not pay them: gross ",
	} {
		r := Run(t, goesOn(1, time.Minute, time.Minute, false), Config{Data: around(10, 1, edge), Account: unbounded("100000")})
		t.Logf("planted %g bp: %s", edge, r.Finding)
		require.Empty(t, r.Worse().Stopped)
		require.Contains(t, r.String(), "finding       "+want)
	}
}

// foundProgram sweeps over 200 variants on a walk, and with an edge.
func foundProgram(r *Runner) int {
	fmt.Println("a line of the program") // a worker's lines are no news
	for _, edge := range []float64{0, planted} {
		config := Config{Data: around(32, 4, edge), Account: unbounded("100000")}
		train, test := Split(config, time.Unix(fooledStart+24*86400, 0))
		s := Sweep{Train: []Config{train}, Test: []Config{test}, Pool: Pool{Workers: 2, Timeout: time.Minute}}
		for i := range 200 {
			before, held, against := time.Duration(10+10*(i%10))*time.Second, time.Duration(10+10*(i/10%10))*time.Second, i >= 100
			s.Variants = append(s.Variants, Variant{fmt.Sprintf("%s/%s/%t", before, held, against), goesOn(4, before, held, against)})
		}
		result, err := r.Sweep(s)
		if err != nil {
			return fatal(err)
		}
		if !strings.Contains(result.Best[0].String(), result.Finding) {
			return fatal(fmt.Errorf("the result of the best does not say %q", result.Finding))
		}
		fmt.Printf("planted %g bp: the best is %s: %s\n%s", edge, result.Rows[0].Name, result.Finding, result)
	}
	return 0
}

// TestFoundBySweeps: nothing among 200 variants on a walk, and the edge where it is planted.
func TestFoundBySweeps(t *testing.T) {
	skipUnderRace(t)
	if testing.Short() {
		t.Skip("402 runs")
	}
	out, errs, status := program(t, "found")
	require.Equal(t, 0, status, errs)
	require.Equal(t, 1, strings.Count(out, "a line of the program"))
	require.Equal(t, 2, strings.Count(out, "200 variants tried, 0 broken"))
	require.Contains(t, out, "on prices that it was not chosen on: mean return")
	require.Contains(t, errs, "backtest: train: 200 of 200 runs, 0 broken")
	require.Regexp(t, `planted 0 bp: the best is .*: nothing was found: `, out)
	require.Regexp(t, `planted 11 bp: the best is .*/false: an edge was found: `, out)
}

// tripsOf are round trips of 10,000 dollars that gross a mean, each other one as much above it as
// the next is below, in basis points.
func tripsOf(n int, mean, spread float64) (list []RoundTrip) {
	for i := range n {
		gross := mean + spread*float64(1-2*(i%2))
		list = append(list, RoundTrip{Cost: decimal.NewFromInt(10_000), Gross: decimal.NewFromFloat(gross)})
	}
	return list
}

// TestFindingBounds: the bound grows with the attempts, and few round trips show nothing.
func TestFindingBounds(t *testing.T) {
	for _, c := range []struct {
		trips    []RoundTrip
		attempts int
		found    bool
	}{
		{tripsOf(400, 3, 20), 1, true}, // t of 3
		{tripsOf(400, 3, 20), 100, false},
		{tripsOf(400, 6, 20), 1_000_000, true},
		{tripsOf(400, 2, 20), 1, false},
		{tripsOf(400, -6, 20), 1, false},
		{tripsOf(28, 50, 1), 1, false},
		{tripsOf(30, 50, 1), 1, true},
	} {
		f := findingOf(c.trips, c.attempts)
		require.Equal(t, c.found, f.Found, "%d trips, %d attempts: %s", len(c.trips), c.attempts, f)
		require.Equal(t, c.found, strings.HasPrefix(f.String(), "an edge was found"))
	}
}

// TestFindingOfASweep takes the deflated Sharpe ratio, the probability of overfitting and the test.
func TestFindingOfASweep(t *testing.T) {
	for _, c := range []struct {
		deflated, overfitting, test float64
		found                       bool
	}{{0.96, 0.1, 0.02, true}, {0.94, 0.1, 0.02, false}, {0.96, 0.5, 0.02, false}, {0.96, 0.1, -0.01, false}} {
		r := &SweepResult{Tried: 200, Overfit: Overfit{Days: 120, DeflatedSharpe: figure(c.deflated), Overfitting: figure(c.overfitting)}, Best: []*Result{{Paths: []Path{{Return: figure(c.test), Continuous: Open}}}}}
		require.Equal(t, c.found, strings.HasPrefix(r.finding(), "an edge was found"), "%+v", c)
	}
}

// TestIntervals are known ones: Lo 2002 for a Sharpe ratio of 0.5 a day on 100 days, and Wilson for 8
// of 10.
func TestIntervals(t *testing.T) {
	in := sharpeInterval(figure(0.5*math.Sqrt(365)), 100)
	low, _ := in.Low.Value()
	high, _ := in.High.Value()
	require.InDelta(t, (0.5-1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), low, 1e-4)
	require.InDelta(t, (0.5+1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), high, 1e-4)
	require.Equal(t, "8 of 10 (49 % to 94 %)", wilson(8, 10).String())
	f := byTrip(tripsOf(8, 10, 0), 2)
	require.Equal(t, "0.80 (0.49 to 0.94)", f.winRate.String()+f.winRateIn.String(), "two that are open at a loss have lost")
}

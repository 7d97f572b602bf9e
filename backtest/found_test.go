package backtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
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

// planted is gross: 9 basis points are left of it after the fees of a round trip.
const planted = 18

// TestFoundInWords: nothing in a walk but the costs, an edge where it is planted, and one that may not
// pay its costs, or does not, where that is.
func TestFoundInWords(t *testing.T) {
	for edge, want := range map[float64]string{
		0: "No edge was found: it loses its costs, at 99 %.", 11: "An edge was found before costs. It cannot be said whether it pays them.", planted: "An edge was found, and it pays its costs.", 2: "An edge was found before costs, and it loses its costs, at 99 %.",
	} {
		r := Run(t, goesOn(1, time.Minute, time.Minute, false), Config{Data: around(10, 1, edge), Account: unbounded("100000")})
		t.Logf("planted %g bp: %s", edge, r.Finding)
		require.Empty(t, r.Worse().Stopped)
		require.Contains(t, r.String(), "finding       "+want)
	}
}

// foundVariants are all, or each ninth for a sample.
func foundVariants() (numbers []int) {
	for i := 0; i < 200; i += depth.Of(9, 1) {
		numbers = append(numbers, i)
	}
	return numbers
}

// foundProgram sweeps over variants on a walk, and with an edge.
func foundProgram(r *Runner) int {
	fmt.Println("a line of the program") // a worker's lines are no news
	for _, edge := range []float64{0, planted} {
		config := Config{Data: around(32, 4, edge), Account: unbounded("100000")}
		train, test := Split(config, time.Unix(fooledStart+24*86400, 0))
		s := Sweep{Train: []Config{train}, Test: []Config{test}, Pool: Pool{Workers: 2, Timeout: time.Minute}}
		for _, i := range foundVariants() {
			before, held, against := time.Duration(10+10*(i%10))*time.Second, time.Duration(10+10*(i/10%10))*time.Second, i >= 100
			s.Variants = append(s.Variants, Variant{fmt.Sprintf("%s/%s/%t", before, held, against), goesOn(4, before, held, against)})
		}
		result, err := r.Sweep(s)
		if err != nil {
			return fatal(err)
		}
		if !strings.Contains(result.Best[0].String(), result.Finding.String()) {
			return fatal(fmt.Errorf("the result of the best does not say %q", result.Finding))
		}
		fmt.Printf("planted %g bp: the best is %s: %s\n%s", edge, result.Rows[0].Name, result.Finding, result)
	}
	return 0
}

// TestFoundBySweeps: nothing among all variants on a walk, and the edge where it is planted.
func TestFoundBySweeps(t *testing.T) {
	skipUnderRace(t)
	out, errs, status := program(t, "found")
	require.Equal(t, 0, status, errs)
	require.Equal(t, 1, strings.Count(out, "a line of the program"))
	require.Equal(t, 2, strings.Count(out, fmt.Sprintf("%d variants tried, 0 broken", len(foundVariants()))))
	require.Contains(t, out, "on prices that it was not chosen on: mean return")
	require.Contains(t, errs, fmt.Sprintf("backtest: train: %[1]d of %[1]d runs, 0 broken", len(foundVariants())))
	require.Regexp(t, `planted 0 bp: the best is .*: No edge was found: it loses its costs, at 99 %`, out)
	require.Regexp(t, `planted 18 bp: the best is .*/false: An edge was found, and it pays its costs`, out)
}

// stepsOf are steps that earn a mean, each other one as much above it as the next is below.
func stepsOf(n int, mean, spread, costs float64) (s Steps) {
	for i := range n {
		s.earned(mean + spread*float64(1-2*(i%2)))
	}
	s.Costs, s.Turnover, s.Largest = costs, 2e4, 1e4
	return s
}

// TestFindingBounds: the bound grows with the attempts, few steps show nothing, and each state has its
// sentence.
func TestFindingBounds(t *testing.T) {
	const unsaid, luck = "It cannot be said whether this bot has an edge: too little was at risk.", "It cannot be said whether this bot has an edge: luck explains what it earned."
	straight := stepsOf(400, 6, 20, 0)
	straight.Straight = true
	brief := stepsOf(400, 6, 20, 0)
	brief.Trips, brief.Brief = 9, 5
	for _, c := range []struct {
		steps    Steps
		attempts int
		want     string
	}{
		{stepsOf(400, 3, 20, 0), 1, "An edge was found, and it pays its costs."}, // t of 2.97
		{stepsOf(400, 3, 20, 0), 100, luck},
		{stepsOf(400, 7, 20, 0), 1_000_000, "An edge was found, and it pays its costs."},
		{stepsOf(400, 2, 20, 0), 1, luck},
		{stepsOf(400, 3, 20, 800), 1, "An edge was found before costs. It cannot be said whether it pays them."},
		{stepsOf(400, 3, 20, 4000), 1, "An edge was found before costs, and it loses its costs, at 99 %."},
		{stepsOf(400, -6, 20, 0), 1, "No edge was found: it loses its costs, at 99 %."},
		{stepsOf(400, 0, 20, 2000), 1, "No edge was found: it loses its costs, at 99 %."},
		{stepsOf(400, 0, 20, -2000), 1, "It pays by the funding that it received. Without that it cannot be said whether this bot has an edge: luck explains what it earned."},
		{stepsOf(9, 50, 1, 0), 1, unsaid},
		{stepsOf(10, 50, 0, 0), 1, "An edge was found, and it pays its costs."},
		{Steps{}, 1, unsaid},
		{straight, 1, "It cannot be said whether this bot has an edge: these candles cannot show it: more than a tenth of the fills are inside candles whose prices are straight lines."},
		{brief, 1, "It cannot be said whether this bot has an edge: these candles cannot show it: 5 of 9 round trips began or ended inside a candle, and lasted fewer than 3."},
	} {
		f := evidence{c.steps, c.steps}.finding(c.attempts)
		require.Equal(t, c.want, f.Headline(), "%d attempts: %+v", c.attempts, f)
		require.Equal(t, strings.HasPrefix(c.want, "An edge was found"), f.Found)
		require.True(t, strings.HasPrefix(f.String(), c.want))
	}
	f := evidence{stepsOf(400, 3, 20, 0), stepsOf(400, 3, 20, 0)}.finding(2)
	require.Equal(t, "An edge was found, and it pays its costs. (before costs 1200.00 bp a round trip (407.24 to 1992.76), after them 1200.00 (407.24 to 1992.76); as one of 2 attempts; a move of 12.00 % against its largest position takes all of it)", f.String())
}

// TestFindingOfPaths takes the path with the least to show, and a loss must hold on both.
func TestFindingOfPaths(t *testing.T) {
	good, poor, bad := stepsOf(400, 6, 20, 0), stepsOf(400, 1, 20, 0), stepsOf(400, -6, 20, 0)
	for _, c := range []struct {
		paths        []Steps
		found, loses bool
	}{{[]Steps{good, good}, true, false}, {[]Steps{good, poor}, false, false}, {[]Steps{poor, good}, false, false}, {[]Steps{bad, poor}, false, false}, {[]Steps{bad, bad}, false, true}} {
		var paths []Path
		for _, s := range c.paths {
			paths = append(paths, Path{Steps: s})
		}
		f := evidenceOf(paths).finding(1)
		require.Equal(t, [2]bool{c.found, c.loses}, [2]bool{f.Found, f.Loses})
	}
}

// TestFindingOfASweep adds its test runs, and takes no figure of the choice for a verdict.
func TestFindingOfASweep(t *testing.T) {
	run := func(s Steps) *Result { return &Result{Paths: []Path{{Steps: s, Continuous: Open}}} }
	weak := stepsOf(200, 2.5, 20, 0) // t of 1.75, and of 3.04 three times
	r := &SweepResult{Tried: 200, Rows: []SweepRow{{Name: "best"}}, Overfit: Overfit{Days: 120, DeflatedSharpe: figure(0.96), Overfitting: figure(0.1)}, Best: []*Result{run(weak)}}
	require.False(t, r.finding(1).Found)
	r.Best = []*Result{run(weak), run(weak), run(weak)}
	require.True(t, r.finding(1).Found)
	require.False(t, r.finding(20).Found, "the same test runs for the twentieth time")
	require.Contains(t, r.String(), "of the choice: deflated Sharpe 0.96, probability of overfitting 0.10, on 120 days of 200 variants")
}

// TestIntervals are known ones: Lo 2002 for a Sharpe ratio of 0.5 a day on 100 days, and Wilson for 8
// of 10.
func TestIntervals(t *testing.T) {
	in := sharpeInterval(figure(0.5*math.Sqrt(365)), 100, 365)
	low, _ := in.Low.Value()
	high, _ := in.High.Value()
	require.InDelta(t, (0.5-1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), low, 1e-4)
	require.InDelta(t, (0.5+1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), high, 1e-4)
	require.Equal(t, "8 of 10 (49 % to 94 %)", wilson(8, 10).String())
	f := byTrip(trips("10", "10", "10", "10", "10", "10", "10", "10"), 2)
	require.Equal(t, "0.80 (0.49 to 0.94)", f.winRate.String()+f.winRateIn.String(), "two that are open at a loss have lost")
}

package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Sweep tries variants of a bot on one part of the prices and judges the best on another.
type Sweep struct {
	// Variants have names of their own.
	Variants []Variant
	// Train is what each variant is tried on, and Test what the best is judged on: other
	// seeds, or a later period of the same prices. Both are required: of many variants the
	// best on one period is the luckiest one.
	Train, Test []Config
	// Score ranks a variant by its train runs, higher is better. Unless set it is
	// [MeanReturn].
	Score func(train []*Result) Figure
	// Pool says how the runs are made.
	Pool Pool
}

// Variant is a bot with one choice of its parameters.
type Variant struct {
	Name string // for the table
	Bot  Bot    // with its parameters
}

// Pool says how runs are made in processes of their own.
type Pool struct {
	// Workers is how many at once; as many as the program may use processors unless set.
	Workers int
	// Timeout is how long one run may take, in real time: 5 minutes unless set.
	Timeout time.Duration
	// Progress is where it says how far it is; standard error unless set.
	Progress io.Writer

	echo bool // what workers print goes to standard error
}

// SweepResult is what a sweep came to.
type SweepResult struct {
	// Tried is how many variants were tried, and Broken how many of them have no score,
	// since a run of theirs panicked, hung or left a goroutine behind.
	Tried, Broken int
	// Rows are the variants, the best first, and those without a score last.
	Rows []SweepRow
	// Best is the best variant on Test; empty if no variant has a score.
	Best []*Result
	// Overfit is what the choice among the variants explains, and Finding what the best shows on all
	// test runs together.
	Overfit Overfit
	Finding Finding
	// Odds are those of the best variant.
	TrainOdds, TestOdds Odds
}

// SweepRow is one variant on the train runs.
type SweepRow struct {
	Name  string    // of the variant
	Score Figure    // none if a run of it broke
	Runs  []*Result // without their curves; those that broke are missing
	Err   string    // of the first run that broke
}

// MeanReturn is the mean return of the worse path. A lost account counts as a return of
// -100 percent.
func MeanReturn(runs []*Result) Figure {
	if len(runs) == 0 {
		return none("no runs")
	}
	sum := 0.0
	for _, r := range runs {
		p := r.Worse()
		v, ok := p.Return.Value()
		switch {
		case p.Continuous == Failed:
			v = -1
		case !ok:
			return p.Return
		}
		sum += v
	}
	return figure(sum / float64(len(runs)))
}

// Sweep tries the variants in processes of their own, so that one which panics, hangs or
// leaves goroutines behind takes nothing with it. Each process is this program once more,
// with the same arguments: up to this call it must do the same, and need not print.
func (r *Runner) Sweep(s Sweep) (*SweepResult, error) {
	p, err := r.part(s, 1, 1)
	if err != nil {
		return nil, err
	}
	return merge([]*Part{p}, r.attemptsOf(s.Train), r.attemptsOf(s.Test))
}

// attemptsOf are the files that count. A worker counts nothing.
func (r *Runner) attemptsOf(configs []Config) []string {
	list := make([]string, len(configs))
	for i, c := range configs {
		if r.worker == nil {
			list[i] = c.Attempts
		}
	}
	return list
}

func (s Sweep) judge() error {
	names := map[string]bool{}
	for _, v := range s.Variants {
		if v.Name == "" || names[v.Name] || v.Bot == nil {
			return fmt.Errorf("backtest: variant %q: each needs a name of its own, and a bot", v.Name)
		}
		names[v.Name] = true
	}
	switch {
	case len(s.Variants) == 0:
		return errors.New("backtest: Sweep.Variants is empty")
	case len(s.Train) == 0 || len(s.Test) == 0:
		return errors.New("backtest: Sweep.Train and Sweep.Test are both required: of many variants the best on one period is the luckiest one; Split makes both")
	}
	for _, train := range s.Train {
		for _, test := range s.Test {
			if err := separate(train, test); err != nil {
				return err
			}
		}
	}
	return nil
}

// separate refuses to judge on what was chosen on.
func separate(train, test Config) error {
	a, err := train.plan()
	if err != nil {
		return err
	}
	b, err := test.plan()
	if err != nil {
		return err
	}
	// Another file of the same market and time holds the same prices. Walks of other seeds do not.
	synthetic := a.Data.synthetic && b.Data.synthetic
	same := a.Data.hash == b.Data.hash || !synthetic && sharesMarket(a.Data, b.Data)
	if same && b.From.Before(a.To) {
		return fmt.Errorf("backtest: the test prices begin at %s, before the end of the train prices at %s; Split separates them", b.From.Format(time.RFC3339), a.To.Format(time.RFC3339))
	}
	return nil
}

// compareScores puts the higher first, and what has no score last.
func compareScores(a, b Figure) int {
	x, okX := a.Value()
	y, okY := b.Value()
	switch {
	case okX && okY:
		return cmp.Compare(y, x)
	case okX:
		return -1
	case okY:
		return 1
	}
	return 0
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// String is the ten best variants, those that broke, and the best on the test prices.
func (r *SweepResult) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d variants tried, %d broken\n", r.Tried, r.Broken)
	for i, row := range r.Rows {
		if _, ok := row.Score.Value(); ok && i >= 10 {
			continue
		}
		fmt.Fprintf(&b, "%4d  %-24s %s\n", i+1, row.Name, scoreText(row.Score))
	}
	if len(r.Best) == 0 {
		b.WriteString("no variant has a score\n")
		return b.String()
	}
	fmt.Fprintf(&b, "%s on prices that it was not chosen on: mean return %s; %s\n", r.Rows[0].Name, percent(MeanReturn(r.Best)), r.TestOdds)
	fmt.Fprintf(&b, "%s\nof the choice: %s\n", r.Finding, r.choice())
	return b.String()
}

func scoreText(f Figure) string {
	if v, ok := f.Value(); ok {
		return fmt.Sprintf("%.6f", v)
	}
	return f.None()
}

// Split makes the train and the test run of one period: until a time, and from it on.
func Split(c Config, at time.Time) (train, test Config) {
	train, test = c, c
	train.To, test.From = at, at
	return train, test
}

// Starts are runs of the given length that begin so far apart, as many as the data have
// room for.
func Starts(c Config, length, apart time.Duration) ([]Config, error) {
	if length <= 0 || apart <= 0 {
		return nil, fmt.Errorf("backtest: Starts takes a length and a distance greater than 0, not %s and %s", length, apart)
	}
	p, err := c.plan()
	if err != nil {
		return nil, err
	}
	var list []Config
	for from := p.From; !from.Add(length).After(p.To); from = from.Add(apart) {
		one := c
		one.From, one.To = from, from.Add(length)
		list = append(list, one)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("backtest: the data have no room for a run of %s", length)
	}
	return list, nil
}

// Odds are how often an account passed, failed or stayed open, over seeds or start days.
// Runs that overlap are not independent: then the intervals are too narrow.
type Odds struct {
	// Continuous is by judging each second, and Service is what the service made of the
	// accounts.
	Continuous, Service Shares
}

// Shares are the three outcomes.
type Shares struct {
	Passed Share // reached the target
	Failed Share // were lost
	Open   Share // neither
}

// OddsOf counts the worse path of each result.
func OddsOf(results []*Result) Odds {
	count := func(of func(*Path) Verdict) Shares {
		n := map[Verdict]int{}
		for _, r := range results {
			n[of(r.Worse())]++
		}
		return Shares{wilson(n[Passed], len(results)), wilson(n[Failed], len(results)), wilson(n[Open], len(results))}
	}
	return Odds{
		Continuous: count(func(p *Path) Verdict { return p.Continuous }),
		Service:    count(func(p *Path) Verdict { return p.Service }),
	}
}

// String has the outcomes by continuous judgement.
func (o Odds) String() string {
	return fmt.Sprintf("passed %s, failed %s, open %s", o.Continuous.Passed, o.Continuous.Failed, o.Continuous.Open)
}

// Repeat makes a run of each config, over seeds or start days, in processes of their own as
// [Runner.Sweep] does. A run that breaks is an error.
func (r *Runner) Repeat(bot Bot, configs []Config, pool Pool) ([]*Result, error) {
	jobs := make([]job, len(configs))
	for i, c := range configs {
		jobs[i] = job{fmt.Sprintf("run %d", i+1), bot, c, false}
	}
	outcomes, err := r.results("repeat", jobs, pool)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(outcomes))
	for i, o := range outcomes {
		if o.Err != "" {
			return nil, fmt.Errorf("backtest: run %d of %d: %s", i+1, len(outcomes), o.Err)
		}
		results[i] = o.Result
	}
	return results, nil
}

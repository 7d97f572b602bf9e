package backtest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/backtest/internal/candle"
)

// trial is one run of a bot from the beginning to the end.
type trial struct {
	Kind trialKind
	Path int // which of the config's
}

type trialKind string

const (
	aPath         trialKind = "path"
	withoutSpikes trialKind = "without spikes"
	aPlacebo      trialKind = "placebo"
	unprotected   trialKind = "without protection"
)

// paths are the trials of a config's paths.
func (p plan) paths(kind trialKind) (list []trial) {
	for i := range p.insides() {
		list = append(list, trial{kind, i})
	}
	return list
}

// of is the plan of a trial.
func (p plan) of(t trial) plan {
	p.in = p.insides()[t.Path]
	switch t.Kind {
	case withoutSpikes:
		p.Data = p.Data.withoutSpikes()
	case aPlacebo:
		p.Data = p.Data.placebo(p.in.jumps)
	case unprotected:
		p.Protect = nil
	}
	return p
}

// assemble makes a result of the trials that a config needs.
func (p plan) assemble(do func([]trial) ([]Path, error)) (*Result, error) {
	paths, err := do(p.paths(aPath))
	if err != nil {
		return nil, err
	}
	more := p.more(paths)
	var beside []Path
	if len(more) > 0 {
		if beside, err = do(more); err != nil {
			return nil, err
		}
	}
	attempts := 1
	if !p.brief {
		if attempts, err = p.tried().count(p.Attempts, 1); err != nil {
			return nil, err
		}
	}
	var results []*Result
	for i, t := range p.traded {
		one := p
		one.terms = t
		result := newResult(one)
		for _, path := range paths {
			result.add(path.account(i))
		}
		for k := range more {
			result.beside(more[k].Kind, beside[k].account(i))
		}
		result.finish(one, attempts)
		results = append(results, result)
	}
	results[0].Others = results[1:]
	return results[0], nil
}

// more are the trials that follow from the paths.
func (p plan) more(paths []Path) (list []trial) {
	if p.brief {
		return nil
	}
	if len(p.spikesIn()) > 0 {
		list = p.paths(withoutSpikes)
	}
	if p.Protect != nil {
		list = append(list, p.paths(unprotected)...)
	}
	if (&Result{Paths: paths}).needsPlacebo() {
		list = append(list, trial{aPlacebo, 0})
	}
	return list
}

// beside notes a path beside those of the run: of several of a kind the worse.
func (r *Result) beside(kind trialKind, path Path) {
	path.Curve, path.Markets = nil, nil
	into := map[trialKind]**Path{withoutSpikes: &r.WithoutSpikes, aPlacebo: &r.Placebo, unprotected: &r.Unprotected}[kind]
	if *into == nil || comparePaths(path, **into) < 0 {
		*into = &path
	}
}

// try makes one trial in this process.
func (p plan) try(t *testing.T, bot Bot, one trial, r *recorder) (Path, error) {
	p = p.of(one)
	raw, err := p.inBubble(t, bot, r)
	p.tell("judging")
	if err != nil {
		return Path{}, err
	}
	return p.judgeAll(raw)
}

// here makes trials in this process, and finds a bot that knows of one in the next: the beginning of
// the last comes first, and must be the same again.
func (p plan) here(t *testing.T, bot Bot) func([]trial) ([]Path, error) {
	return func(list []trial) ([]Path, error) {
		last := list[len(list)-1]
		first, until, err := p.early(t, bot, last)
		if err != nil {
			return nil, err
		}
		paths := make([]Path, len(list))
		for i, one := range list {
			var again *recorder
			if i == len(list)-1 {
				again = newRecorder(until)
			}
			if paths[i], err = p.try(t, bot, one, again); err != nil {
				return nil, err
			}
			if again == nil {
				continue
			}
			if err := sameWrites(first.writes(), again.writes()); err != nil {
				return nil, err
			}
		}
		return paths, nil
	}
}

// early makes the beginning of a trial, until the bot has sent a write: a tenth, half or all of it.
func (p plan) early(t *testing.T, bot Bot, one trial) (first *recorder, until time.Time, err error) {
	early := p.of(one)
	for _, part := range []time.Duration{10, 2, 1} {
		until = earlier(p.To, p.From.Add(p.To.Sub(p.From)/part).Truncate(time.Second).Add(time.Second))
		early.cancelAt, first = until, newRecorder(until)
		if _, err = early.inBubble(t, bot, first); err != nil || len(first.writes().sent) > 0 {
			break
		}
	}
	return first, until, err
}

// sameWrites says where two runs of a bot differ.
func sameWrites(a, b *recorder) error {
	for i := range max(len(a.sent), len(b.sent)) {
		if i < len(a.sent) && i < len(b.sent) && a.texts[a.sent[i].text] == b.texts[b.sent[i].text] {
			continue
		}
		return fmt.Errorf("backtest: the bot does not do the same twice: order %d is %s in the first run and %s in a later one; it keeps something from one run to the next, or throws dice without a seed: what it knows must begin with its call", i+1, a.text(i), b.text(i))
	}
	return nil
}

// placebo are the data with candles of a random walk, of the same length and volatility, in the
// place of each candle, which jumps where candles may have jumps.
func (d *Data) placebo(jumps bool) *Data {
	made := *d
	made.name = "placebo of " + d.name
	made.series = make([]*series, len(d.series))
	for i, s := range d.series {
		one := *s
		if s.interval > 0 {
			one.rows = s.placeboRows(jumps)
			one.seal()
		}
		made.series[i] = &one
	}
	return &made
}

func (s *series) placeboRows(jumps bool) []row {
	rows := slices.Clone(s.rows)
	dice := candle.NewDice(nameKey(s.symbol), uint64(rows[0].at), 1)
	price := 0.0
	for i := range rows {
		r := &rows[i]
		if r.close == 0 {
			continue
		}
		if price == 0 {
			price = float64(r.open)
		}
		sigma, jump, second := s.placeboLaw(i, jumps, dice)
		seconds := int(s.length(i) / int64(time.Second))
		at := func() int64 { return max(1, int64(math.RoundToEven(price))) }
		made := row{at: r.at, open: at(), high: at(), low: at(), close: at()}
		for k := 1; k <= seconds; k++ {
			price *= math.Exp(float64(sigma*dice.Normal()) - float64(sigma*sigma)/2)
			if k == second {
				price *= jump
			}
			if k == seconds {
				break // the next candle's open
			}
			made.close = at()
			made.high, made.low = max(made.high, made.close), min(made.low, made.close)
		}
		*r = made
	}
	return rows
}

// placeboLaw is the volatility of a second in the place of a candle, and where the candle jumps, by
// what and in which second: up as far as down, and its mean is 1.
func (s *series) placeboLaw(i int, jumps bool, dice *candle.Dice) (sigma, jump float64, second int) {
	v := s.volatility(jumps)
	sigma, size, ok := v.Jump(i, dice)
	if !ok {
		return v.Of(i, dice), 1, 0
	}
	second = 1 + int(float64(dice.Uniform()*(s.interval.Seconds()-1)))
	jump = math.Exp(size) / math.Cosh(size)
	if dice.Uniform() < 0.5 {
		jump = math.Exp(-size) / math.Cosh(size)
	}
	return sigma, jump, second
}

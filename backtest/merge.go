package backtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SweepPart makes one shard of a sweep, from 1 to shards, on one of several machines. Which variants
// are of it follows from the sweep and the two numbers alone. The variants are tried on the train
// prices, and the best of the shard is run on the test prices, too. [Merge] makes the result of all
// parts; it counts the attempts, and a part does not.
func (r *Runner) SweepPart(s Sweep, shard, shards int) (*Part, error) {
	p, err := r.part(s, shard, shards)
	if err != nil || r.worker != nil {
		return p, err
	}
	if p.Program, err = programDigest(); err != nil {
		return nil, err
	}
	p.Data, p.Config, err = s.digests()
	return p, err
}

// part makes the runs of one.
func (r *Runner) part(s Sweep, shard, shards int) (*Part, error) {
	if err := s.judge(); err != nil {
		return nil, err
	}
	if err := checkShard(shard, shards); err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	p := &Part{Shard: shard, Shards: shards, variants: len(s.Variants)}
	s.Train, s.Test = uncounted(s.Train), uncounted(s.Test)
	var err error
	if p.train, err = triedOf(s.Train); err != nil {
		return nil, err
	}
	if p.test, err = triedOf(s.Test); err != nil {
		return nil, err
	}
	var jobs []job
	for _, i := range variantsOf(shard, shards, len(s.Variants)) {
		p.rows = append(p.rows, partRow{Variant: i, Name: s.Variants[i].Name})
		for _, c := range s.Train {
			jobs = append(jobs, job{s.Variants[i].Name, s.Variants[i].Bot, c, true})
		}
	}
	outcomes, err := r.results("train", jobs, s.Pool)
	if err != nil {
		return nil, err
	}
	for i := range p.rows {
		s.score(&p.rows[i], outcomes[i*len(s.Train):(i+1)*len(s.Train)])
	}
	best := p.best()
	if best == nil {
		return p, nil
	}
	jobs = nil
	for _, c := range s.Test {
		jobs = append(jobs, job{best.Name, s.Variants[best.Variant].Bot, c, false})
	}
	if outcomes, err = r.results("test", jobs, s.Pool); err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		if o.Err != "" {
			best.Test, best.TestErr = nil, o.Err
			break
		}
		best.Test = append(best.Test, o.Result)
	}
	return p, nil
}

// uncounted are configs whose runs are no attempts yet.
func uncounted(configs []Config) []Config {
	list := slices.Clone(configs)
	for i := range list {
		list[i].Attempts = ""
	}
	return list
}

func triedOf(configs []Config) (list []tried, err error) {
	for _, c := range configs {
		p, err := c.plan()
		if err != nil {
			return nil, err
		}
		list = append(list, p.tried())
	}
	return list, nil
}

// score judges a variant by its train runs.
func (s Sweep) score(row *partRow, outcomes []made) {
	for _, o := range outcomes {
		if o.Err == "" {
			row.Runs = append(row.Runs, o.Result)
		} else if row.Err == "" {
			row.Err = o.Err
		}
	}
	switch {
	case row.Err != "":
		row.Score = none("broken: " + firstLine(row.Err))
	case s.Score != nil:
		row.Score = s.Score(row.Runs)
	default:
		row.Score = MeanReturn(row.Runs)
	}
}

// Merge makes the result of a sweep from all of its parts, in any order: the same as one machine
// gives. Parts of different sweeps, two of one shard and a shard without a part are refused, and
// named. attempts is a file as [Config].Attempts is; empty for none.
func Merge(parts []*Part, attempts string) (*SweepResult, error) {
	if err := belongTogether(parts); err != nil {
		return nil, fmt.Errorf("backtest: merge: %w", err)
	}
	return merge(parts, slices.Repeat([]string{attempts}, len(parts[0].train)), slices.Repeat([]string{attempts}, len(parts[0].test)))
}

// belongTogether refuses parts that are not of one sweep, and those that are not all of it.
func belongTogether(parts []*Part) error {
	if len(parts) == 0 {
		return errors.New("there is no part")
	}
	first := parts[0]
	of := make([]*Part, first.Shards)
	var errs []error
	for _, p := range parts {
		for _, digest := range []struct {
			of   string
			a, b any
		}{
			{"number of shards", first.Shards, p.Shards}, {"program", first.Program, p.Program}, {"data", first.Data, p.Data},
			{"config", first.Config, p.Config}, {"number of variants", first.variants, p.variants},
			{"number of runs", [2]int{len(first.train), len(first.test)}, [2]int{len(p.train), len(p.test)}},
		} {
			if digest.a != digest.b {
				errs = append(errs, fmt.Errorf("%s and %s are of different sweeps: the %s is %v in the first, and %v in the second", first, p, digest.of, digest.a, digest.b))
			}
		}
		if p.Shard > len(of) {
			continue // which was said
		}
		if other := of[p.Shard-1]; other != nil {
			errs = append(errs, fmt.Errorf("%s and %s are both shard %d of %d", other, p, p.Shard, p.Shards))
		}
		of[p.Shard-1] = p
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	var missing []string
	for i, p := range of {
		if p == nil {
			missing = append(missing, fmt.Sprint(i+1))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("of %d shards these have no part: %s", len(of), strings.Join(missing, ", "))
	}
	return nil
}

// merge ranks the variants of all parts, and judges the best by its test runs. The runs are counted
// in a file for each config; none where it is empty.
func merge(parts []*Part, trainFiles, testFiles []string) (*SweepResult, error) {
	rows := make([]*partRow, parts[0].variants)
	for _, p := range parts {
		for i := range p.rows {
			rows[p.rows[i].Variant] = &p.rows[i]
		}
	}
	for i, t := range parts[0].train {
		if _, err := t.count(trainFiles[i], len(rows)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(rows, func(a, b *partRow) int { return compareScores(a.Score, b.Score) })
	result := &SweepResult{Tried: len(rows)}
	for _, row := range rows {
		if row.Err != "" {
			result.Broken++
		}
		result.Rows = append(result.Rows, SweepRow{row.Name, row.Score, row.Runs, row.Err})
	}
	result.Overfit = overfitOf(result.Rows)
	if _, ok := rows[0].Score.Value(); !ok {
		result.Finding = Finding{Unsaid: "no variant has a score", Attempts: 1}
		return result, nil
	}
	if rows[0].TestErr != "" {
		return nil, fmt.Errorf("backtest: %s on the test prices: %s", rows[0].Name, rows[0].TestErr)
	}
	result.Best = slices.Clone(rows[0].Test)
	attempts := 1
	for i, r := range result.Best {
		n, err := parts[0].test[i].count(testFiles[i], 1)
		if err != nil {
			return nil, err
		}
		result.Best[i], attempts = r.outOf(n), max(attempts, n)
	}
	result.Finding = result.finding(attempts)
	for _, r := range result.Best {
		r.Overfit = result.Overfit
		r.warn("The bot is the best of %d variants on other prices; these it had not seen. Over all test runs: %s Of the choice: %s.", result.Tried, result.Finding, result.choice())
	}
	result.TrainOdds, result.TestOdds = OddsOf(result.Rows[0].Runs), OddsOf(result.Best)
	return result, nil
}

// outOf is a result of so many attempts.
func (r *Result) outOf(attempts int) *Result {
	one := *r
	one.Finding, one.Overfit = evidenceOf(r.Paths).finding(attempts), overfitOfOne(r, attempts)
	one.Warnings = slices.Clone(r.Warnings)
	one.Others = slices.Clone(r.Others)
	for i, other := range one.Others {
		one.Others[i] = other.outOf(attempts)
	}
	return &one
}

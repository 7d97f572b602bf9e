package profile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// numbers are those of readings and of assumptions.
var numbers = regexp.MustCompile(`^A?[1-9][0-9]{0,2}[a-z]?$`)

var verdicts = map[Verdict]bool{First: true, Other: true, Mixed: true, Neither: true, Unseen: true}

// decimalText is an exact decimal without an exponent.
var decimalText = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$`)

// Validate says what is wrong with a profile: all of it, joined.
func (p *Profile) Validate() error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf("profile: "+format, args...)) }
	if p.Version != Version {
		say("version is %d: it must be %d", p.Version, Version)
	}
	if p.MeasuredAt.IsZero() && len(p.Results) > 0 {
		say("measuredAt is missing")
	}
	seen := map[[2]string]bool{}
	for i, r := range p.Results {
		if where := [2]string{r.Experiment, string(r.Environment)}; seen[where] {
			say("results[%d]: experiment %q of %q is there twice", i, r.Experiment, r.Environment)
		} else {
			seen[where] = true
		}
		if err := r.check(len(p.Exchanges)); err != nil {
			say("results[%d] (%q): %w", i, r.Experiment, err)
		}
	}
	for i, b := range p.Begun {
		if !numbers.MatchString(b.Experiment) || b.At.IsZero() || !b.Due.After(b.At) {
			say("begun[%d] (%q): it needs a number, and a due time after its time", i, b.Experiment)
		}
	}
	return errors.Join(append(errs, p.Measured.check())...)
}

// check says what is wrong with a result, first thing first.
func (r Result) check(exchanges int) error {
	for _, place := range r.Proof {
		if place < 0 || place >= exchanges {
			return fmt.Errorf("proof names exchange %d of %d", place, exchanges)
		}
	}
	switch {
	case !numbers.MatchString(r.Experiment):
		return errors.New("it has no number such as 49 or A1")
	case r.Environment != Live && r.Environment != Paper:
		return fmt.Errorf("environment is %q: it must be live or sandbox", r.Environment)
	case !verdicts[r.Verdict]:
		return fmt.Errorf("verdict is %q: it must be first, other, mixed, neither or unseen", r.Verdict)
	case r.CountFirst < 0 || r.CountOther < 0 || r.CountNeither < 0 || r.CountFirst+r.CountOther+r.CountNeither != r.N:
		return fmt.Errorf("n is %d, and the counts are %d, %d and %d", r.N, r.CountFirst, r.CountOther, r.CountNeither)
	case r.Verdict != r.counted() && r.Verdict != Unseen:
		return fmt.Errorf("verdict is %s, and the counts say %s", r.Verdict, r.counted())
	case (r.Verdict == Unseen || r.Verdict == Neither) && r.Why == "":
		return fmt.Errorf("a result that is %s needs a why", r.Verdict)
	case r.Connections < 0 || r.Span < 0:
		return errors.New("connections and span must not be negative")
	default:
		return nil
	}
}

// counted is the verdict that the counts come to. A result can be unseen in spite of them,
// where a control fails.
func (r Result) counted() Verdict { return Of(r.CountFirst, r.CountOther, r.CountNeither) }

// Of is the verdict of counts: what no reading foresees weighs most, and first means n of n.
func Of(first, other, neither int) Verdict {
	switch {
	case neither > 0:
		return Neither
	case first > 0 && other > 0:
		return Mixed
	case other > 0:
		return Other
	case first > 0:
		return First
	default:
		return Unseen
	}
}

func (m Measured) check() error {
	var errs []error
	spreads := map[string]Spread{"readLag": m.ReadLag, "markAge": m.MarkAge}
	for call, s := range m.AnswerTime {
		spreads["answerTime of "+call] = s
	}
	for _, what := range slices.Sorted(maps.Keys(spreads)) {
		if s := spreads[what]; s.N < 0 || s.Median < 0 || s.Median > s.P99 || s.P99 > s.Most {
			errs = append(errs, fmt.Errorf("profile: measured: %s: median, p99 and most must not fall, nor be negative", what))
		}
	}
	if m.KeptFor < 0 {
		errs = append(errs, errors.New("profile: measured: keptFor must not be negative"))
	}
	for _, m := range [][2]string{{"takerFee", m.TakerFee}, {"makerFee", m.MakerFee}, {"minNotional", m.MinNotional}, {"defaultLeverage", m.DefaultLeverage}} {
		if m[1] != "" && !decimalText.MatchString(m[1]) {
			errs = append(errs, fmt.Errorf("profile: measured: %s is %q: it must be a plain decimal", m[0], m[1]))
		}
	}
	return errors.Join(errs...)
}

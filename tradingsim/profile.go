package tradingsim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/shopspring/decimal"
)

// seen is what the simulation takes of a profile. It reads the JSON by itself, as it shares nothing with the client.
type seen struct {
	Version  int
	Results  []struct{ Experiment, Environment, Verdict string }
	Measured struct {
		AnswerTime                                       map[string]spread
		ReadLag, MarkAge                                 spread
		TakerFee, MakerFee, MinNotional, DefaultLeverage string
	}
}

// spread is how durations were distributed.
type spread struct{ Median, P99, Most duration }

type duration time.Duration

// UnmarshalText reads what time.ParseDuration reads.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

var plainAmount = regexp.MustCompile(`^([0-9]{1,18}(\.[0-9]{1,18})?)?$`)

// read panics over what is no profile of the version that is known.
func read(p any) (s seen) {
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		panic("tradingsim: WithProfile: " + err.Error())
	}
	return s
}

func (s seen) check() error {
	if s.Version != 1 {
		return fmt.Errorf("the profile's version is %d: it must be 1", s.Version)
	}
	m := s.Measured
	times := []spread{m.ReadLag, m.MarkAge}
	for _, one := range m.AnswerTime {
		times = append(times, one)
	}
	for _, one := range times {
		if one.Median < 0 || one.Median > one.P99 || one.P99 > one.Most {
			return fmt.Errorf("%+v: median, p99 and most must not fall, nor be negative", one)
		}
	}
	for _, text := range []string{m.TakerFee, m.MakerFee, m.MinNotional, m.DefaultLeverage} {
		if !plainAmount.MatchString(text) {
			return fmt.Errorf("%.40q must be a plain decimal", text)
		}
	}
	return nil
}

// paperInterpretations are those that decide about the paper account alone.
var paperInterpretations = map[int]bool{
	15: true, 18: true, 19: true, 21: true, 22: true, 23: true, 24: true, 25: true, 26: true, 27: true, 30: true, 31: true, 32: true, 33: true, 57: true,
}

// WithProfile makes the simulation behave as a service was seen to, by a profile of package profile, or its
// JSON as a [json.RawMessage]:
//
//   - It takes the other interpretation of every rule whose verdict in the profile is other or mixed. What
//     was seen on the paper account decides about the paper account alone.
//   - Each answer takes as long as was measured of its operation, drawn by [WithSeed]: half of it before the
//     request arrives, half on the way back. By [WithManualClock] answers take no time.
//   - Reads lag as long as the longest lag that was measured.
//   - The fees, the minimum order value, and the leverage of a paper order that names none, are those that
//     were seen.
//   - A mark that a paper order fills at is as old as the median that was measured, beside what the feed says.
//
// What the profile has not seen stays as it is. Options behind it win over it.
//
// It panics over a profile that is not valid.
func WithProfile(p any) Option {
	s := read(p)
	m := s.Measured
	return option(func(c *config) {
		for number := range s.otherwise() {
			WithInterpretation(number).(option)(c)
		}
		if m.ReadLag.Most > 0 {
			c.lag = time.Duration(m.ReadLag.Most)
		}
		if m.MinNotional != "" && c.caps.MinNotional == "" {
			c.caps.MinNotional = m.MinNotional
		}
		if m.DefaultLeverage != "" {
			c.defaultLeverage = some(decimal.RequireFromString(m.DefaultLeverage))
		}
		setFee(&c.fees.taker, m.TakerFee)
		setFee(&c.fees.maker, m.MakerFee)
		c.markAge = time.Duration(m.MarkAge.Median)
		c.answerTimes = m.AnswerTime
	})
}

// setFee sets what the profile has measured.
func setFee(fee *decimal.Decimal, measured string) {
	if measured != "" {
		*fee = decimal.RequireFromString(measured)
	}
}

// Profiled lists the interpretations that [WithProfile] switches on, as [Interpretations] does.
func Profiled(p any) map[int]string { return read(p).otherwise() }

func (s seen) otherwise() map[int]string {
	on := map[int]string{}
	for _, r := range s.Results {
		number, err := strconv.Atoi(r.Experiment)
		what, known := otherInterpretations[number]
		environment := "live"
		if paperInterpretations[number] {
			environment = "sandbox"
		}
		if err == nil && known && r.Environment == environment && (r.Verdict == "other" || r.Verdict == "mixed") {
			on[number] = what
		}
	}
	return on
}

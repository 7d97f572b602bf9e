package tradingsim

import (
	"strconv"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// paperInterpretations are those that decide about the paper account alone.
var paperInterpretations = map[int]bool{
	15: true, 18: true, 19: true, 21: true, 22: true, 23: true, 24: true, 25: true, 26: true, 27: true, 30: true, 31: true, 32: true, 33: true, 57: true,
}

// WithProfile makes the simulation behave as a service was seen to: it takes the other
// interpretation of every rule whose verdict in the profile is other or mixed, and its reads lag as
// long as the longest lag that was measured. What the profile has not seen stays as it is, and
// so does what the profile cannot say: times of answers, and fees. What was seen on the paper
// account decides about the paper account alone. Options behind it win over it.
//
// It panics over a profile that is not valid.
func WithProfile(p *profile.Profile) Option {
	if err := p.Validate(); err != nil {
		panic("tradingsim: WithProfile: " + err.Error())
	}
	lag, minimum := time.Duration(p.Measured.ReadLag.Most), p.Measured.MinNotional
	return option(func(c *config) {
		for number := range Profiled(p) {
			WithInterpretation(number).(option)(c)
		}
		if lag > 0 {
			c.lag = lag
		}
		if minimum != "" && c.caps.MinNotional == "" {
			c.caps.MinNotional = minimum
		}
	})
}

// Profiled lists the interpretations that [WithProfile] switches on, as [Interpretations] does.
func Profiled(p *profile.Profile) map[int]string {
	on := map[int]string{}
	for _, r := range p.Results {
		number, err := strconv.Atoi(r.Experiment)
		what, known := otherInterpretations[number]
		environment := profile.Live
		if paperInterpretations[number] {
			environment = profile.Paper
		}
		if err == nil && known && r.Environment == environment && (r.Verdict == profile.Other || r.Verdict == profile.Mixed) {
			on[number] = what
		}
	}
	return on
}

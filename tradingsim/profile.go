package tradingsim

import (
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/profile"
)

// paperInterpretations are those that decide about the paper account alone.
var paperInterpretations = map[int]bool{
	15: true, 18: true, 19: true, 21: true, 22: true, 23: true, 24: true, 25: true, 26: true, 27: true, 30: true, 31: true, 32: true, 33: true, 57: true,
}

// WithProfile makes the simulation behave as a service was seen to:
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
func WithProfile(p *profile.Profile) Option {
	if err := p.Validate(); err != nil {
		panic("tradingsim: WithProfile: " + err.Error())
	}
	m := p.Measured
	return option(func(c *config) {
		for number := range Profiled(p) {
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

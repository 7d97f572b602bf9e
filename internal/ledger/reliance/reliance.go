// Package reliance says what a client does not rely on, by what was seen of its service: one row
// for each assumption of the promise. A profile withdraws permissions, and never gives one.
package reliance

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/transport/address"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
)

// Assumption is an assumption, by the experiment that shows whether it holds.
type Assumption struct {
	Experiment string // its number in package observe
	// Falls is what the client does where another verdict than first was seen.
	Falls string

	// withdraw takes away what falls; nil where nothing does.
	withdraw func(w *ledger.Without, v profile.Verdict, m *profile.Measured)
}

// Rows are all assumptions.
var Rows = []Assumption{
	{"A1", "no fence counts, and no question for the stored answer: looks alone", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Fence, w.Probe = true, true }},
	{"A1e", "no question for the stored answer, and an entry is sent once", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Resend, w.Probe = true, true }},
	{"A2", "no fence counts: looks alone", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Fence = true }},
	{"49", "keys by route: fences go by the write's own route, as the client finds out itself; where both were seen no fence counts", func(w *ledger.Without, v profile.Verdict, _ *profile.Measured) { w.Fence = v != profile.Other }},
	{"51", "nothing: report only", nil},
	{"9", "nothing: report only", nil},
	{"13", "nothing: report only", nil},
	{"A4", "unless answers are kept for twice as long as they need: no question for the stored answer (10 minutes), and no fence counts (30 minutes)", keeps},
	{"A5", "a spent key is not used again for two days", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Dead = 2 * ledger.Forgotten }},
	{"A6", "an entry is sent once, and not asked about; exits are unchanged", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Resend, w.Probe = true, true }},
	{"A6e", "an entry is sent once, and not asked about; exits are unchanged", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Resend, w.Probe = true, true }},
	{"A8", "no fence counts: looks alone", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Fence = true }},
	{"A9", "looks are as far apart as twice the longest lag that was seen", lags},
	{"A10", "no rule by the service's time, and no question for the stored answer", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Dates, w.Probe = true, true }},
	{"A11", "no baseline by answers", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Answers = true }},
	{"A12", "no Applied by accounting", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Applied = true }},
	{"53", "no Applied by accounting", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Applied = true }},
	{"A13", "no entry by a health whose age is not known", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.AgeUnknown = true }},
	{"4", "nothing: report only", nil},
	{"A15", "with another API key no fence and no question counts, and an entry is not sent again", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Rotation = true }},
	{"A16", "no accounting: who has no other proof stays Unknown", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Accounting = true }},
	{"A17", "no trade is left out for its time", func(w *ledger.Without, _ profile.Verdict, _ *profile.Measured) { w.Times = true }},
	{"A18", "nothing: report only", nil},
	{"A19", "as A9", lags},
}

// keeps has what rests on a key end at half of the time for which its answer was seen to be kept: a question for it, and
// a fence, which takes the key until the write is gone. Where both were seen nobody knows who answers.
func keeps(w *ledger.Without, v profile.Verdict, m *profile.Measured) {
	half := time.Duration(m.KeptFor) / 2
	if v != profile.Other {
		half = 0
	}
	w.Probe, w.Fence = half < ledger.Window, half < ledger.Gone
}

// lags has reads be twice as far behind as was seen. One that nobody can wait for is none.
func lags(w *ledger.Without, _ profile.Verdict, m *profile.Measured) {
	const most = ledger.Gone / 2
	seen := max(time.Duration(m.ReadLag.Most), ledger.Lag)
	if seen > most {
		w.Accounting, seen = true, most
	}
	w.Lag = max(w.Lag, 2*seen)
}

func withdrawnBy(p *profile.Profile) (w ledger.Without) {
	for i := range Rows {
		row := &Rows[i]
		r, _ := p.Result(row.Experiment, profile.Live)
		if row.withdraw == nil || r.Verdict == profile.First || r.Verdict == profile.Unseen {
			continue
		}
		one := ledger.Without{}
		row.withdraw(&one, r.Verdict, &p.Measured)
		w = w.And(one)
	}
	return w
}

// counts says why a profile counts for nothing at a service, by its base URL, at a moment; nil if it
// counts.
func counts(p *profile.Profile, service string, now time.Time) error {
	if err := p.Stale(now); err != nil || p.BaseURL == "" {
		return err
	}
	base, err := address.Parse(p.BaseURL, true)
	if err != nil {
		return fmt.Errorf("the profile is of no service: %w", err)
	}
	if is := journal.Service(base); is != service {
		return fmt.Errorf("the profile is of %s, and not of %s", is, service)
	}
	return nil
}

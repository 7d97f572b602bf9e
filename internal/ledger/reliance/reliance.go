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

	// withdraws is what falls; by says it where that depends on what was seen, nil for all others.
	withdraws ledger.Without
	by        func(v profile.Verdict, m *profile.Measured) ledger.Without
}

// Rows are all assumptions.
var Rows = []Assumption{
	{"A1", "no fence counts, and no question for the stored answer: looks alone", ledger.Without{Fence: true, Probe: true}, nil},
	{"A1e", "no question for the stored answer, and an entry is sent once", ledger.Without{Resend: true, Probe: true}, nil},
	{"A2", "no fence counts: looks alone", ledger.Without{Fence: true}, nil},
	{"49", "keys by route: fences go by the write's own route, as the client finds out itself; where both were seen no fence counts", ledger.Without{}, func(v profile.Verdict, _ *profile.Measured) ledger.Without {
		return ledger.Without{Fence: v != profile.Other}
	}},
	{"51", "nothing: report only", ledger.Without{}, nil},
	{"9", "nothing: report only", ledger.Without{}, nil},
	{"13", "nothing: report only", ledger.Without{}, nil},
	{"A4", "unless answers are kept for twice as long as they need: no question for the stored answer (10 minutes), and no fence counts (30 minutes)", ledger.Without{}, keeps},
	{"A5", "a spent key is not used again for two days", ledger.Without{Dead: 2 * ledger.Forgotten}, nil},
	{"A6", "an entry is sent once, and not asked about; exits are unchanged", ledger.Without{Resend: true, Probe: true}, nil},
	{"A6e", "an entry is sent once, and not asked about; exits are unchanged", ledger.Without{Resend: true, Probe: true}, nil},
	{"A8", "no fence counts: looks alone", ledger.Without{Fence: true}, nil},
	{"A9", "looks are as far apart as twice the longest lag that was seen", ledger.Without{}, lags},
	{"A10", "no rule by the service's time, and no question for the stored answer", ledger.Without{Dates: true, Probe: true}, nil},
	{"A11", "no baseline by answers", ledger.Without{Answers: true}, nil},
	{"A12", "no Applied by accounting", ledger.Without{Applied: true}, nil},
	{"53", "no Applied by accounting", ledger.Without{Applied: true}, nil},
	{"A13", "no entry by a health whose age is not known", ledger.Without{AgeUnknown: true}, nil},
	{"4", "nothing: report only", ledger.Without{}, nil},
	{"A15", "with another API key no fence and no question counts, and an entry is not sent again", ledger.Without{Rotation: true}, nil},
	{"A16", "no accounting: who has no other proof stays Unknown", ledger.Without{Accounting: true}, nil},
	{"A17", "no trade is left out for its time", ledger.Without{Times: true}, nil},
	{"A18", "nothing: report only", ledger.Without{}, nil},
	{"A19", "as A9", ledger.Without{}, lags},
}

// keeps has what rests on a key end at half of the time for which its answer was seen to be kept: a question for it, and
// a fence, which takes the key until the write is gone. Where both were seen nobody knows who answers.
func keeps(v profile.Verdict, m *profile.Measured) ledger.Without {
	half := time.Duration(m.KeptFor) / 2
	if v != profile.Other {
		half = 0
	}
	return ledger.Without{Probe: half < ledger.Window, Fence: half < ledger.Gone}
}

// lags has reads be twice as far behind as was seen. One that nobody can wait for is none.
func lags(_ profile.Verdict, m *profile.Measured) ledger.Without {
	const most = ledger.Gone / 2
	seen := max(time.Duration(m.ReadLag.Most), ledger.Lag)
	return ledger.Without{Accounting: seen > most, Lag: 2 * min(seen, most)}
}

func withdrawnBy(p *profile.Profile) (w ledger.Without) {
	for i := range Rows {
		row := &Rows[i]
		r, _ := p.Result(row.Experiment, profile.Live)
		if r.Verdict == profile.First || r.Verdict == profile.Unseen {
			continue
		}
		w = w.And(row.withdraws)
		if row.by != nil {
			w = w.And(row.by(r.Verdict, &p.Measured))
		}
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

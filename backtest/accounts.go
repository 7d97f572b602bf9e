package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/tradingsim"
)

// all are the accounts of a run, that of Config.Account first.
func (p plan) all() []Terms { return append([]Terms{p.terms}, p.others...) }

// checkOthers reads Config.Others.
func (p *plan) checkOthers() error {
	seen := []string{p.terms.ID}
	for i, a := range p.Others {
		t, err := a.terms()
		switch {
		case err != nil:
			return fmt.Errorf("%w (in Config.Others[%d])", err, i)
		case slices.Contains(seen, t.ID):
			return fmt.Errorf("backtest: %s is twice in Config.Account and Config.Others", accountName(t.ID))
		case a.DailyFloor != p.terms.DailyFloor:
			return fmt.Errorf("backtest: the daily floor of %s is %s, and that of Config.Account %s; one service has one rule", accountName(t.ID), t.DailyFloor, p.terms.DailyFloor)
		}
		t.TakerFee = p.terms.TakerFee
		seen, p.others = append(seen, t.ID), append(p.others, t)
	}
	return nil
}

// accountOptions are those of the simulation.
func (p plan) accountOptions() (opts []tradingsim.Option) {
	for _, t := range p.all() {
		if t.ID == "" {
			opts = append(opts, tradingsim.WithSandbox(tradingsim.Sandbox{
				Balance: t.Opening.String(), DailyLossFloor: t.DailyLossFloor.String(),
				GlobalLossFloor: t.GlobalLossFloor.String(), ProfitTarget: t.ProfitTarget.String(),
			}))
			continue
		}
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{
			ID: t.ID, Balance: t.Opening.String(), DailyLossFloor: t.DailyLossFloor.String(),
			GlobalLossFloor: t.GlobalLossFloor.String(), ProfitTarget: t.ProfitTarget.String(),
		}))
	}
	if p.terms.DailyFloor == MovingFloor {
		opts = append(opts, tradingsim.WithInterpretation(20))
	}
	return opts
}

// judgeAll judges each account of a run.
func (p plan) judgeAll(got raw) (path Path, err error) {
	if path, err = p.judge(got); err != nil {
		return path, err
	}
	for _, t := range p.others {
		one := p
		one.terms = t
		other, err := one.judge(got)
		if err != nil {
			return path, fmt.Errorf("%w (%s)", err, accountName(t.ID))
		}
		path.Others = append(path.Others, other)
	}
	return path, nil
}

// account is the path of one of the accounts, 0 that of Config.Account.
func (p Path) account(i int) Path {
	if i > 0 {
		return p.Others[i-1]
	}
	p.Others = nil
	return p
}

func (r *Result) accounts() string {
	if len(r.Others) == 0 {
		return "one: " + accountName(r.Terms.ID)
	}
	list := []string{fmt.Sprintf("%s first, the headline", accountName(r.Terms.ID))}
	for _, o := range r.Others {
		list = append(list, fmt.Sprintf("%s: %s, equity %s", accountName(o.Terms.ID), o.Verdict, dollars(o.Worse().Equity)))
	}
	return strings.Join(list, "; ")
}

package accounting

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// compared is what the sums and the courses make of the same facts.
type compared struct {
	judged, wrong, less, times, before, now int
	lessWhy                                 map[string]int
}

func (c *compared) take(old oldFacts, f Facts, wrong func(ledger.Outcome) bool, describe func() string) {
	was, is := bySums(old), Judge(f)
	if old.Base != nil && old.Base.BeforeFirstUse && was.Outcome != is.Outcome { // no course looks at times
		without := old
		without.Write.From, without.Write.Until = servicetime.Time{}, servicetime.Time{}
		if v := bySums(without); v.Outcome == ledger.Unknown && was.Outcome != ledger.Unknown && is.Outcome == ledger.Unknown {
			was = v
			c.times++
		}
	}
	c.judged++
	c.before += b2i(was.Outcome != ledger.Unknown)
	c.now += b2i(is.Outcome != ledger.Unknown)
	if c.lessWhy == nil {
		c.lessWhy = map[string]int{}
	}
	if wrong(is.Outcome) {
		c.wrong++
		c.lessWhy[fmt.Sprintf("FALSE %d, %s: %s", is.Outcome, is.Reason, describe())]++
	}
	if was.Outcome != ledger.Unknown && is.Outcome != was.Outcome {
		c.less++
		k := fmt.Sprintf("%d %s: now %s", was.Outcome, was.Reason, is.Reason)
		if c.lessWhy[k]++; c.lessWhy[k] <= 1 {
			c.lessWhy["e.g. "+k+": "+describe()]++
		}
	}
}

func (c *compared) report(t *testing.T, name string) {
	t.Logf("%-40s judged %d, false %d, less %d, by times alone %d, decided %d -> %d", name, c.judged, c.wrong, c.less, c.times, c.before, c.now)
	for k, n := range c.lessWhy {
		t.Logf("    %d %s", n, k)
	}
	if c.wrong > 0 || c.less > 0 {
		t.Fail()
	}
}

func num(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func opt(s string) decimal.NullDecimal { return shown(num(s), true) }

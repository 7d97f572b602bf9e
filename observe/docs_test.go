package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
)

// row is an experiment as docs/service.md has it.
func row(x *Experiment) string {
	how := map[Class]string{
		Passive: "a recording", Reads: "a read", Locked: "an account that cannot trade", OnPaper: "the paper account", Trial: "a trial account", Never: "never: only by harm or luck", Closed: "not at all",
	}[x.Class]
	if x.judge != nil && x.Class != Passive {
		how += "; or a recording"
	}
	number := x.Number
	if x.Assumption != "" && x.Assumption != x.Number {
		number += " (" + x.Assumption + ")"
	}
	if x.Falls == "" {
		return fmt.Sprintf("| %s | %s | %s | %s |\n", number, x.First, x.Other, how)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", number, x.First, x.Other, how, x.Falls)
}

// The page has a row for each experiment.
func TestThePageHasEachExperiment(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "service.md"))
	require.NoError(t, err)
	for i := range Experiments {
		line := row(&Experiments[i])
		assert.True(t, strings.Contains(string(page), line), "docs/service.md lacks this row:\n%s", line)
	}
}

// What a recording of a bot that meets everything once leaves unseen, by class. docs/service.md
// has the same figures.
func TestShareOfUnseen(t *testing.T) {
	all, unseen := map[Class]int{}, map[Class]int{}
	for _, r := range judged(t).Results {
		for i := range Experiments {
			if x := &Experiments[i]; x.Number == r.Experiment {
				all[x.Class]++
				if r.Verdict == profile.Unseen {
					unseen[x.Class]++
				}
			}
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "service.md"))
	require.NoError(t, err)
	for class, n := range all {
		line := fmt.Sprintf("| %s | %d of %d |\n", class, unseen[class], n)
		assert.True(t, strings.Contains(string(page), line), "docs/service.md lacks this row:\n%s", line)
	}
}

package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/profile"
)

// row is an experiment as docs/service-reference.md has it.
func row(x *Experiment) string {
	how := map[Class]string{Passive: "`--from`", Reads: "`--ask read`", Locked: "`--ask live`", Trial: "`--ask trial`"}[x.Class]
	if x.judge != nil && x.Class != Passive {
		how += ", `--from`"
	}
	number := x.Number
	if x.Assumption != "" && x.Assumption != x.Number {
		number += " (" + x.Assumption + ")"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", number, x.First, how, x.Falls)
}

// The page has a row for each assumption without which the client does less.
func TestThePageHasEachAssumption(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "service-reference.md"))
	require.NoError(t, err)
	for i := range Experiments {
		if falls := Experiments[i].Falls; falls == "" || falls == "nothing: report only" {
			continue
		}
		line := row(&Experiments[i])
		assert.True(t, strings.Contains(string(page), line), "docs/service-reference.md lacks this row:\n%s", line)
	}
}

// What is unseen, by class: by a recording of a bot that meets everything once, and after all was asked.
func TestShareOfUnseen(t *testing.T) {
	all, recorded, questioned := map[Class]int{}, map[Class]int{}, map[Class]int{}
	var p *profile.Profile
	synctest.Test(t, func(t *testing.T) {
		s := trader(t)
		s.q.Tradeable = "acc_1"
		s.series()
		p, _ = s.visit(Trial, OnPaper)
	})
	passive, states := judged(t), judgedStates(t, nil)
	for i := range Experiments {
		x := &Experiments[i]
		all[x.Class]++
		r, _ := passive.Result(x.Number, x.Environment)
		if of, _ := states.Result(x.Number, x.Environment); r.Verdict == profile.Unseen && of.Verdict == profile.Unseen {
			recorded[x.Class]++
		}
		if r, _ := p.Result(x.Number, x.Environment); r.Verdict == profile.Unseen {
			questioned[x.Class]++
		}
	}
	assert.Equal(t, map[Class]int{Reads: 9, Locked: 13, OnPaper: 9, Trial: 17, Passive: 11, Never: 11, Closed: 3}, all)
	assert.Equal(t, map[Class]int{Reads: 5, Locked: 6, OnPaper: 8, Trial: 4, Passive: 2, Never: 11, Closed: 3}, recorded)
	assert.Equal(t, map[Class]int{Passive: 9, Never: 11, Closed: 3}, questioned)
}

// docs/outcomes.md names the assumptions that no recording shows, each of them.
func TestThePromiseSaysWhatNoRecordingShows(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "outcomes.md"))
	require.NoError(t, err)
	var numbers []string
	for i := range Experiments {
		if x := &Experiments[i]; x.Falls != "" && x.judge == nil {
			numbers = append(numbers, x.Number)
		}
	}
	last := len(numbers) - 1
	assert.Contains(t, string(page), fmt.Sprintf("No recording shows the assumptions %s and %s:", strings.Join(numbers[:last], ", "), numbers[last]))
}

package rig_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// What is false is found, unless an exception is behind it, and what is true is not.
func TestOracle(t *testing.T) {
	for _, c := range []struct {
		name    string
		hold    func(o *rig.Oracle, why func() string)
		problem string // "" for none
	}{
		{"it ran twice", func(o *rig.Oracle, why func() string) { o.Once("the entry", 2, why) }, "the entry was executed 2 times"},
		{"it ran once", func(o *rig.Oracle, why func() string) { o.Once("the entry", 1, why) }, ""},
		{"applied, and nothing ran", func(o *rig.Oracle, why func() string) { o.Said("the journal", trading.Applied, 0, why) },
			"the journal: it is applied, and was executed 0 times"},
		{"applied, and it ran", func(o *rig.Oracle, why func() string) { o.Said("the journal", trading.Applied, 1, why) }, ""},
		{"not applied, and it ran", func(o *rig.Oracle, why func() string) { o.Said("the bot", trading.NotApplied, 1, why) },
			"the bot: it is not applied, and was executed 1 times"},
		{"not applied, and nothing ran", func(o *rig.Oracle, why func() string) { o.Said("the bot", trading.NotApplied, 0, why) }, ""},
		{"unknown, and it ran", func(o *rig.Oracle, why func() string) { o.Said("the bot", trading.Unknown, 1, why) }, ""},
		{"unknown, and nothing ran", func(o *rig.Oracle, why func() string) { o.Said("the bot", trading.Unknown, 0, why) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, exception := range []string{"", rig.LateProbe} {
				var problems []string
				o := rig.Oracle{Problem: func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }}
				c.hold(&o, func() string { return exception })
				switch {
				case c.problem == "":
					assert.Empty(t, problems)
					assert.Empty(t, o.Excepted)
				case exception != "":
					assert.Empty(t, problems)
					assert.Equal(t, map[string]int{exception: 1}, o.Excepted)
				default:
					assert.Equal(t, []string{c.problem}, problems)
					assert.Empty(t, o.Excepted)
				}
			}
		})
	}
}

// A doubt that is left is found, and no exception is behind it.
func TestOracleEnded(t *testing.T) {
	var problems []string
	o := rig.Oracle{Problem: func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }}
	o.Ended("a day later", nil)
	assert.Empty(t, problems)
	o.Ended("a day later", []trading.PendingWrite{{Intent: trading.Intent{Operation: trading.OpOrder, Key: "k", Decided: time.Unix(0, 0).UTC()}, Reason: "nobody asks"}})
	assert.Equal(t, []string{"a day later: still in doubt, since 1970-01-01 00:00:00 +0000 UTC: POST /orders k: nobody asks"}, problems)
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// A journal that does not open is damaged only where its bytes are: a disk that is full, or takes no writes,
// has another cure. And nobody has it open then.
func TestFound25_AJournalThatDoesNotOpen(t *testing.T) {
	for name, row := range map[string]struct {
		err     error
		do, not string
	}{
		"a full disk":                {syscall.ENOSPC, "Free some", "damaged"},
		"a quota":                    {syscall.EDQUOT, "Free some", "damaged"},
		"a disk that takes no write": {syscall.EROFS, "writable", "damaged"},
		"a file of others":           {syscall.EACCES, "user", "damaged"},
		"a disk that fails":          {syscall.EIO, "disk", "damaged"},
		"damage":                     {&journal.DamageError{Path: "bot.journal", What: "no frame"}, "damaged", "Free"},
		"anything else":              {errors.New("who knows"), "docs/operating.md", "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := diagnose(t, nil, func(s *setup) {
				s.h.open = func(string) (io.Closer, error) { return nil, fmt.Errorf("journal: open: %w", row.err) }
			})
			l, ok := find(r, "journal", Fail)
			require.True(t, ok, "%s", r)
			assert.Contains(t, l.Do, row.do)
			assert.NotContains(t, l.Do, row.not)
			sync, _ := r.Line("journal-sync")
			assert.NotContains(t, sync.Saw, "a bot has the journal open")
		})
	}
}

// What other modules look at is in the report, behind the journal, and without secrets.
func TestMoreLooks(t *testing.T) {
	r, _ := diagnose(t, nil, func(s *setup) {
		s.o.More = append(s.o.More, func(context.Context) []Line {
			return []Line{{Subject: "fleet", Check: "fleet-database", Status: Fail, Saw: "no answer to pk_live_stolen\x1b[2J", Do: "Look."}}
		})
	})
	assert.True(t, r.Failed())
	l, ok := r.Line("fleet-database")
	require.True(t, ok)
	assert.Equal(t, Line{"fleet", "fleet-database", Fail, "no answer to pk_live_…", "Look."}, l)
	subjects := []string{}
	for _, l := range r.Lines {
		if len(subjects) == 0 || subjects[len(subjects)-1] != l.Subject {
			subjects = append(subjects, l.Subject)
		}
	}
	assert.Equal(t, []string{"configuration", "service", "acc_1", "acc_old", "journal", "fleet", "machine"}, subjects)
}

package transport

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sender is a call that wants so many attempts.
type sender struct {
	context.Context
	wants  int
	refuse int // before the send of this number
	did    []string
}

func (s *sender) Value(key any) any {
	if key == (SenderKey{}) {
		return s
	}
	return s.Context.Value(key)
}

func (s *sender) Send() { s.did = append(s.did, "send"); s.wants-- }

func (s *sender) Again() bool { s.did = append(s.did, "again?"); return s.wants > 0 }

func (s *sender) Prepare() error {
	s.did = append(s.did, "prepare")
	if s.refuse--; s.refuse == 0 {
		return errors.New("refused")
	}
	return nil
}

// The loop sends until the sender has enough, or may not send once more.
func TestTheLoop(t *testing.T) {
	for _, row := range []struct {
		name          string
		wants, refuse int
		did           []string
	}{
		{"once", 1, 0, []string{"send", "again?"}},
		{"three times", 3, 0, []string{"send", "again?", "prepare", "send", "again?", "prepare", "send", "again?"}},
		{"the next one is refused", 3, 2, []string{"send", "again?", "prepare", "send", "again?", "prepare"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &sender{Context: t.Context(), wants: row.wants, refuse: row.refuse}
			NewLoop().Run(s)
			assert.Equal(t, row.did, s.did)
		})
	}
}

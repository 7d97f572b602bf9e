package answers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// Begun is a write that a bot asks for.
type Begun struct {
	hearing.Write
	// Operation is the contract's, as "POST /orders".
	Operation string
	// Asks is what an entry asks for, in the words of who notes it.
	Asks json.RawMessage `json:",omitempty"`
	// At is when it was begun, by this machine's clock; what is read while this run lasts is measured by its
	// monotonic one.
	At time.Time
}

// Answer is what a write was answered.
type Answer struct {
	Outcome hearing.Outcome
	// Status, Header and Body are of the answer. A zero Status means that none is known: the outcome
	// was found out otherwise, or the body is longer than what is kept.
	Status int         `json:",omitzero"`
	Header http.Header `json:",omitempty"`
	Body   []byte      `json:",omitempty"`
	// Unsent says of an unknown outcome that nothing was executed through this program: what may have been is
	// an earlier use of the key.
	Unsent bool `json:",omitzero"`
	// At is when the outcome was known, by this machine's clock.
	At time.Time
}

// Write is a write and what is known of it.
type Write struct {
	Begun
	Answer   Answer // if Answered
	Answered bool
	Heard    bool
}

// resolved reports whether the outcome is known.
func (w Write) resolved() bool { return w.Answered && w.Answer.Outcome != hearing.Unknown }

// record is what an entry of the file says. The last record of a write has all of it.
type record struct {
	Begun  *Begun  `json:",omitempty"`
	Answer *Answer `json:",omitempty"`
}

func (r record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("answers: %w", err)
	}
	return data, nil
}

// heardPrefix begins the name of the entry that says that a write's answer was heard. No id of a
// write has a space.
const heardPrefix = "heard "

// add adds what an entry of the file says to what is known of its write.
func (w *Write) add(h journal.History) error {
	if h.Intent == heardPrefix+h.Name {
		w.Heard = true
		return nil
	}
	for _, data := range h.Records {
		var r record
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("answers: the entry %q: %w", h.Intent, err)
		}
		if r.Begun != nil {
			w.Begun = *r.Begun
		}
		if r.Answer != nil {
			w.Answer, w.Answered = *r.Answer, true
		}
	}
	if w.ID != h.Intent || h.Name != h.Intent {
		return fmt.Errorf("answers: the entry %q is of the write %q", h.Intent, w.ID)
	}
	return nil
}

package observe

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
)

// account is one of the key's, as the list of accounts has it.
type account struct {
	id, status      string
	trial, archived bool
}

// trades reports whether cancels may name it if somebody says so.
func (a account) trades() bool {
	return !a.archived && !a.locked() && a.status != "PASSED"
}

// locked reports whether nothing can be traded on it any more.
func (a account) locked() bool { return a.status == "FAILED" || a.status == "EXPIRED" }

// list reads the accounts of the key.
func (s *sender) list(ctx context.Context) ([]account, error) {
	x, err := s.read(ctx, 0, liveKey, "/accounts")
	if err != nil {
		return nil, err
	}
	all, ok := rows(x.Response, "accounts")
	if !ok || !x.success() {
		return nil, s.end("the accounts cannot be read")
	}
	var found []account
	s.q.accounts = nil
	for _, row := range all {
		a := account{id: text(row["id"]), status: text(row["status"]), trial: string(row["isTrial"]) == "true", archived: string(row["archived"]) == "true"}
		if !asID(a.id) {
			s.unnamed = true
			continue
		}
		found = append(found, a)
		s.q.accounts = append(s.q.accounts, a.id)
		s.sees(a.id)
	}
	return found, nil
}

// held says why nothing must be written beside the bot: what it does not know of a write of its
// own must not be mixed with ours, and who has halted wants quiet. Paper is "".
func (q *Questions) held(of string) error {
	if q.Journal != "" {
		for w, err := range trading.ReadJournal(q.Journal) {
			switch {
			case err != nil: // one that is missing too: its name can be wrong
				return fmt.Errorf("the journal cannot be read: %w", err)
			case w.Pending:
				return errors.New("the bot's journal has a pending write")
			}
		}
	}
	if q.StateDir == "" {
		return nil
	}
	accounts := q.accounts
	if of != "" {
		accounts = []string{of}
	}
	for _, id := range accounts {
		status, err := protect.ReadStatus(q.StateDir, trading.AccountID(id))
		switch {
		case errors.Is(err, protect.ErrUnknownAccount):
		case err != nil:
			return fmt.Errorf("the protection of %s cannot be read: %w", id, err)
		case !status.Entries:
			return fmt.Errorf("the protection of %s refuses entries: %s", id, status.Refusal)
		}
	}
	return nil
}

package protect

import (
	"context"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// followFor is how old the last sign of life of a protection may be.
const followFor = 60 * time.Second

// Follow is a guard for the other Go programs that trade the accounts: it refuses
// entries while the protection that uses the folder refuses them, and while none runs or
// its state cannot be read. It judges no entry: two programs that follow can together use
// more room than there is. Every live account that the client trades must be protected.
// Exits pass, and so does the paper account.
func Follow(dir string) trading.Guard {
	return func(_ context.Context, o trading.Write) error {
		if !o.Entry || o.Environment != trading.EnvLive {
			return nil
		}
		// Requests first: one that is gone is in the state by then.
		asked, err := requests(dir, o.Account)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHalted, err)
		}
		if len(asked) > 0 {
			return fmt.Errorf("%w: its protection has not taken up what was asked for: %s", ErrHalted, asked[0])
		}
		r, err := load(dir, o.Account)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHalted, err)
		}
		if r == nil {
			return fmt.Errorf("%w: no protection of account %s uses the folder %s", ErrHalted, o.Account, dir)
		}
		if !r.allowsEntry() {
			return fmt.Errorf("%w: %s", ErrHalted, r.why())
		}
		if age := time.Since(r.Beat.Round(0)); r.Beat.IsZero() || age > followFor || age < -followFor {
			return fmt.Errorf("%w: its protection does not run: its last sign of life was at %s", ErrHalted, r.Beat.Format(time.RFC3339))
		}
		return nil
	}
}

package protect

import (
	"context"
	"fmt"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

// Follow is a guard for the other Go programs that trade the accounts: it refuses
// entries while the protection that uses the folder refuses them, and while none runs or
// its state cannot be read. It judges no entry: two programs that follow can together use
// more room than there is. Every live account that the client trades must be protected.
// Exits pass, and so does the paper account. The folder belongs to the user of the program, and
// others can write nothing into it.
func Follow(dir string) trading.Guard {
	return func(_ context.Context, o trading.Write) error {
		if !o.Entry || o.Environment != trading.EnvLive {
			return nil
		}
		err := disk.OwnFolder(dir, disk.NoWrite)
		var s Status
		if err == nil {
			s, err = readStatus(dir, o.Account, trusted)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHalted, err)
		}
		if !s.Entries {
			return fmt.Errorf("%w: %s", ErrHalted, s.Refusal)
		}
		return nil
	}
}

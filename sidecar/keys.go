package sidecar

import (
	"path/filepath"
	"time"

	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// Key is the local key of a bot: what it may do, without its secret.
type Key struct {
	// Name is the bot's: 1 to 64 letters, digits, dots, dashes or underscores. No two valid keys
	// have the same.
	Name string
	// Live is true for live accounts, and false for the paper account.
	Live bool
	// Accounts are the live accounts that the bot may see.
	Accounts []string
	// May is what the key may be used for.
	May May
	// Made and TakenBack are by this machine's clock, and set by the functions below. TakenBack is
	// zero while the key is valid.
	Made, TakenBack time.Time
}

// May is what a key may be used for.
type May string

// The rights. Each includes the one before it.
const (
	// Read lets a bot read.
	Read = May(localkey.Read)
	// Exits lets it close, cancel, and set reduce-only orders and levels.
	Exits = May(localkey.Exits)
	// Trade lets it do everything.
	Trade = May(localkey.Trade)
)

// EveryAccount in [Key.Accounts] means every account of the real key.
const EveryAccount = localkey.Every

// IsLocalKey reports whether a text looks like a local key. No other key belongs on a local port.
func IsLocalKey(text string) bool { return localkey.IsLocal(text) }

// keysFile is the file of local keys in [Config.Dir].
func keysFile(dir string) string { return filepath.Join(dir, "keys") }

// AddKey makes a local key in the folder of a sidecar, which may be running. Nothing can show the
// secret again.
func AddKey(dir string, k Key) (secret string, err error) {
	return localkey.Add(keysFile(dir), localkey.Key{Name: k.Name, Live: k.Live, Accounts: k.Accounts, May: localkey.May(k.May)}, time.Now())
}

// RemoveKey takes the key of a bot back: from the next request on it lets nobody in.
func RemoveKey(dir, name string) error { return localkey.Remove(keysFile(dir), name, time.Now()) }

// Keys returns the local keys, those that were taken back too.
func Keys(dir string) ([]Key, error) {
	f, err := localkey.Open(keysFile(dir))
	if err != nil {
		return nil, err
	}
	all, err := f.Keys()
	keys := make([]Key, len(all))
	for i, k := range all {
		keys[i] = Key{Name: k.Name, Live: k.Live, Accounts: k.Accounts, May: May(k.May), Made: k.Made, TakenBack: k.TakenBack}
	}
	return keys, err
}

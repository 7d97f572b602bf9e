package localkey

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The prefixes of local keys, as those of the service's own with one word more.
const (
	prefixLive = "pk_live_local_"
	prefixTest = "pk_test_local_"
)

// IsLocal reports whether a text looks like a local key. Any other that begins with pk_ is a key
// of the service, which no bot should send here.
func IsLocal(token string) bool {
	return strings.HasPrefix(token, prefixLive) || strings.HasPrefix(token, prefixTest)
}

// May is what a key can be used for.
type May string

// The rights. Each includes the one above it.
const (
	Read  May = "read"
	Exits May = "exits" // reads, closes, cancels, reduce-only orders and levels
	Trade May = "trade"
)

// Key is a local key as it is listed: the secret itself is not kept.
type Key struct {
	// Name is the bot's. No two keys that are valid have the same.
	Name string `json:"name"`
	// Live is true for live accounts, and false for the paper account.
	Live bool `json:"live"`
	// Accounts are the live accounts that the key may see. [Every] means all of them.
	Accounts []string `json:"accounts,omitempty"`
	// May is what the key can be used for.
	May May `json:"may"`
	// Made and TakenBack are by this machine's clock. TakenBack is zero while the key is valid.
	Made      time.Time `json:"made"`
	TakenBack time.Time `json:"taken_back,omitzero"`
}

// Every in [Key.Accounts] means every account of the real key.
const Every = "*"

// Sees reports whether the key may see a live account.
func (k Key) Sees(account string) bool {
	return k.Live && (slices.Contains(k.Accounts, Every) || account != "" && slices.Contains(k.Accounts, account))
}

// validate says what is wrong with a key.
func (k Key) validate() error {
	const longest = 64
	switch {
	case k.Name == "" || len(k.Name) > longest || strings.IndexFunc(k.Name, notInName) >= 0:
		return fmt.Errorf("the name is %q: it must have 1 to %d letters, digits, dots, dashes or underscores", k.Name, longest)
	case k.May != Read && k.May != Exits && k.May != Trade:
		return fmt.Errorf("the right of %s is %q: it must be read, exits or trade", k.Name, string(k.May))
	case k.Live && len(k.Accounts) == 0:
		return fmt.Errorf("%s has no account: name live accounts, or %s for every one", k.Name, Every)
	case !k.Live && len(k.Accounts) > 0:
		return fmt.Errorf("%s has accounts: a key for the paper account has none", k.Name)
	case slices.Contains(k.Accounts, ""):
		return fmt.Errorf("%s has an account without a name", k.Name)
	case k.Made.IsZero():
		return fmt.Errorf("%s has no time at which it was made", k.Name)
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
}

// newToken makes a secret of 130 bits, so that a plain digest of it cannot be searched.
func newToken(live bool) string {
	if live {
		return prefixLive + rand.Text()
	}
	return prefixTest + rand.Text()
}

func digestOf(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

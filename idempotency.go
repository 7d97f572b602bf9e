package trading

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tradingapi/trading-go/internal/pending"
)

// Key is an idempotency key: the service executes a live write at most once
// under a key, and repeats its first answer for 24 hours. Its scope is the
// account holder, whatever API key is used.
//
// Every live write gets one by itself. [WithIdempotencyKey] gives it one,
// [WithClientOrderID] derives it from what was decided.
type Key = pending.Key

// NewKey returns a key that nobody has used.
func NewKey() Key { return Key(uuid.NewString()) }

// keySource is where a write's keys come from.
type keySource struct {
	given  Key       // never replaced
	shared bool      // others may have used it
	id     string    // derived from this, the account, the operation and the try
	since  time.Time // the caller's word that the key was not used before
}

// UseOption says who may have used a client order id or an idempotency key before.
type UseOption func(*keySource)

// Shared says that another program, or this one without its journal, may have used the id, or the
// key in the last 24 hours. Then the journal does not prove that it is new, and a refusal does not prove
// that nothing was executed under it.
func Shared() UseOption { return func(k *keySource) { k.shared = true } }

// Since says that nobody used the id before t: not this program, not an earlier run of
// it, and no other program. It is for a program that cannot know that by itself, since it
// has no durable journal or shares its ids ([Shared]). Then the account can
// prove that the order was not executed. A refusal still proves nothing: it can be of
// another use of the id after t. A program whose journal knows all uses leaves Since out,
// but for one whose journal is held under a lease, whose ids carry a time, such as that of
// a bar. After a failover that may have lost records its journal knows all uses since this
// process has taken the lease ([journal.Leaser]): an id that is no older is no earlier
// holder's, and a refusal of it is its own. The machines' clocks have to agree within 2 s.
//
// t is by this machine's clock, as it runs now: the client finds out what it was by the
// service's. So a time that was kept from before that clock was set has to be earlier.
func Since(t time.Time) UseOption { return func(k *keySource) { k.since = t } }

// name is what a journal finds a named write by. Each part is preceded by its
// length, so that no two lists of parts run together.
func (k *keySource) name(account AccountID, op Operation) string {
	if k.given != "" {
		return "key " + string(k.given)
	}
	if k.id == "" {
		return ""
	}
	digest := sha256.New()
	for _, part := range [...]string{string(account), string(op), k.id} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		digest.Write(length[:])
		digest.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(digest.Sum(nil))
}

// isNamed reports whether the program has named the write.
func (k *keySource) isNamed() bool { return k.id != "" || k.given != "" }

// what is the word for it.
func (k *keySource) what() string {
	if k.given != "" {
		return "idempotency key"
	}
	return "client order id"
}

// derived is the key of one try of a name.
func derived(name string, try int) Key { return Key("d-" + name + "-" + strconv.Itoa(try)) }

package trading

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// Key is an idempotency key: the service executes a live write at most once
// under a key, and repeats its first answer for 24 hours. Its scope is the
// account holder, whatever API key is used.
//
// Every live write gets one by itself. [WithIdempotencyKey] gives it one,
// [WithDecision] derives it from what was decided.
type Key string

// NewKey returns a key that nobody has used.
func NewKey() Key { return Key(uuid.NewString()) }

// maxKeyLength is the contract's.
const maxKeyLength = 255

// check refuses what the service would refuse: 1 to 255 visible ASCII characters.
func (k Key) check() *Error {
	if len(k) == 0 || len(k) > maxKeyLength {
		return refuse(EnvLive, CodeInvalidIdempotencyKey, "an idempotency key has 1 to %d characters, and this one %d", maxKeyLength, len(k))
	}
	for i := range len(k) {
		if k[i] <= ' ' || k[i] > '~' {
			return refuse(EnvLive, CodeInvalidIdempotencyKey, "an idempotency key has visible ASCII characters only, unlike the one at position %d", i)
		}
	}
	return nil
}

// keySource is where a write's keys come from.
type keySource struct {
	given    Key      // never replaced
	decision []string // derived from these, the account, the operation and the try
}

// WithIdempotencyKey sends the write under this key and no other: the client
// never replaces it, not even where a refusal is stored under it. The sandbox has
// no idempotency, and is not sent any.
func WithIdempotencyKey(k Key) CallOption {
	return callOption(func(c *callOptions) error {
		if err := k.check(); err != nil {
			return invalidFor("WithIdempotencyKey", err)
		}
		if c.key.decision != nil {
			return invalid("WithIdempotencyKey", "the call has WithDecision already: give a key or a decision")
		}
		c.key = keySource{given: k}
		return nil
	})
}

// WithDecision derives the write's keys from what was decided, such as
//
//	trading.WithDecision("breakout", "2026-11-20T10:15")
//
// A program that decides the same again, after a crash or in another process,
// sends the same keys, and so places nothing twice: the service answers for 24
// hours, a journal for as long as it keeps what is settled. The parts must name
// one decision, and not the day or the strategy alone: a second order under the
// same name is taken for the first, whose answer comes back. Account, operation
// and the number of the try are added by the client.
//
// Use it with a journal ([WithJournal]). Without one an earlier run may have sent
// the decision, so a refusal does not say that it was not executed: it is
// [Unknown].
func WithDecision(program, decision string, more ...string) CallOption {
	return callOption(func(c *callOptions) error {
		if program == "" || decision == "" {
			return invalid("WithDecision", "the program and the decision must not be empty: an empty name would be every decision")
		}
		if c.key.given != "" {
			return invalid("WithDecision", "the call has WithIdempotencyKey already: give a key or a decision")
		}
		c.key = keySource{decision: append([]string{program, decision}, more...)}
		return nil
	})
}

// decisionName digests what a decision is named by. Each part is preceded by its
// length, so that no two lists of parts run together.
func decisionName(account AccountID, op Operation, parts []string) string {
	digest := sha256.New()
	for _, part := range append([]string{string(account), string(op)}, parts...) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		digest.Write(length[:])
		digest.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(digest.Sum(nil))
}

// keyOfTry is the key of one try of a decision.
func keyOfTry(decision string, try int) Key {
	return Key(fmt.Sprintf("d-%s-%s", decision, strconv.Itoa(try)))
}

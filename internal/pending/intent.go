package pending

import (
	"time"

	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
)

// AccountID names one live account.
type AccountID string

// IntentID names a write of this program until its outcome is known.
type IntentID string

// Key is an idempotency key.
type Key string

// Intent is a write that the program decided on, as it was before its first byte. Its JSON is in journals, where a
// key stands beside it.
type Intent struct {
	// ID names it in this client and in its journal. The service never sees it.
	ID IntentID
	// ClientOrderID is the caller's own name for it; empty without one.
	ClientOrderID string `json:",omitempty"`
	// Try counts the keys of a client order id, from 1: a key whose refusal is stored
	// is dead, and the next try has the next key.
	Try int `json:",omitempty"`
	// Key is the idempotency key of this try; empty on the sandbox.
	Key Key `json:",omitempty"`
	// Tag is the caller's name for the decision behind it.
	Tag string `json:",omitempty"`
	// BaseURL is the service that it was for.
	BaseURL string
	// Process names the run of the program that began it.
	Process string
	// Operation, Environment, Account and Symbol say what it is.
	Operation   spec.Operation
	Environment spec.Environment
	Account     AccountID `json:",omitempty"`
	Symbol      string    `json:",omitempty"`
	// Body is what is sent, byte for byte.
	Body wire.Body
	// Entry means that it can add exposure.
	Entry bool `json:",omitempty"`
	// Decided is when the call began.
	Decided time.Time
	// SendTTL is how long after that it may be sent.
	SendTTL time.Duration
}

// Doubt is a write whose outcome is not known yet.
type Doubt struct {
	// Intent is the write.
	Intent
	// Reason is why its outcome is not known.
	Reason string
	// Left means that an earlier run of the program began it, or a client on this journal
	// that has closed.
	Left bool
	// Waiting means that nothing more is done about it until somebody asks:
	// Client.Resolve, Client.Recover or Client.Acknowledge.
	Waiting bool
	// MarketOpen means that entries go on in its market, although its outcome is not known: it
	// can run no more, nobody else trades the account (WithExclusiveAccounts), and what the
	// account holds is known, whatever the write did. Read the positions.
	MarketOpen bool
}

package sidecar

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
)

// Config says what a sidecar does. BaseURL and Dir are required.
type Config struct {
	// BaseURL is the versioned root of the service, which ends in /v1.
	BaseURL string

	// Options are those of the client that carries everything out: the real API keys, rate
	// limits, guards. The journal is not among them. Exits are sent for ten seconds, as entries
	// are, unless [trading.WithSendTTL] says otherwise.
	Options []trading.Option

	// Journal keeps the writes. Everything else in this process that trades the accounts
	// has the same handle. The caller closes it, after the server. Without one a restart
	// does not find out what it left.
	Journal journal.Store

	// Dir is the folder of the sidecar's own files: the local keys, and what bots were
	// answered. It must be on a local disk, belong to the user of this process, and be writable by
	// nobody else.
	Dir string

	// Locks is the folder in which all sidecars of this user on this machine lock the accounts that
	// they trade; empty is trading/locks in $XDG_STATE_HOME or ~/.local/state. It is made if there is
	// none. Nobody else may enter it. Sidecars that do not share it do not notice one another.
	Locks string

	// Exclusive are the live accounts that nobody but the bots of this sidecar trades, as
	// [trading.WithExclusiveAccounts] has it: take the bots' old real keys back first. A sign
	// of the contrary ends it, with an alert.
	Exclusive []trading.AccountID

	// Protect keeps its Accounts above their loss floors: entries of all bots are judged, and
	// an account is flattened in time. Its Client is made by New, and its Dir is a folder in
	// Dir unless set.
	Protect protect.Options

	// MaxPosition is how large a position may be in a market, in base units and on either side,
	// on each live account. An entry that could make it larger is refused: what rests, what runs,
	// and what is not known yet counts, and an opposite position makes up for nothing.
	MaxPosition map[string]decimal.Decimal

	// Hosts are the names by which bots reach the sidecar, such as "127.0.0.1:8700";
	// empty lets every name pass, for a Unix socket.
	Hosts []string

	// UnknownMembers names members of bodies that the contract does not have, and that are
	// passed on unread. Any other one is refused.
	UnknownMembers []string

	// KeysPerBot puts the name of a bot before its idempotency keys, for bots whose keys
	// collide.
	KeysPerBot bool

	// Logger logs what the client and the sidecar do; nil logs nothing.
	Logger *slog.Logger

	// Alert is called with what a person has to look at. It must be quick.
	Alert func(text string)
}

func (c *Config) validate() error {
	switch {
	case c.BaseURL == "":
		return errors.New("sidecar: Config.BaseURL is missing")
	case c.Dir == "":
		return errors.New("sidecar: Config.Dir is missing")
	case c.Protect.Client != nil:
		return errors.New("sidecar: Config.Protect.Client is set: it must be nil, since New makes it")
	}
	for symbol, most := range c.MaxPosition {
		if symbol == "" || !most.IsPositive() {
			return fmt.Errorf("sidecar: Config.MaxPosition[%q] is %s: it must be a market, and greater than 0", symbol, most)
		}
	}
	return nil
}

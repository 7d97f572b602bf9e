package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// Options are what a lease is for, and how long it lasts. Both machines must give the same.
type Options struct {
	// Name names the lease: one for each bot; required.
	Name string
	// BaseURL is the service's, and Accounts the live accounts that the bot trades; required. An
	// account is of one lease alone, and a write to another one is refused before its first byte.
	BaseURL  string
	Accounts []string
	// Lease is how long the holder must be silent until another process takes over; 15 s unless
	// set, and at least 500 ms. Take 60 s where the database itself fails over.
	Lease time.Duration
	// Alive, if set, ends the renewals when [Store.Alive] was not called for so long: a bot that
	// hangs loses its lease.
	Alive time.Duration
	// Declares is whatever else both machines must agree on, such as the version of the bot's
	// configuration.
	Declares string
	// FailoverLosesNothing says that the database fails over to synchronous standbys alone. Else,
	// for a day after a failover that its holder did not survive, a client order id that the
	// journal does not know may have been used, unless it is younger (trading.Since).
	FailoverLosesNothing bool
	// LeaseEnding is called once when the lease is not renewed and is about to end, with what is
	// left of it: 5 s, or a third of a shorter lease. It must not wait for [Store.Release], which waits
	// for it.
	LeaseEnding func(left time.Duration)
	// Logger gets the same, and what else a person should know: what a process waits for, and why the
	// journal takes nothing, within five seconds and again each minute. Nil for none.
	Logger *slog.Logger

	asLeft bool // a person's: nothing is compared
}

const (
	defaultLease = 15 * time.Second
	leastLease   = 500 * time.Millisecond
	mostMargin   = 2 * time.Second
)

// checked fills in what is not set.
func (o Options) checked() (Options, error) {
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	switch {
	case o.Name == "":
		return o, errors.New("postgres: Options.Name must not be empty")
	case len(o.Accounts) == 0 || slices.Contains(o.Accounts, ""):
		return o, errors.New("postgres: Options.Accounts must name the accounts of the bot")
	case o.Lease < leastLease:
		return o, fmt.Errorf("postgres: Options.Lease is %s: it must be at least %s", o.Lease, leastLease)
	case o.Alive < 0:
		return o, fmt.Errorf("postgres: Options.Alive is %s: it must not be negative", o.Alive)
	}
	var err error
	if o.BaseURL, err = serviceOf(o.BaseURL); err != nil {
		return o, fmt.Errorf("postgres: Options.BaseURL: %w", err)
	}
	o.Accounts = slices.Clone(o.Accounts)
	slices.Sort(o.Accounts)
	o.Accounts = slices.Compact(o.Accounts)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// sends is how long after a renewal bytes may leave.
func (o *Options) sends() time.Duration { return o.Lease - min(mostMargin, o.Lease*2/15) }

// poll is how often a candidate reads.
func (o *Options) poll() time.Duration { return min(2*time.Second, o.Lease/8) }

// warn is how long before its end the lease is reported to end.
func (o *Options) warn() time.Duration { return min(5*time.Second, o.Lease/3) }

// digest is what both machines must agree on.
func (o *Options) digest() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "format %d\n%q\n%q\n%q", format, o.BaseURL, o.Accounts, o.Declares)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// serviceOf is a base URL as a lease has it.
func serviceOf(baseURL string) (string, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "", errors.New("it cannot be parsed") // the parser's own error repeats it
	}
	if u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("%q is no URL of a service", u.Redacted())
	}
	return journal.Service(u), nil
}

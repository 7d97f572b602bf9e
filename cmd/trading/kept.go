package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/journal"
)

// kept is a journal that a person looks into, and may go on with: a file, or that of a lease.
type kept struct {
	name   string // for people
	flags  string // which name it to a command
	writes iter.Seq2[*trading.JournaledWrite, error]
	open   func(context.Context) (journal.Store, func() error, error)
}

// keptFile is the journal in a file.
func keptFile(path string) *kept {
	return &kept{path, journalFlag(path), trading.ReadJournal(path), func(context.Context) (journal.Store, func() error, error) {
		log, err := cli.OpenJournal(path, 0, true)
		if err != nil {
			return nil, nil, err
		}
		return log, log.Close, nil
	}}
}

// kept is the journal of the one lease that the flags name.
func (f *fleet) kept(ctx context.Context) (*kept, error) {
	if f.lease == "" {
		return nil, cli.Misuse("which lease? --lease")
	}
	return &kept{"lease " + f.lease, f.flags(f.lease), f.journal(ctx, f.lease), f.open}, nil
}

// open takes the lease, unless a holder lives: that one resolves its writes by itself.
func (f *fleet) open(ctx context.Context) (journal.Store, func() error, error) {
	leases, err := f.leases(ctx)
	if err != nil {
		return nil, nil, err
	}
	if l := leases[0]; l.Held() {
		return nil, nil, cli.WithCode(cli.Refused, fmt.Errorf("lease %s is held by %s: stop the bots first", cli.Printable(l.Name), cli.Printable(l.Place)))
	}
	f.app.Sayf("waiting for %s", cli.Printable(f.lease))
	s, err := postgres.OpenAsLeft(ctx, f.url, f.lease, f.baseURL)
	if err != nil {
		return nil, nil, cli.WithCode(cli.Refused, err)
	}
	return s, s.Close, nil
}

// journal are the writes of a lease.
func (f *fleet) journal(ctx context.Context, lease string) iter.Seq2[*trading.JournaledWrite, error] {
	return func(yield func(*trading.JournaledWrite, error) bool) {
		for h, err := range postgres.Histories(ctx, f.url, lease) {
			var w *trading.JournaledWrite
			if err != nil {
				err = notReached(err)
			} else {
				w, err = trading.DescribeHistory(h)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

// find finds one write.
func (k *kept) find(id trading.IntentID) (*trading.JournaledWrite, error) {
	for w, err := range k.writes {
		if err != nil {
			return nil, err
		}
		if w.ID == id {
			return w, nil
		}
	}
	return nil, fmt.Errorf("%s: write %s is not pending: there is no such write, or it is resolved and not kept; trading journal ls lists what there is", k.name, cli.Printable(id))
}

// pending finds the pending writes with the ids, or all if there is none.
func (k *kept) pending(ids []string) (found []*trading.JournaledWrite, err error) {
	if len(ids) == 0 {
		for w, err := range k.writes {
			if err != nil {
				return nil, err
			}
			if w.Pending {
				found = append(found, w)
			}
		}
		return found, nil
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return nil, cli.Misuse("%s is named twice", cli.Printable(id))
		}
		w, err := k.find(trading.IntentID(id))
		if err != nil {
			return nil, err
		}
		if !w.Pending {
			return nil, fmt.Errorf("write %s is not pending: it was %s", cli.Printable(id), w.Outcome)
		}
		found = append(found, w)
	}
	return found, nil
}

// connect makes a client that goes on with the journal.
func (k *kept) connect(ctx context.Context, service *cli.Service, more ...trading.Option) (*cli.Session, error) {
	store, closes, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	session, err := service.ConnectOn(store, closes, k.flags, more...)
	if err != nil {
		return nil, errors.Join(err, closes())
	}
	return session, nil
}

// chooser are the flags that name one journal: of a lease, or that of the command's writes.
type chooser struct {
	cmd     *cobra.Command
	service *cli.Service
	fleet   *fleet
}

func newChooser(app *cli.App, cmd *cobra.Command, service *cli.Service) *chooser {
	return &chooser{cmd, service, fleetFlags(app, cmd).leaseFlag(cmd, "the lease of --fleet")}
}

func (c *chooser) kept(ctx context.Context) (*kept, error) {
	if err := c.fleet.check(c.cmd, "journal"); err != nil {
		return nil, err
	}
	if err := c.service.Read(); err != nil {
		return nil, err
	}
	if c.fleet.given() {
		c.fleet.baseURL = c.service.BaseURL()
		return c.fleet.kept(ctx)
	}
	path, ok := c.service.OwnJournal()
	if !ok {
		return nil, cli.Misuse("which journal? --journal: this command has none of its own for %s", c.service.BaseURL())
	}
	return keptFile(path), nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
)

// drillBot is what one of the two processes of a drill reads from its standard input. It ends in order
// when that ends.
type drillBot struct {
	Database, Name, BaseURL, LiveKey string
	Lease                            time.Duration
}

// drillWord is what it says, one on a line.
type drillWord struct {
	Kind     string // holds, decided, found, over
	Decision string
	Key      trading.Key
	Outcome  trading.Outcome
	Err      string
}

const drillAccount = "acc_1"

// bar is how often it decides.
func (b *drillBot) bar() time.Duration { return b.Lease / 5 }

// drillAgain are the bars that a new holder decides again: those of the old one's silence, and some before.
const drillAgain = 12

func newDrillBot(app *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "bot", Short: "One of the two processes of a drill, which starts them", Hidden: true, Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b drillBot
			in := json.NewDecoder(app.In)
			if err := in.Decode(&b); err != nil {
				return cli.Misuse("it is started by trading drill failover: %s", err)
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go func() {
				_ = in.Decode(&b)
				stop()
			}()
			o := postgres.Options{Name: b.Name, BaseURL: b.BaseURL, Accounts: []string{drillAccount}, Lease: b.Lease}
			out := json.NewEncoder(app.Out)
			err := postgres.Campaign(ctx, b.Database, o, func(ctx context.Context, s *postgres.Store) error { return b.trade(ctx, s, out) })
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			return errors.Join(err, out.Encode(drillWord{Kind: "over", Err: fmt.Sprint(err)}))
		},
	}
}

// trade decides once a bar while the lease is held: first again what the one before may have decided.
func (b *drillBot) trade(ctx context.Context, s *postgres.Store, out *json.Encoder) error {
	client, err := trading.New(b.BaseURL, trading.WithLiveKey(b.LiveKey), trading.WithJournal(s), trading.WithExclusiveAccounts(drillAccount))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	_ = out.Encode(drillWord{Kind: "holds"})
	next := time.Now().Truncate(b.bar()).Add(-drillAgain * b.bar())
	resolutions, err := client.Recover(ctx)
	for _, r := range resolutions {
		_ = out.Encode(drillWord{Kind: "found", Decision: r.Intent.ClientOrderID, Key: r.Intent.Key, Outcome: r.Outcome})
	}
	if err != nil {
		return err
	}
	for ; ; next = next.Add(b.bar()) {
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return nil
		}
		_ = out.Encode(b.decide(ctx, client.Live.Account(drillAccount), next))
	}
}

// decide takes the decision of a bar, which names the order.
func (b *drillBot) decide(ctx context.Context, account *trading.Account, bar time.Time) drillWord {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	w := drillWord{Kind: "decided", Decision: bar.UTC().Format("15:04:05.000")}
	var meta trading.Meta
	_, err := account.PlaceOrder(bound, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.001"), Leverage: trading.Dec("2")},
		trading.WithClientOrderID(w.Decision), trading.ResponseInto(&meta))
	w.Key, w.Outcome = meta.Key, trading.OutcomeOf(err)
	if err != nil {
		w.Err = err.Error()
	}
	return w
}

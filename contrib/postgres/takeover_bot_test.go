package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
)

// A bot is this test binary once more: a process that campaigns, and trades what the bar says
// while it holds the lease.

const botEnv = "TRADING_TAKEOVER_BOT"

// botConfig is what a bot is started with.
type botConfig struct {
	BaseURL, LiveKey, Database string
	Name                       string
	Lease                      time.Duration
	OpensFirst                 bool // closes only what it has opened since it took over
	// Calm: it decides less often, closes one time in twelve and not where its entries wait, and half
	// of its calls give up soon.
	Calm bool
}

// What a bot is told: its wall clock jumps by an hour, or back; it decides nothing more.
const jumpNow, restNow = syscall.SIGUSR1, syscall.SIGUSR2

// word is what a bot says, one on a line.
type word struct {
	Kind    string // log, holds, told, resolved, pending, over
	Holder  string
	At      time.Time
	Epoch   int64            `json:",omitempty"`
	Key     trading.Key      `json:",omitempty"`
	Outcome trading.Outcome  `json:",omitempty"`
	Intent  trading.IntentID `json:",omitempty"`
	NotSent bool             `json:",omitempty"`
	Err     string           `json:",omitempty"`
}

// bar is how long one lasts.
func (c *botConfig) bar() time.Duration {
	if c.Calm { // reads lag 5 s behind an own close, and a market is judged behind that
		return 400 * time.Millisecond
	}
	return 150 * time.Millisecond
}

// closes reports whether a bar's decision is a close.
func (c *botConfig) closes(bar int64) bool {
	if c.Calm {
		return bar/int64(len(symbols))%12 == 11
	}
	return bar/int64(len(symbols))%4 == 3
}

// closesAll reports whether that close is of the whole, as each second one is: halves of halves have
// more decimal places than any market.
func (c *botConfig) closesAll(bar int64) bool { return bar/int64(len(symbols))%24 >= 12 }

// again is how many bars a new holder decides again: those of the old one's silence, of a failover, and
// some before.
func (c *botConfig) again() int64 { return int64(4 * c.Lease / c.bar()) }

var symbols = []string{"BTC", "ETH", "SOL"}

// liveAsBot is the life of a bot; it does not return.
func liveAsBot(text string) {
	var c botConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	b := &bot{config: c, out: json.NewEncoder(os.Stdout)}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, jumpNow, restNow)
	go func() {
		for s := range signals {
			if s == restNow {
				b.rests.Store(true)
				continue
			}
			b.jumped.Store(int64(time.Hour) - b.jumped.Load())
		}
	}()
	o := Options{
		Name: c.Name, BaseURL: c.BaseURL, Accounts: []string{"acc_1"}, Lease: c.Lease,
		Logger: slog.New(slog.NewTextHandler(b, nil)),
	}
	for ctx.Err() == nil {
		b.taken.Store(nil)
		err := campaign(ctx, c.Database, o, b.clock, b.run)
		b.say(word{Kind: "over", Err: fmt.Sprint(err)})
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(0)
}

type bot struct {
	config botConfig
	jumped atomic.Int64
	rests  atomic.Bool               // decides nothing more
	opened sync.Map                  // markets, since it took over
	shut   sync.Map                  // markets in which its last entry had to wait
	taken  atomic.Pointer[time.Time] // when the log said so

	mu  sync.Mutex
	out *json.Encoder
}

// Write takes a line of the log.
func (b *bot) Write(line []byte) (int, error) {
	at := time.Now()
	if strings.Contains(string(line), "lease taken") {
		b.taken.CompareAndSwap(nil, &at)
	}
	b.say(word{Kind: "log", At: at, Err: string(line)})
	return len(line), nil
}

func (b *bot) clock() moment {
	at := now()
	at.wall = at.wall.Add(time.Duration(b.jumped.Load()))
	return at
}

func (b *bot) say(w word) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.At.IsZero() {
		w.At = time.Now()
	}
	_ = b.out.Encode(w)
}

// run trades while the lease is held.
func (b *bot) run(ctx context.Context, s *Store) error {
	taken := *b.taken.Swap(nil)
	b.opened.Clear()
	client, err := trading.New(b.config.BaseURL, trading.WithLiveKey(b.config.LiveKey), trading.WithJournal(s),
		trading.WithExclusiveAccounts("acc_1"), trading.WithPlaintextHTTP(), trading.WithApplication("bot", s.holder),
		trading.WithRateLimits(trading.RateLimits{PerKey: 1e6, PerClass: 1e6}),
		trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) {
			b.say(word{Kind: "resolved", Holder: s.holder, Key: r.Intent.Key, Intent: r.Intent.ID, Outcome: r.Outcome})
		}}))
	if err != nil {
		return err
	}
	var work sync.WaitGroup
	defer func() {
		work.Wait()
		_ = client.Close()
	}()
	b.say(word{Kind: "holds", Holder: s.holder, At: taken, Epoch: s.epoch})
	work.Go(func() { _, _ = client.Recover(ctx) })
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	lasts := int64(b.config.bar())
	last := time.Now().UnixNano()/lasts - b.config.again() - 1
	for first, told := true, false; ; first = false {
		if b.rests.Load() && !told {
			told = true
			b.sayPending(ctx, client, s.holder)
		}
		bar := time.Now().UnixNano() / lasts
		for last < bar {
			last++
			of, named := last, last < bar || last%3 != 0
			if (first || of == bar) && !b.rests.Load() {
				work.Go(func() { b.decide(ctx, client, s.holder, of, named) })
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// sayPending says what is not known, and why.
func (b *bot) sayPending(ctx context.Context, client *trading.Client, holder string) {
	pending, _ := client.Pending(ctx)
	for i := range pending {
		p := &pending[i]
		b.say(word{Kind: "pending", Holder: holder, Key: p.Key, Outcome: trading.Unknown, Err: fmt.Sprintf("%s, open %t, left %t: %s", p.Symbol, p.MarketOpen, p.Left, p.Reason)})
	}
}

// decide takes the decision of a bar.
func (b *bot) decide(ctx context.Context, client *trading.Client, holder string, bar int64, named bool) {
	running, patience := ctx, 15*time.Second
	if b.config.Calm && bar%2 == 0 {
		patience = time.Second
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	defer context.AfterFunc(running, func() { time.AfterFunc(b.config.bar(), cancel) })() // what is under way may end
	account, symbol := client.Live.Account("acc_1"), symbols[bar%int64(len(symbols))]
	var meta trading.Meta
	opts := []trading.CallOption{trading.ResponseInto(&meta)}
	if named {
		opts = append(opts, trading.WithClientOrderID(fmt.Sprint("bar ", bar), trading.Since(time.Unix(0, bar*int64(b.config.bar())))))
	}
	var err error
	_, opened := b.opened.Load(symbol)
	_, shut := b.shut.Load(symbol)
	if b.config.closes(bar) && shut {
		return
	}
	if b.config.closes(bar) && (opened || !b.config.OpensFirst) {
		part := trading.Percent(trading.Dec("50"))
		if b.config.closesAll(bar) {
			part = trading.All
		}
		_, err = account.ClosePosition(ctx, symbol, part, opts...)
	} else {
		_, err = account.PlaceOrder(ctx, trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}, opts...)
		if err == nil {
			b.opened.Store(symbol, true)
		}
		if b.config.Calm && errors.Is(err, trading.ErrPendingWrite) {
			b.shut.Store(symbol, true)
		} else {
			b.shut.Delete(symbol)
		}
	}
	told := word{Kind: "told", Holder: holder, Key: meta.Key, Outcome: trading.OutcomeOf(err)}
	if err != nil {
		told.Err = err.Error()
	}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		told.Intent, told.NotSent = write.Intent, write.NotSent
	}
	b.say(told)
}

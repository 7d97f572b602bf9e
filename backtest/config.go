package backtest

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Bot is what is tested. It gets a client of the simulated service, and ends when its
// context does; an error is why it stopped before. It must leave no goroutine behind.
type Bot func(ctx context.Context, client *trading.Client) error

// Config says what a run is made on.
type Config struct {
	// Name is what the report calls the run.
	Name string
	// Data are the prices; required.
	Data *Data
	// From and To bound the run; unless set they are the data's.
	From, To time.Time
	// CandlePaths is how prices move inside candles, and Seed the number that random paths
	// follow from: a run is made with it and with the one after it.
	CandlePaths CandlePaths
	Seed        uint64
	// Frictions are what the market costs beside the fees; none unless set.
	Frictions Frictions
	// Profile is what was seen of the service that the bot will trade on; nil leaves the simulation to the
	// document alone. It does what [tradingsim.WithProfile] does, drawn from Seed; the result names it. The
	// times of answers come beside Frictions.Latency, and Frictions.Lag wins over the lag of reads.
	Profile *profile.Profile
	// Account is the account that the bot trades, and Others are further ones that it trades
	// beside it. They have the same rule for the daily floor.
	Account Account
	Others  []Account
	// WarmUp is how long before From the bot is called. Until From it reads prices through its
	// client, and its writes are refused with [ErrWarmUp].
	WarmUp time.Duration
	// Protect runs the bot under package protect, as live; nil is without. Client, Dir and Accounts
	// are set by the run. The bot begins once the accounts have been looked at. It is run without
	// the protection, too.
	Protect *protect.Options
	// Attempts is a file that counts the runs of bots by their Name. The finding of a run takes
	// into account how many there were on the same markets and time. None is kept unless it is
	// set.
	Attempts string
	// Simulation and Client are further options of the service and of the bot's client,
	// such as markets, lags and faults, or a health gate. Each path has a journal of its own,
	// in memory, in place of one in Client: on two paths one journal would hold the orders of
	// two accounts.
	Simulation []tradingsim.Option
	Client     []trading.Option
}

// Account is the account that is judged. Amounts are absolute dollars, as text.
type Account struct {
	// ID is that of a live account; the paper account has none.
	ID string
	// Balance is what it begins with: 100000 unless set. The floors are 95 and 90 percent
	// of it unless set, and the target 110 percent.
	Balance, DailyLossFloor, GlobalLossFloor, ProfitTarget string
	// DailyFloor is what the daily loss floor does at midnight; [BothFloors] unless set.
	DailyFloor DailyFloor
}

// DailyFloor is what a daily loss floor does when a UTC day begins. The contract leaves it open.
type DailyFloor uint8

const (
	// BothFloors judges the account by either rule, at each moment by the higher floor: the worse
	// is the headline. The service itself keeps the floor where it is, so a bot that reads its
	// floors is run with MovingFloor, too.
	BothFloors DailyFloor = iota
	// FixedFloor stays where it is.
	FixedFloor
	// MovingFloor moves with the balance that each day begins with, in the service too.
	MovingFloor
)

// String is such as "fixed".
func (f DailyFloor) String() string {
	return [...]string{"fixed and moving, the worse", "fixed", "moving"}[min(f, MovingFloor)]
}

// Terms are what an account is judged by, in absolute dollars.
type Terms struct {
	ID              string          // "" is the paper account
	Opening         decimal.Decimal // the balance at the beginning
	DailyLossFloor  decimal.Decimal // that of the first day, where it moves
	GlobalLossFloor decimal.Decimal // fixed
	ProfitTarget    decimal.Decimal // an equity
	DailyFloor      DailyFloor      // what it does at midnight
	// TakerFee is what Config.Profile measured, as a share of the notional value; None is the contract's.
	TakerFee trading.Opt[decimal.Decimal] `json:",omitzero"`
}

// floors are what the account is judged by, in words.
func (t Terms) floors() string {
	return fmt.Sprintf("daily $%s (%s), global $%s, target $%s", t.DailyLossFloor.StringFixed(2), t.DailyFloor, t.GlobalLossFloor.StringFixed(2), t.ProfitTarget.StringFixed(2))
}

// feeRate is that of leaving.
func (t Terms) feeRate() decimal.Decimal {
	if rate, ok := t.TakerFee.Get(); ok {
		return rate
	}
	return trading.TakerFee(decimal.NewFromInt(1))
}

// floor is the higher of the two.
func (t Terms) floor(daily decimal.Decimal) decimal.Decimal {
	return decimal.Max(daily, t.GlobalLossFloor)
}

func (a Account) terms() (t Terms, err error) {
	t = Terms{ID: a.ID, DailyFloor: a.DailyFloor}
	read := func(name, text string, otherwise decimal.Decimal) (d decimal.Decimal) {
		if text == "" || err != nil {
			return otherwise
		}
		if d, err = decimal.NewFromString(text); err != nil || !d.IsPositive() {
			err = fmt.Errorf("backtest: Config.Account.%s is %q; it must be a number greater than 0", name, text)
		}
		return d
	}
	share := func(of string) decimal.Decimal { return t.Opening.Mul(decimal.RequireFromString(of)) }
	t.Opening = read("Balance", a.Balance, decimal.NewFromInt(100_000))
	t.DailyLossFloor = read("DailyLossFloor", a.DailyLossFloor, share("0.95"))
	t.GlobalLossFloor = read("GlobalLossFloor", a.GlobalLossFloor, share("0.9"))
	t.ProfitTarget = read("ProfitTarget", a.ProfitTarget, share("1.1"))
	if err != nil {
		return t, err
	}
	return t, t.undecided()
}

// undecided refuses an account that is decided before its first order.
func (t Terms) undecided() error {
	switch floor := t.floor(t.DailyLossFloor); {
	case floor.GreaterThanOrEqual(t.Opening):
		return fmt.Errorf("backtest: the higher of Config.Account.DailyLossFloor and GlobalLossFloor is %s; it must be less than the balance, %s", floor, t.Opening)
	case t.ProfitTarget.LessThanOrEqual(t.Opening):
		return fmt.Errorf("backtest: Config.Account.ProfitTarget is %s; it must be greater than the balance, %s", t.ProfitTarget, t.Opening)
	}
	return nil
}

// plan is a config that was judged.
type plan struct {
	Config
	terms Terms
	in    inside               // how prices move inside a candle
	drawn map[string]drawnRows // what a run drew
	spread
	others []Terms
	traded []Terms // all accounts
	tell   func(state string)
	brief  bool // only its paths are wanted

	cancelAt time.Time // ends the bot before its deadline, if set
}

// endsBefore is how long before its end a run is over: no ticker of whole seconds is due
// then. Of a deadline and a tick at the same moment select would take either.
const endsBefore = 500 * time.Millisecond

func (c Config) plan() (p plan, err error) {
	if c.Data == nil || len(c.Data.series) == 0 {
		return p, fmt.Errorf("backtest: Config.Data is missing; ReadFile or Walk makes it")
	}
	p = plan{Config: c, tell: func(string) {}}
	first, last := c.Data.Span()
	if p.From.IsZero() {
		p.From = first.Add(p.WarmUp)
	}
	if p.To.IsZero() {
		p.To = last
	}
	p.From, p.To = p.From.UTC(), p.To.UTC()
	switch {
	case p.WarmUp < 0:
		return p, fmt.Errorf("backtest: Config.WarmUp is %s; it must not be negative", p.WarmUp)
	case !p.From.Before(first) && p.begins().Before(first):
		return p, fmt.Errorf("backtest: the bot warms up from %s on, and there are prices from %s on only; set From later, or WarmUp shorter", p.begins().Format(time.RFC3339), first.Format(time.RFC3339))
	case p.From.Before(first) || p.To.After(last):
		return p, fmt.Errorf("backtest: the run is from %s to %s, and there are prices from %s to %s only; want a beginning and an end within (From and To, or --from and --to)", p.From.Format(time.RFC3339), p.To.Format(time.RFC3339), first.Format(time.RFC3339), last.Format(time.RFC3339))
	case p.To.Sub(p.From) < time.Minute:
		return p, fmt.Errorf("backtest: the run takes %s; it must take a minute at least", p.To.Sub(p.From))
	case !p.From.Equal(p.From.Truncate(time.Second)):
		return p, fmt.Errorf("backtest: the run begins at %s; it must be a whole second", p.From.Format(time.RFC3339Nano))
	}
	if err := c.Frictions.check(&p); err != nil {
		return p, err
	}
	if err := c.checkProtect(); err != nil {
		return p, err
	}
	if p.terms, err = c.Account.terms(); err != nil {
		return p, err
	}
	if err := p.checkProfile(); err != nil {
		return p, err
	}
	err = p.checkOthers()
	p.traded = p.all()
	return p, err
}

// simulation makes the service of one path. It panics over what the options say, as
// package tradingsim does.
func (p plan) simulation(feeds []*feed) *tradingsim.Sim {
	var opts []tradingsim.Option
	for _, f := range feeds {
		opts = append(opts, tradingsim.WithFeed(f.symbol, f))
	}
	opts = append(opts,
		tradingsim.WithRequestLog(0),                  // the report counts them
		tradingsim.WithSampling(100*365*24*time.Hour), // the changes are what is needed
	)
	opts = append(opts, p.profileOptions()...)
	opts = append(opts, append(p.accountOptions(), p.frictionOptions()...)...)
	return tradingsim.New(append(opts, p.Simulation...)...)
}

package tradingsim

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Option configures a simulation.
type Option interface{ sim() }

type option func(*config)

func (option) sim() {}

// settings are what options say and nothing changes later.
type settings struct {
	clock           clock
	interpretations [maxInterpretation + 1]bool // by number
	redirect        int
	keyLimit        int
	authLimit       int
	classLimit      int
	proLimit        int
	tradeRows       int           // 0 is all
	sampling        time.Duration // between two looks at the equity
	fillPrice       FillPrice     // of takers; nil is the mark
	defaultLeverage opt           // of a paper order that names none; 1 unless set
	fees            fees
	markAge         time.Duration // beside what the feed says

	omittedClears bool
	hidden        map[string]bool // members of closed trades that no row shows
}

// config is all that options say; [New] makes a Sim of it.
type config struct {
	settings
	skew        time.Duration
	lag         time.Duration
	markets     []Market
	feeds       map[string]Feed
	sandbox     Sandbox
	balance     string
	accounts    []Account
	caps        Caps
	pro         ProLimits
	funding     map[string][]FundingRate
	requestsLog int
	logTo       io.Writer
	seed        uint64
	answerTimes map[string]spread // by operation
}

func newConfig(opts []Option) *config {
	c := &config{
		settings: settings{
			clock:      readClock(time.Now),
			hidden:     map[string]bool{},
			redirect:   308,
			keyLimit:   600,
			authLimit:  10,
			classLimit: 150,
			proLimit:   20,
			sampling:   time.Minute,
			fees:       contractFees,
		},
		feeds:       map[string]Feed{},
		requestsLog: 10_000,
	}
	for _, o := range opts {
		o.(option)(c)
	}
	return c
}

// WithMark adds a market at a price; "" is unpriced. Without any WithMark,
// [WithMarket] or [WithFeed] there are BTC at 64000, ETH at 3200, SOL at 150,
// TSLA at 250, GOLD at 2400 and EURUSD at 1.08.
func WithMark(symbol, price string) Option {
	return WithMarket(Market{Symbol: symbol, Price: price})
}

// WithMarket adds a market.
func WithMarket(m Market) Option {
	return option(func(c *config) { c.markets = append(c.markets, m) })
}

// WithFeed adds a market whose marks come from a feed, or gives a feed to a
// market named before.
func WithFeed(symbol string, f Feed) Option {
	return option(func(c *config) {
		c.feeds[symbol] = f
		for _, m := range c.markets {
			if m.Symbol == symbol {
				return
			}
		}
		c.markets = append(c.markets, Market{Symbol: symbol})
	})
}

// WithBalance is the opening balance of the sandbox and of every account that
// names none: 100000 dollars unless set.
func WithBalance(dollars string) Option {
	return option(func(c *config) { c.balance = dollars })
}

// WithSandbox sets the levels of the paper account.
func WithSandbox(s Sandbox) Option {
	return option(func(c *config) { c.sandbox = s })
}

// WithCaps sets the risk caps.
func WithCaps(caps Caps) Option {
	return option(func(c *config) { c.caps = caps })
}

// WithLag makes reads lag behind writes and marks by d, as a warm cache does; see
// [Sim.SetLag] for one kind of read. The price of a fill never lags.
func WithLag(d time.Duration) Option {
	notNegative("WithLag", d)
	return option(func(c *config) { c.lag = d })
}

// WithClock reads the time from a function instead of time.Now. Delays still
// wait in real time.
func WithClock(now func() time.Time) Option {
	return option(func(c *config) { c.clock = readClock(now) })
}

// WithManualClock starts the service's clock at a time and moves it with
// [Sim.Advance] alone. Delays wait for it too, so a test can hold a request for
// a quarter of an hour, even over loopback.
func WithManualClock(start time.Time) Option {
	return option(func(c *config) { c.clock = newManualClock(start) })
}

// WithSpeed makes the service's clock run so many times faster than the machine's, from the
// present on: an hour of limits, waits and feeds passes in a minute at 60.
func WithSpeed(times float64) Option {
	return option(func(c *config) {
		if !(times >= 1 && times <= 10_000) {
			panic(fmt.Sprintf("tradingsim: WithSpeed must be from 1 to 10000, and is %v", times))
		}
		c.clock = fastClock{time.Now(), times}
	})
}

// notNegative panics over a setting below 0.
func notNegative[T int | time.Duration](what string, value T) {
	if value < 0 {
		panic(fmt.Sprintf("tradingsim: %s must not be negative, and is %v", what, value))
	}
}

// WithSkew makes the service's clock differ from the bot's.
func WithSkew(d time.Duration) Option {
	return option(func(c *config) { c.skew = d })
}

// WithRedirect sets the status of the legacy /api/v1 redirect: 308 unless set.
func WithRedirect(status int) Option {
	return option(func(c *config) {
		if status < 300 || status > 399 {
			panic("tradingsim: a redirect has a status from 300 to 399")
		}
		c.redirect = status
	})
}

// WithKeyLimit sets how many requests a key has in a minute: 600 unless set.
func WithKeyLimit(perMinute int) Option {
	notNegative("WithKeyLimit", perMinute)
	return option(func(c *config) { c.keyLimit = perMinute })
}

// WithAuthLimit sets how many failed authentications an address has in a
// minute: 10 unless set.
func WithAuthLimit(perMinute int) Option {
	notNegative("WithAuthLimit", perMinute)
	return option(func(c *config) { c.authLimit = perMinute })
}

// WithRequestLog sets how many requests [Sim.Requests] keeps, the latest:
// 10,000 unless set.
func WithRequestLog(size int) Option {
	notNegative("WithRequestLog", size)
	return option(func(c *config) { c.requestsLog = size })
}

// WithTradeRows makes the reads of closed trades show the latest n only. The
// contract promises neither the whole list nor a way to page.
func WithTradeRows(n int) Option {
	notNegative("WithTradeRows", n)
	return option(func(c *config) { c.tradeRows = n })
}

// tradeMembers are the members of a closed trade that the contract does not list.
var tradeMembers = []string{"symbol", "side", "size", "leverage", "openedAt", "closedAt"}

// WithoutTradeFields leaves members out of closed trades: symbol, side, size,
// leverage, openedAt or closedAt, which the contract does not show. Interpretation 53
// leaves out all of them.
func WithoutTradeFields(names ...string) Option {
	for _, name := range names {
		if !slices.Contains(tradeMembers, name) {
			panic(fmt.Sprintf("tradingsim: WithoutTradeFields takes %s, not %q", strings.Join(tradeMembers, ", "), name))
		}
	}
	return option(func(c *config) {
		for _, name := range names {
			c.hidden[name] = true
		}
	})
}

// WithUserLimits sets how many live writes of a class, and of a Pro type, the
// holder has in a minute: 150 and 20 unless set.
func WithUserLimits(class, pro int) Option {
	notNegative("WithUserLimits", class)
	notNegative("WithUserLimits", pro)
	return option(func(c *config) { c.classLimit, c.proLimit = class, pro })
}

// WithOmittedLevelsCleared makes POST /positions/tpsl clear a level that is left
// out. The contract says of the sandbox only that it stays.
func WithOmittedLevelsCleared() Option {
	return option(func(c *config) { c.omittedClears = true })
}

package doctor

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Setting is a value of the configuration, and where it came from.
type Setting struct {
	Value string // the value itself, which is not printed
	From  string // such as "TRADING_BASE_URL" or "--base-url"
}

// Format prints where a setting came from, and never its value.
func (s Setting) String() string { return s.From }

// GoString is String.
func (s Setting) GoString() string { return s.From }

// Options say what to look at. The zero value of each member skips its check, unless it
// has a default.
type Options struct {
	// BaseURL is the root of the API, SandboxKey and LiveKey are the API keys.
	BaseURL, SandboxKey, LiveKey Setting
	// Environ is the environment to be judged, as os.Environ returns it: variables that are
	// set and empty, proxies.
	Environ []string
	// KeyFile is the file that the keys come from.
	KeyFile string
	// Accounts are the live accounts to look at; without any, all that the key reaches,
	// those that are not archived first, and twenty at most.
	Accounts []trading.AccountID
	// Paper reads the paper account, too. That fires its triggers.
	Paper bool
	// Journal is the bot's journal, and StateDir the folder of its protection.
	Journal, StateDir string
	// Known are ids of resting orders and runs that somebody declares to be right although no
	// journal knows them.
	Known []string
	// SmallestOrder is the notional of the bot's smallest order, in dollars.
	SmallestOrder decimal.Decimal
	// AttemptTimeout is the client's; 5 s unless set.
	AttemptTimeout time.Duration
	// StopGrace is how long whoever stops the bot waits before it kills; unless set, that of
	// the systemd unit of Process is looked up.
	StopGrace time.Duration
	// Alert sends a test alert, and returns nil once it has arrived.
	Alert func(text string) error
	// More are looks at what other modules keep: contrib/postgres and contrib/redis have one each. Their
	// lines are in the report behind those of the journal.
	More []func(ctx context.Context) []Line
	// Process is a bot that runs.
	Process *Process
	// Built is when the program was built, and Profiled when the profile was measured.
	Built, Profiled time.Time
	// Started is when the program started, or the first look was taken: a time of time.Now, with its
	// monotonic clock. The clocks are compared since then.
	Started time.Time
	// Transport sends the requests; connections of the doctor's own unless set. It must not
	// retry and not follow redirects.
	Transport http.RoundTripper

	host *host // this machine's, unless a test has one
}

const (
	defaultAttemptTimeout = 5 * time.Second
	maxAccounts           = 20
)

// variable is the last value of a variable.
func (o *Options) variable(name string) (value string, set bool) {
	for _, pair := range o.Environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			value, set = v, true
		}
	}
	return value, set
}

// proxy is the proxy that https requests go through, by the environment.
func (o *Options) proxy() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if v, _ := o.variable(name); v != "" {
			return v
		}
	}
	return ""
}

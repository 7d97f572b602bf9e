package doctor

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/loopback"
)

// How many requests are sent: for the service, and for each account.
const (
	maxService = 10
	maxAccount = 4
)

// answered is what was seen of one request.
type answered struct {
	sent, received time.Time // received is when its headers came
	ended          time.Time // when its last byte came
	status         int       // 0 without an answer, or without all of it
	date           time.Time
	cached         bool // an Age header: something on the way kept the answer
}

// meter is the transport of the doctor: it sends reads alone, counts them, and takes the
// times of each.
type meter struct {
	next  http.RoundTripper
	root  string // path of the base URL
	paper bool

	mu       sync.Mutex
	service  int
	accounts map[string]int
	seen     []*answered
}

// errTooMany is the error of a request beyond the limits. It is a mistake of this package.
var errTooMany = errors.New("doctor: no more requests")

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := m.allow(r); err != nil {
		return nil, err
	}
	a := &answered{sent: time.Now()}
	resp, err := m.next.RoundTrip(r)
	a.received = time.Now()
	a.ended = a.received
	if err == nil {
		resp.Body = &timed{ReadCloser: resp.Body, m: m, a: a}
		a.status = resp.StatusCode
		a.cached = resp.Header.Get("Age") != ""
		a.date, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	m.mu.Lock()
	m.seen = append(m.seen, a)
	m.mu.Unlock()
	return resp, err
}

// timed notes when a body has ended, or that it did not come.
type timed struct {
	io.ReadCloser
	m *meter
	a *answered
}

func (b *timed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.a.ended = time.Now()
	if err != nil && err != io.EOF {
		b.a.status = 0
	}
	return n, err
}

// allow refuses what is no read, what fires triggers, and what is too much.
func (m *meter) allow(r *http.Request) error {
	path := strings.TrimPrefix(r.URL.Path, m.root)
	if r.Method != http.MethodGet {
		return fmt.Errorf("doctor: %s %s is no read", r.Method, path)
	}
	account := accountOf(path, r.URL.Query())
	if account == paperAccount && !m.paper {
		return fmt.Errorf("doctor: GET %s fires triggers", path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if account == "" {
		if m.service++; m.service > maxService {
			return errTooMany
		}
		return nil
	}
	if m.accounts[account]++; m.accounts[account] > maxAccount {
		return errTooMany
	}
	return nil
}

// paperAccount stands for the paper account, which has no id that a request names.
const paperAccount = "paper"

// accountOf is the account that a read is about; empty for none.
func accountOf(path string, query url.Values) string {
	switch rest, ok := strings.CutPrefix(path, "/accounts/"); {
	case ok:
		id, _, _ := strings.Cut(rest, "/")
		return id
	case path == "/sandbox/account", path == "/sandbox/positions", path == "/sandbox/trades":
		return paperAccount
	default:
		return query.Get("accountId")
	}
}

// count is how many requests were sent.
func (m *meter) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.seen)
}

// answers are those that came.
func (m *meter) answers() []answered {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]answered, len(m.seen))
	for i, a := range m.seen {
		all[i] = *a
	}
	return all
}

// newMeter returns the transport and a client that sends through it, once.
func newMeter(o Options) (*meter, *trading.Client, error) {
	base, err := url.Parse(o.BaseURL.Value)
	if err != nil {
		return nil, nil, errors.New("it cannot be read as an address")
	}
	m := &meter{next: o.Transport, root: strings.TrimSuffix(base.Path, "/"), paper: o.Paper, accounts: map[string]int{}}
	if m.next == nil {
		m.next = ownTransport(&o)
	}
	opts := []trading.Option{
		trading.WithTransport(m), trading.WithRetry(trading.Retry{Attempts: 1, PriceAttempts: 1}),
		trading.WithApplication("trading-doctor", trading.Version), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
		trading.WithAttemptTimeout(o.AttemptTimeout),
	}
	if sendable(o.SandboxKey.Value, sandboxPrefix) {
		opts = append(opts, trading.WithSandboxKey(o.SandboxKey.Value))
	}
	if sendable(o.LiveKey.Value, livePrefix) {
		opts = append(opts, trading.WithLiveKey(o.LiveKey.Value))
	}
	client, err := trading.New(o.BaseURL.Value, opts...)
	return m, client, err
}

// ownTransport goes the way that the bot's requests go: through its proxy, if it has one.
func ownTransport(o *Options) http.RoundTripper {
	t := &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: o.AttemptTimeout}
	if via, err := url.Parse(o.proxy()); err == nil && via.Host != "" {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme != "https" || loopback.Is(loopback.Name(r.URL.Hostname())) {
				return nil, nil
			}
			return via, nil
		}
	}
	return t
}

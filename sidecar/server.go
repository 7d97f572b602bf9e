package sidecar

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// Server is a sidecar. Make it with [New], and end it with [Server.Close].
type Server struct {
	config    Config
	client    *trading.Client
	keys      *localkey.File
	file      record
	unheard   *unheard
	shares    *shares
	counts    counts
	halts     halts
	locks     *disk.Accounts
	guard     *protection // nil without one
	positions *positions  // nil without a largest position
	random    func() float64
	stopping  atomic.Bool
	closing   context.Context // which ends with the server
	end       context.CancelFunc
	under     sync.WaitGroup // requests

	mu      sync.Mutex
	serving []*http.Server
	work    sync.WaitGroup
	once    sync.Once
}

// New opens the folder, and takes over what earlier runs left in it. It sends nothing. It refuses a
// folder that others can write to, and an account that another process of this user on this machine
// trades.
func New(c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := disk.OwnFolder(c.Dir, disk.NoWrite); err != nil {
		return nil, fmt.Errorf("sidecar: %w", err)
	}
	keys, err := localkey.Open(filepath.Join(c.Dir, "keys"))
	if err != nil {
		return nil, err
	}
	accounts, err := disk.LockAccounts(c.Locks, c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("sidecar: see Config.Locks: %w", err)
	}
	if err := lockAll(accounts, &c, keys); err != nil {
		accounts.Close()
		return nil, err
	}
	ctx, now := context.Background(), time.Now()
	file, err := answers.Open(ctx, filepath.Join(c.Dir, "answers"), now)
	if err != nil {
		accounts.Close()
		return nil, err
	}
	s := &Server{config: c, keys: keys, random: rand.Float64, shares: newShares(keys), locks: accounts}
	s.closing, s.end = context.WithCancel(ctx)
	s.file = record{file, s.alert}
	s.unheard = newUnheard(s.file)
	var obeys []trading.Option
	if s.guard, obeys, err = s.protect(); err == nil {
		if len(c.MaxPosition) > 0 {
			s.positions = newPositions(&c, s.unheard)
			obeys = append(obeys, trading.WithGuard(s.positions.guard))
		}
		s.client, err = trading.New(c.BaseURL, append(obeys, s.options()...)...)
	}
	if err != nil {
		accounts.Close()
		return nil, errors.Join(err, s.guard.Close(), file.Close())
	}
	if s.positions != nil {
		s.positions.client = s.client
	}
	if err = s.restoreHalt(); err == nil {
		err = s.restore(ctx, now)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lockAll locks the accounts that are known to be traded: those of keys that are made later, and of
// keys for every account, are locked at the first entry.
func lockAll(l *disk.Accounts, c *Config, keys *localkey.File) error {
	all, err := keys.Keys()
	if err != nil {
		return err
	}
	var accounts []string
	for _, id := range slices.Concat(c.Exclusive, c.Protect.Accounts) {
		accounts = append(accounts, string(id))
	}
	for _, k := range all {
		if k.Live && k.TakenBack.IsZero() && k.May != localkey.Read {
			accounts = append(accounts, k.Accounts...)
		}
	}
	for _, id := range accounts {
		if id == localkey.Every {
			continue
		}
		if err := l.Take(id); err != nil {
			return fmt.Errorf("sidecar: %w", err)
		}
	}
	return nil
}

// options are those of the client.
func (s *Server) options() []trading.Option {
	opts := append([]trading.Option{
		trading.WithSendTTL(exitTTL),
		trading.WithHooks(trading.Hooks{AttemptDone: s.noteSent, Resolved: s.hookResolved, NotExclusive: s.hookNotExclusive}),
	}, s.config.Options...)
	if len(s.config.Exclusive) > 0 {
		opts = append(opts, trading.WithExclusiveAccounts(s.config.Exclusive...))
	}
	if s.config.Journal != nil {
		opts = append(opts, trading.WithJournal(s.config.Journal))
	}
	if s.config.Logger != nil {
		opts = append(opts, trading.WithLogger(s.config.Logger))
	}
	return opts
}

// Client is the one that carries everything out.
func (s *Server) Client() *trading.Client { return s.client }

// hookResolved leads what the client has found out back to the write of a bot.
func (s *Server) hookResolved(ctx context.Context, r trading.Resolution) {
	if _, id, ok := strings.Cut(r.Intent.Tag, " "); ok {
		s.resolved(ctx, id, &r)
	}
}

// hookNotExclusive says that somebody else trades an account.
func (s *Server) hookNotExclusive(account trading.AccountID, sign string) {
	s.alert("somebody else trades " + string(account) + ", which was declared exclusive: " + sign)
}

// ServeHTTP answers one request of a bot.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.under.Add(1)
	defer s.under.Done()
	if no := s.front(r); no != nil {
		_ = no.writeTo(w, "")
		return
	}
	if strings.HasPrefix(r.URL.Path, "/sidecar/") {
		s.serveReport(w, r)
		return
	}
	q, no := s.parse(w, r)
	if no == nil {
		q.shared = s.mayBeUsed(r.Context(), q, time.Now())
		release, full := s.share(r.Context(), q)
		if no = full; no == nil {
			defer release()
		}
	}
	if no != nil {
		s.counts.add("refused_total", "status", strconv.Itoa(no.status))
	}
	switch {
	case no != nil && q != nil && q.write:
		_ = no.writeTo(w, newID())
	case no != nil:
		_ = no.writeTo(w, "")
	case q.write:
		s.serveWrite(w, r, q)
	default:
		s.serveRead(w, r, q)
	}
}

// front refuses what no bot sends: another host's requests, and those of a page in a browser.
func (s *Server) front(r *http.Request) *reply {
	switch {
	case !s.isHost(r.Host):
		return refuse(http.StatusMisdirectedRequest, trading.CodeBadRequest, "This is not the host that the request is for.")
	case fromPage(r.Header):
		return refuse(http.StatusForbidden, trading.CodeForbidden, "Pages in a browser are not served.")
	default:
		return nil
	}
}

// fromPage reports whether a page in a browser sends a request, by any of the headers that say so.
func fromPage(h http.Header) bool {
	return len(h["Origin"]) > 0 || slices.ContainsFunc(h["Sec-Fetch-Site"], func(site string) bool { return site != "none" })
}

func (s *Server) isHost(host string) bool {
	if len(s.config.Hosts) == 0 {
		return true
	}
	for _, h := range s.config.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// mayBegin refuses what is not to be sent at all.
func (s *Server) mayBegin(q *request, p peer) *reply {
	var no reply
	switch {
	case q.write && p.gone():
		no = s.unavailable("nothing was sent", errGone)
	case q.kind != hearing.Entry:
		return nil
	case s.stopping.Load():
		no = s.unavailable("the sidecar is stopping", nil)
	case p.old():
		no = s.unavailable("it is older than a second", nil)
	case q.write && q.env == live:
		err := s.locks.Take(q.account)
		if err == nil {
			return nil
		}
		no = s.unavailable("nothing was sent", err)
	default:
		return nil
	}
	return &no
}

// alert says what a person has to look at.
func (s *Server) alert(text string) {
	if s.config.Logger != nil {
		s.config.Logger.Warn("sidecar: " + text)
	}
	if s.config.Alert != nil {
		s.config.Alert(text)
	}
}

package kills

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/sidecar/internal/heard"
)

// place is where a sidecar kills itself: before or after the n-th of its appends to the journal,
// or of its requests to the service.
type place struct {
	what  string // append or send; empty for nowhere
	count int64
	after bool
}

func (p place) String() string { return fmt.Sprintf("%s %d %t", p.what, p.count, p.after) }

func parsePlace(text string) (p place) {
	_, _ = fmt.Sscanf(text, "%s %d %t", &p.what, &p.count, &p.after) // nowhere
	return p
}

// killer kills this process at a place.
type killer struct {
	at    place
	count map[string]*atomic.Int64
}

func newKiller(at place) *killer {
	return &killer{at, map[string]*atomic.Int64{"append": {}, "send": {}}}
}

func (k *killer) around(what string, do func()) {
	n := k.count[what].Add(1)
	here := k.at.what == what && k.at.count == n
	if here && !k.at.after {
		die()
	}
	do()
	if here && k.at.after {
		die()
	}
}

// die kills this process, or stops it until somebody lets it go on.
func die() {
	if stop := os.Getenv("KILLS_STOP"); stop != "" && stop != "0s" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// store is a journal that kills.
type store struct {
	journal.Store
	*killer
}

func (s store) Append(ctx context.Context, durable bool, records ...journal.Record) (err error) {
	s.around("append", func() { err = s.Store.Append(ctx, durable, records...) })
	return err
}

// sender sends requests, and kills.
type sender struct{ *killer }

func (s sender) RoundTrip(r *http.Request) (a *http.Response, err error) {
	if r.Method != http.MethodPost {
		return http.DefaultTransport.RoundTrip(r)
	}
	s.around("send", func() { a, err = http.DefaultTransport.RoundTrip(r) })
	return a, err
}

// serve is a sidecar, as the command runs one.
func serve() error {
	dir := os.Getenv("KILLS_DIR")
	kill := newKiller(parsePlace(os.Getenv("KILLS_AT")))
	log, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	c := sidecar.Config{
		BaseURL: os.Getenv("KILLS_SERVICE"), Dir: dir, Locks: cmp.Or(os.Getenv("KILLS_LOCKS"), filepath.Join(dir, "locks")), Journal: store{log, kill},
		Options: []trading.Option{trading.WithLiveKey(os.Getenv("KILLS_KEY")), trading.WithTransport(sender{kill})},
	}
	if key := os.Getenv("KILLS_PROTECTED"); key != "" {
		c.Options = append(c.Options, trading.WithSandboxKey(key)) // for the marks
		c.Protect.Accounts = []trading.AccountID{"acc_1"}
	}
	s, err := sidecar.New(c)
	if err != nil {
		return err
	}
	var l *heard.Listener
	if address := os.Getenv("KILLS_ADDRESS"); strings.HasPrefix(address, "/") {
		l, err = heard.Unix(address)
	} else {
		l, err = heard.TCP(address, false)
	}
	if err != nil {
		return err
	}
	operator, err := heard.Unix(filepath.Join(dir, "operator", "s"))
	if err != nil {
		return err
	}
	go func() { _ = s.ServeOperator(operator) }()
	fmt.Println("ready")
	return s.Serve(l)
}

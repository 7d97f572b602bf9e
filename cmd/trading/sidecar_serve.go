package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
)

// The sockets of a sidecar, below its folder. Each has a folder that only its owner can enter.
func botsSocket(dir string) string     { return filepath.Join(dir, "bots", "sidecar.sock") }
func operatorSocket(dir string) string { return filepath.Join(dir, "operator", "sidecar.sock") }

// sidecarServer is the command and its flags.
type sidecarServer struct {
	app       *cli.App
	service   *cli.Service
	dir       func() (string, error)
	listen    string
	distant   bool
	hosts     []string
	exclusive []string
	protect   []string
	positions []string
	keys      string
	exits     time.Duration
	alert     string
	verbose   bool
	config    sidecar.Config
}

func newSidecarServe(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Carry out what the bots of this machine ask for", Args: cli.Args(),
		Long: `Serve the API to the bots of this machine until interrupted. A bot changes its base URL and
its key (trading sidecar keys), and nothing else. Bots reach it on the Unix socket
bots/sidecar.sock in the state folder, or with --listen on a port of this machine; the base
URL ends in /v1 as the service's. While the sidecar is down, any program of this machine can
listen on the port, and not on the socket.

The real keys are read from --key-file, also when they change while it runs. Nobody else may
use them: with a key of its own a bot trades past the sidecar. --exclusive says that nobody
does, which lets more lost orders be found out.

After an interruption entries are refused, and exits are carried out for --exits more. The
exit code is 0 then, and 4 if it refuses to start.`,
		Example: "  trading sidecar serve --state-dir sidecar.state --key-file sidecar.keys\n" +
			"  trading sidecar serve --state-dir sidecar.state --key-file sidecar.keys --listen 127.0.0.1:8700 --protect acc_1",
	}
	s := &sidecarServer{app: app}
	s.service = app.Connection(cmd, 0)
	s.dir = sidecarDir(app, cmd, true)
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "", "serve bots on this port of the loopback interface, such as 127.0.0.1:8700, instead of the socket")
	f.BoolVar(&s.distant, "proxied", false, "what connects to the port may be a proxy, a container's port or a mesh: it must not retry")
	f.StringArrayVar(&s.hosts, "host", nil, "a further HOST:PORT by which bots reach the port; may be repeated")
	f.StringArrayVar(&s.exclusive, "exclusive", nil, "a live account that nobody but these bots trades; may be repeated")
	f.StringArrayVar(&s.protect, "protect", nil, "a live account to keep above its loss floor: entries are judged, and it is flattened in time; may be repeated")
	f.StringArrayVar(&s.positions, "max-position", nil, "how large a position may be in a market, in base units, such as BTC=0.5, on each live account; may be repeated")
	f.StringArrayVar(&s.config.UnknownMembers, "unknown-members", nil, "a member of bodies to pass on although the contract does not have it; may be repeated")
	f.StringVar(&s.keys, "keys", "unchanged", "how idempotency keys go to the service: unchanged, or per-bot, with the bot's name before them, for bots whose keys collide")
	f.DurationVar(&s.exits, "exits", 5*time.Second, "how long exits are carried out after an interruption")
	f.StringVar(&s.alert, "alert", "", "a program to run with what a person has to look at as its argument")
	f.BoolVar(&s.verbose, "verbose", false, "log each call")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) }
	return cmd
}

func (s *sidecarServer) run(ctx context.Context) (err error) {
	if err := s.service.Read(); err != nil {
		return err
	}
	c := &s.config
	if c.Dir, err = s.dir(); err != nil {
		return err
	}
	state, err := s.app.StateFolder()
	if err != nil {
		return cli.Misuse("no folder in which sidecars lock their accounts: %v", err)
	}
	c.Locks = filepath.Join(state, "locks")
	if c.Options, err = s.service.RotatedKeys(); err != nil {
		return err
	}
	c.BaseURL, c.Options = s.service.BaseURL(), append(c.Options, s.app.Options...)
	if err := s.choices(); err != nil {
		return err
	}
	for _, a := range s.exclusive {
		c.Exclusive = append(c.Exclusive, trading.AccountID(a))
	}
	for _, a := range s.protect {
		c.Protect.Accounts = append(c.Protect.Accounts, trading.AccountID(a))
	}
	level := slog.LevelWarn
	if s.verbose {
		level = slog.LevelDebug
	}
	c.Logger = slog.New(slog.NewTextHandler(s.app.Lines(), &slog.HandlerOptions{Level: level}))
	noCore()
	writes, err := journal.Open(filepath.Join(c.Dir, "journal"), journal.WithLockTimeout(0))
	if errors.Is(err, journal.ErrLocked) {
		err = fmt.Errorf("another sidecar runs with --state-dir %s", cli.Word(c.Dir))
	}
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	defer func() { err = errors.Join(err, writes.Close()) }()
	alerts := newAlerter(s.app, s.alert)
	defer alerts.Close()
	c.Journal, c.Alert = writes, alerts.say
	return s.serve(ctx)
}

// choices reads the flags whose values have a form of their own, or fit no other.
func (s *sidecarServer) choices() error {
	host, port, _ := net.SplitHostPort(s.listen) // which the listener judges
	service, _ := url.Parse(s.config.BaseURL)    // which the client does
	if service != nil && port != "" && service.Port() == port && (loopback.Is(service.Hostname()) || service.Hostname() == host) {
		return cli.WithCode(cli.Refused, fmt.Errorf("the base URL is %s: that is the address of this sidecar, and must be that of the service", s.config.BaseURL))
	}
	switch s.keys {
	case "unchanged", "per-bot":
		s.config.KeysPerBot = s.keys == "per-bot"
	default:
		return cli.Misuse("--keys is %q: it must be unchanged or per-bot", s.keys)
	}
	s.config.MaxPosition = map[string]decimal.Decimal{}
	for _, text := range s.positions {
		symbol, size, _ := strings.Cut(text, "=")
		most, err := cli.ParseNumber(size)
		if err != nil || symbol == "" || !most.IsPositive() {
			return cli.Misuse("--max-position is %q: it must be a market and a size greater than 0, such as BTC=0.5", text)
		}
		s.config.MaxPosition[symbol] = most
	}
	return nil
}

// serve serves until ctx ends.
func (s *sidecarServer) serve(ctx context.Context) (err error) {
	address := s.listen
	if address == "" {
		address = botsSocket(s.config.Dir)
	}
	bots, err := sidecar.Listen(address, s.distant)
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	defer func() { _ = bots.Close() }() // the server has, if it came to that
	operator, err := sidecar.Listen(operatorSocket(s.config.Dir), false)
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	defer func() { _ = operator.Close() }() // likewise
	if s.listen != "" {
		_, port, _ := net.SplitHostPort(bots.Addr().String()) // of a listener
		s.config.Hosts = append([]string{bots.Addr().String(), "localhost:" + port}, s.hosts...)
	}
	server, err := sidecar.New(s.config)
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	s.app.Sayf("bots: %s", baseURLOf(s.listen != "", bots.Addr().String()))
	s.app.Sayf("operator: trading sidecar status --state-dir %s", cli.Word(s.config.Dir))
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(bots) }()
	go func() { ended <- server.ServeOperator(operator) }()
	select {
	case err = <-ended:
		ended <- nil
	case <-ctx.Done():
		s.app.Sayf("entries are refused from now on; exits for %s more", s.exits)
		err = server.Stop(s.exits)
	}
	closed := server.Close()
	err = errors.Join(err, <-ended, <-ended)
	var pending *trading.PendingError
	if errors.As(closed, &pending) {
		s.app.Sayf("%v: the next start finds out", pending)
		closed = nil
	}
	return errors.Join(err, closed)
}

// baseURLOf is what a bot is given.
func baseURLOf(port bool, address string) string {
	if port {
		return "http://" + address + "/v1"
	}
	return "the Unix socket " + address + ", http://localhost/v1"
}

// alerter says what a person has to look at, and runs a program with it, one at a time.
type alerter struct {
	app     *cli.App
	program string
	texts   chan string
	work    sync.WaitGroup
}

func newAlerter(app *cli.App, program string) *alerter {
	const waiting = 16
	a := &alerter{app: app, program: program, texts: make(chan string, waiting)}
	a.work.Go(func() {
		for text := range a.texts {
			a.run(text)
		}
	})
	return a
}

func (a *alerter) say(text string) {
	select {
	case a.texts <- text:
	default: // many in a moment say the same
	}
}

func (a *alerter) run(text string) {
	const most = time.Minute
	a.app.Sayf("alert: %s", cli.Printable(text))
	if a.program == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.program, text)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=" + a.app.Getenv("PATH")}
	if err := cmd.Run(); err != nil {
		a.app.Sayf("--alert %s: %v", cli.Printable(a.program), err)
	}
}

// Close waits for what was said.
func (a *alerter) Close() {
	close(a.texts)
	a.work.Wait()
}

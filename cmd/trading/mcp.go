package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/docs"
	"github.com/tradingapi/trading-go/contrib/mcp"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// agent is the command and its flags. The front and its engine have the same.
type agent struct {
	app     *cli.App
	service *cli.Service
	cmd     *cobra.Command
	mode    string
	policy  string
	approve string
	docsURL string
	pro     bool
	listen  string
	hosts   []string
	token   string
	cert    string
	certKey string
}

func newMCP(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve tools by which a language model looks and trades", Args: cli.Args(),
		Long: `Serve tools by which a language model looks and trades, by the Model Context Protocol on the
standard streams, or over HTTP with --listen. Without a service it trades the paper account of a
simulated one. With a service it only looks, unless --mode says otherwise.

The command is a front. It joins the engine of this user for the service and the mode, or starts
it; the engine has the key, the journal and the tickets, and ends by itself.`,
		Example: "  trading mcp\n" +
			"  trading mcp --mode live --policy policy.json --key-file keys",
	}
	a := newAgent(app, cmd)
	f := cmd.Flags()
	f.StringVar(&a.listen, "listen", "", "serve HTTP on this address, such as 127.0.0.1:8710, instead of the standard streams")
	f.StringArrayVar(&a.hosts, "host", nil, "a further HOST:PORT by which the address is reached; may be repeated")
	f.StringVar(&a.token, "token-file", "", "file with the bearer token that requests must have, mode 0600; made if there is none")
	f.StringVar(&a.cert, "tls-cert", "", "certificate for HTTPS")
	f.StringVar(&a.certKey, "tls-key", "", "its key")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.front(cmd.Context()) }
	cmd.AddCommand(newMCPEngine(app))
	return cmd
}

func newMCPEngine(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "engine", Short: "Be the engine of these tools", Args: cli.Args(), Hidden: true,
		Long: "Be the engine of these tools. \"trading mcp\" starts it. It ends after ten minutes without a front,\nor by a signal, once what is under way has ended.",
	}
	a := newAgent(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.engine(cmd.Context()) }
	return cmd
}

func newAgent(app *cli.App, cmd *cobra.Command) *agent {
	a := &agent{app: app, cmd: cmd}
	a.service = app.Connection(cmd, 0)
	f := cmd.Flags()
	cli.Choice(f, &a.mode, "mode", "", "", "read looks, paper trades the paper account, live the accounts of the policy (default paper on the simulated service, else read)", "read", "paper", "live")
	f.StringVar(&a.policy, "policy", "", "file with the limits of the operator; required for live")
	cli.Choice(f, &a.approve, "approve", "", "", "what waits for a person: entries, with what loosens, or nothing (default entries for live, else nothing)", "entries", "nothing")
	f.StringVar(&a.docsURL, "docs-url", "", "serve tools that search the documentation published there")
	f.BoolVar(&a.pro, "pro", false, "serve the tool for Pro orders")
	return a
}

// there refuses a file that is named and missing, before an engine runs.
func there(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return cli.WithCode(cli.Refused, fmt.Errorf("--%s: %w", flag, err))
	}
	return nil
}

// simulated reports whether there is no service but the embedded one.
func (a *agent) simulated() bool {
	return a.app.Getenv("TRADING_BASE_URL") == "" && !a.cmd.Flags().Changed("base-url")
}

// complete gives the flags their values, and returns the folder of the engine and its settings.
func (a *agent) complete() (dir, settings string, err error) {
	place := "simulator"
	switch {
	case a.simulated() && a.mode != "" && a.mode != string(mcp.Paper):
		return "", "", cli.Misuse("--mode %s needs a service: set TRADING_BASE_URL, or give --base-url", a.mode)
	case a.simulated():
		a.mode = string(mcp.Paper)
	default:
		if err := a.service.Read(); err != nil {
			return "", "", err
		}
		base, err := url.Parse(a.service.BaseURL())
		if err != nil || base.Host == "" {
			return "", "", cli.Misuse("the base URL has no host")
		}
		place = strings.NewReplacer(":", "_", "[", "", "]", "").Replace(strings.ToLower(base.Host))
		if a.mode == "" {
			a.mode = string(mcp.Read)
		}
	}
	if a.mode == string(mcp.Live) && a.policy == "" {
		return "", "", cli.Misuse("--mode live needs --policy")
	}
	if err := there("policy", a.policy); err != nil {
		return "", "", err
	}
	state, err := a.app.StateFolder()
	if err != nil {
		return "", "", cli.Misuse("no folder for the engine: %v", err)
	}
	dir = filepath.Join(state, "mcp", place+"-"+a.mode)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", cli.WithCode(cli.Refused, err)
	}
	flags, err := a.flags()
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(strings.Join(append(flags, trading.Version), "\n")))
	return dir, hex.EncodeToString(sum[:8]), nil
}

// flags are those that an engine is started with, always in the same order, and files by their full
// names: they are its settings, which all its fronts must have.
func (a *agent) flags() (flags []string, err error) {
	for _, name := range []string{"mode", "policy", "approve", "docs-url", "pro", "base-url", "key-file"} {
		f := a.cmd.Flags().Lookup(name)
		value := f.Value.String()
		if name == "policy" || name == "key-file" {
			if value, err = filepath.Abs(value); err != nil {
				return nil, err
			}
		}
		if f.Changed || name == "mode" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	return flags, nil
}

// front joins the engine, or starts it.
func (a *agent) front(ctx context.Context) error {
	dir, settings, err := a.complete()
	if err != nil {
		return err
	}
	start := func() error { return a.start(ctx, dir) }
	if a.listen != "" {
		return a.web(ctx, dir, settings, start)
	}
	return mcp.Relay(ctx, dir, settings, a.app.In, a.app.Out, start)
}

// start starts an engine that its front's host does not end: hosts end what they started.
func (a *agent) start(ctx context.Context, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	flags, err := a.flags()
	if err != nil {
		return err
	}
	const most = 1 << 20
	file, how := filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND // an engine may run, which another front has started
	if old, err := os.Stat(file); err == nil && old.Size() > most {
		how |= os.O_TRUNC
	}
	log, err := os.OpenFile(file, how, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the engine has its own
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append([]string{"mcp", "engine"}, flags...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = a.app.Environ, log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// web is a front over HTTP.
func (a *agent) web(ctx context.Context, dir, settings string, start func() error) error {
	host, port, err := net.SplitHostPort(a.listen)
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case err != nil:
		return cli.Misuse("--listen is %q: it must be an address, such as 127.0.0.1:8710", a.listen)
	case (a.cert == "") != (a.certKey == ""):
		return cli.Misuse("--tls-cert and --tls-key go together")
	case !local && (a.token == "" || len(a.hosts) == 0 || a.cert == ""):
		return cli.Misuse("--listen %s is not the loopback interface: it needs --token-file, --host, --tls-cert and --tls-key", a.listen)
	}
	if err := errors.Join(there("tls-cert", a.cert), there("tls-key", a.certKey)); err != nil {
		return err
	}
	if a.token == "" {
		a.token = filepath.Join(dir, "token")
	}
	if _, err := os.Stat(a.token); errors.Is(err, os.ErrNotExist) {
		if err := disk.Replace(a.token, []byte(rand.Text()+rand.Text()+"\n"), true); err != nil {
			return err
		}
	}
	if err := mcp.Join(ctx, dir, settings, start); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.listen)
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	if port == "0" {
		_, port, _ = net.SplitHostPort(l.Addr().String()) // of a listener
	}
	handler, err := mcp.Guarded(mcp.Forward(dir), append(a.hosts, net.JoinHostPort(host, port), "localhost:"+port), a.token)
	if err != nil {
		return err
	}
	const header = 5 * time.Second
	server := &http.Server{Handler: handler, ReadHeaderTimeout: header}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	a.app.Sayf("http://%s/mcp, with the bearer token of %s", net.JoinHostPort(host, port), a.token)
	if a.cert != "" {
		err = server.ServeTLS(l, a.cert, a.certKey)
	} else {
		err = server.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// engine is the process behind the fronts.
func (a *agent) engine(ctx context.Context) (err error) {
	dir, settings, err := a.complete()
	if err != nil {
		return err
	}
	folder, err := disk.LockFolder(dir)
	if errors.Is(err, disk.ErrLocked) {
		return nil // another front was first
	}
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	noCore()
	c := mcp.Config{
		Mode: mcp.Mode(a.mode), Dir: dir, Approvals: filepath.Dir(dir), Policy: a.policy, Approve: mcp.Approve(a.approve), Pro: a.pro,
		Locks: filepath.Join(filepath.Dir(filepath.Dir(dir)), "locks"), Logger: slog.New(slog.NewTextHandler(a.app.Lines(), nil)),
	}
	if a.docsURL != "" {
		if c.Docs, err = docs.New(docs.Config{URL: a.docsURL}); err != nil {
			return codeOfDocs(err)
		}
		defer func() { err = errors.Join(err, c.Docs.Close()) }()
	}
	closes, err := a.connect(&c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closes()) }()
	engine, err := mcp.New(c)
	if err != nil {
		return cli.WithCode(cli.Refused, err)
	}
	a.app.Sayf("serving %s in mode %s, process %d", c.BaseURL, c.Mode, os.Getpid())
	return errors.Join(engine.Serve(ctx, dir, settings), engine.Close())
}

// connect makes the client of an engine: of the service, or of a simulated one that lives as long as
// the engine does.
func (a *agent) connect(c *mcp.Config) (closes func() error, err error) {
	if a.simulated() {
		sim := newPractice()
		if c.Dir, err = os.MkdirTemp("", "trading-mcp-"); err != nil {
			return nil, err
		}
		c.Locks = ""
		c.Client, err = trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithTransport(sim.Transport()), trading.WithJournal(journal.NewMemory()), trading.WithRecovery(trading.Recovery{WithoutProbe: true}))
		c.BaseURL = sim.URL()
		return func() error { return errors.Join(closed(c.Client), sim.Close(), os.RemoveAll(c.Dir)) }, err
	}
	more := []trading.Option{trading.WithRecovery(trading.Recovery{WithoutProbe: true})}
	if a.cmd.Flags().Changed("key-file") {
		rotated, err := a.service.RotatedKeys()
		if err != nil {
			return nil, err
		}
		more = append(more, rotated...)
	}
	key, err := a.service.AnyKey()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	c.BaseURL, c.KeyID = a.service.BaseURL(), hex.EncodeToString(sum[:4])
	if c.Mode != mcp.Live {
		a.service.Env = trading.EnvSandbox
	}
	if c.Mode == mcp.Live {
		a.service.Env = trading.EnvLive
	}
	if c.Mode == mcp.Read {
		a.service.Env = "" // either key will do
		session, err := a.service.Connect()
		if err != nil {
			return nil, err
		}
		c.Client = session.Client
		return session.Close, nil
	}
	log, err := journal.Open(filepath.Join(c.Dir, "journal"))
	if err != nil {
		return nil, cli.WithCode(cli.Refused, err)
	}
	session, err := a.service.ConnectOn(log, log.Close, "", more...)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	c.Client = session.Client
	return session.Close, nil
}

// closed closes a client; what is pending is no error.
func closed(client *trading.Client) error {
	err := client.Close()
	if errors.As(err, new(*trading.PendingError)) {
		return nil
	}
	return err
}

// newPractice is a simulated service whose prices walk.
func newPractice() *tradingsim.Sim {
	return tradingsim.New(
		tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)),
		tradingsim.WithFeed("ETH", tradingsim.RandomWalk(2, "3200", 3)),
		tradingsim.WithFeed("SOL", tradingsim.RandomWalk(3, "145", 4)),
	)
}

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/sidecar"
)

// sidecarAddress is where a sidecar is reached: the socket for people, or the port of its bots.
type sidecarAddress struct {
	socket string
	port   string // its URL, without a path
	key    string // the local key, for the port
}

func (a sidecarAddress) String() string {
	if a.port != "" {
		return a.port
	}
	return a.socket
}

// request makes a request.
func (a sidecarAddress) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	base := a.port
	if base == "" {
		base = "http://localhost"
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path, body)
	if err == nil && a.key != "" {
		r.Header.Set("X-API-Key", a.key)
	}
	return r, err
}

// client reaches the sidecar and nobody else: no proxy, and nothing that it is sent on to.
func (a sidecarAddress) client() (client *http.Client, closes func()) {
	transport := &http.Transport{}
	if a.port == "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", a.socket)
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, transport.CloseIdleConnections
}

// sidecarFlag names a sidecar that runs, to the commands that look and that get out.
type sidecarFlag struct {
	app  *cli.App
	cmd  *cobra.Command
	text string
	at   sidecarAddress
}

func newSidecarFlag(app *cli.App, cmd *cobra.Command) *sidecarFlag {
	f := &sidecarFlag{app: app, cmd: cmd}
	cmd.Flags().StringVar(&f.text, "sidecar", "", "the sidecar that runs: operator/sidecar.sock in its state folder, or as one of its bots its URL, http://127.0.0.1:PORT")
	return f
}

// given reports whether the command is about a sidecar.
func (f *sidecarFlag) given() bool { return f.text != "" }

// bot reports whether the sidecar is asked as by one of its bots.
func (f *sidecarFlag) bot() bool { return f.at.port != "" }

// check reads the address, and refuses flags that are not for a sidecar.
func (f *sidecarFlag) check(others ...string) error {
	if !f.given() {
		return nil
	}
	if err := notBeside(f.cmd, "sidecar", others); err != nil {
		return err
	}
	if !strings.Contains(f.text, "://") {
		f.at.socket = f.text
		return nil
	}
	u, err := url.Parse(f.text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || strings.Trim(strings.TrimSuffix(u.Path, "/v1"), "/") != "" || !loopback.Is(u.Hostname()) {
		return cli.Misuse("--sidecar: want operator/sidecar.sock in its state folder, or its URL on this machine, http://127.0.0.1:PORT")
	}
	f.at.port = "http://" + u.Host
	return nil
}

// notBeside refuses flags beside another one.
func notBeside(cmd *cobra.Command, flag string, others []string) error {
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return cli.Misuse("--%s is not for --%s", name, flag)
		}
	}
	return nil
}

// operator asks the sidecar.
func (f *sidecarFlag) operator(out *cli.Output) *sidecarOperator {
	return &sidecarOperator{func() (sidecarAddress, error) { return f.at, nil }, out}
}

// status prints how the sidecar is. Anybody may ask its port whether it takes entries, and with a
// local key why not.
func (f *sidecarFlag) status(ctx context.Context, service *cli.Service, out *cli.Output) error {
	path := "/status"
	if f.bot() {
		path = "/sidecar/ready"
		service.AtSidecar(f.at.port)
		f.at.key, _ = service.AnyKey()
	}
	return f.operator(out).printStatus(ctx, path, nil)
}

// pending prints the writes whose outcome is not known; asked of the port, those of the bot alone.
func (f *sidecarFlag) pending(ctx context.Context, service *cli.Service, out *cli.Output) (err error) {
	o := f.operator(out)
	if !f.bot() {
		return o.pending(ctx)
	}
	service.AtSidecar(f.at.port)
	if f.at.key, err = service.AnyKey(); err != nil {
		return err
	}
	var written struct{ Writes []sidecar.Written }
	if err := o.ask(ctx, "/sidecar/writes", nil, &written); err != nil {
		return err
	}
	all := []sidecar.Pending{}
	for _, w := range written.Writes {
		if w.Outcome != "unknown" {
			continue
		}
		p := sidecar.Pending{Write: w.ID, Operation: trading.Operation(w.Operation), Env: trading.EnvLive, Account: trading.AccountID(w.Account), Symbol: w.Symbol, Decided: w.At}
		if w.Account == string(trading.EnvSandbox) {
			p.Env, p.Account = trading.EnvSandbox, ""
		}
		all = append(all, p)
	}
	return o.printPending(all, time.Now())
}

// bySidecar lets the sidecar get an account out, which halts its bots first.
func (f *flattener) bySidecar(ctx context.Context) error {
	if err := f.confirm(ctx); err != nil {
		return err
	}
	accounts := []string{string(f.service.Account)}
	return f.sidecar.operator(f.out).flatten(ctx, "trading flatten", accounts, f.symbols)
}

// checkSidecar reads what --sidecar asks for.
func (f *flattener) checkSidecar() error {
	s := f.sidecar
	if err := s.check("base-url", "fleet", "lease", "without-lease"); err != nil || !s.given() {
		return err
	}
	if s.bot() {
		f.service.AtSidecar(s.at.port + "/v1") // which takes the local key for a real one
		return nil
	}
	f.service.At("http://localhost/v1") // nothing is sent there
	return notBeside(s.cmd, "sidecar", []string{"key-file", "journal", "proof-interval", "dry-run", "all-accounts"})
}

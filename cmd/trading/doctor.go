package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/contrib/redis"
	"github.com/tradingapi/trading-go/doctor"
	"github.com/tradingapi/trading-go/profile"
)

// watchEvery is the time between two looks of doctor --watch.
const watchEvery = time.Minute

// doctorFlags are what the command line says beside the way to the service.
type doctorFlags struct {
	app           *cli.App
	service       *cli.Service
	out           *cli.Output
	pid           int
	accounts      []string
	journal       string
	stateDir      string
	alert         string
	smallest      decimal.Decimal
	watch         bool
	profile       string
	fleet         *fleet
	redis, owner  string
	options       doctor.Options
	processFolder string
}

func newDoctor(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Before real money: what would stop a bot, in ten seconds", Args: cli.Args(),
		Long: `Look at the configuration, the service, each account, the journal and the machine, and print a
line for each check: ok, warn, FAIL or skipped, with what was seen and what to do.

It only reads, by ten requests and four for each account at the most. --fleet and --redis look
at the database and the Redis that bots on several machines share. It sees its own
shell; --pid sees the environment, the limits and the user of a bot that runs. The exit code
is 8 if a line is FAIL.`,
	}
	d := &doctorFlags{app: app, service: app.Connection(cmd, readTimeout), out: app.Output(cmd)}
	f := cmd.Flags()
	f.IntVar(&d.pid, "pid", 0, "look at the environment of this process: a bot that runs")
	f.StringArrayVar(&d.accounts, "account", nil, "a live account to look at; repeat it for several (default all)")
	f.BoolVar(&d.options.Paper, "paper", false, "look at the paper account too, which fires its stops")
	f.StringVar(&d.journal, "journal", "", "the bot's journal (default $TRADING_JOURNAL)")
	f.StringVar(&d.stateDir, "state-dir", "", "folder of the protection's state (default $TRADING_STATE_DIR)")
	f.StringArrayVar(&d.options.Known, "known", nil, "id of an order or a run that is right although no journal knows it; repeat it for several")
	cli.Number(f, &d.smallest, "smallest-order", "the bot's smallest order, in dollars")
	f.DurationVar(&d.options.AttemptTimeout, "attempt-timeout", 5*time.Second, "the bot's WithAttemptTimeout")
	f.DurationVar(&d.options.StopGrace, "stop-grace", 0, "how long whoever stops the bot waits before it kills")
	f.StringVar(&d.alert, "alert", "", "send a test alert to this address: POST of {\"text\": …}")
	f.StringVar(&d.profile, "profile", "", "the profile of \"trading observe\", for its age")
	f.BoolVar(&d.watch, "watch", false, "look every minute, and print what changed")
	d.fleet = fleetFlags(app, cmd).leaseFlag(cmd, "the bot's lease in the database of --fleet")
	f.StringVar(&d.redis, "redis", "", "the Redis that shares the rate limits, redis://…; a password is not for arguments: REDISCLI_AUTH")
	f.StringVar(&d.owner, "redis-owner", "", "whose limits: the owner of the store")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := d.fleet.check(cmd); err != nil {
			return err
		}
		return d.run(cmd.Context())
	}
	return cmd
}

func (d *doctorFlags) run(ctx context.Context) error {
	if err := d.fill(ctx); err != nil {
		return err
	}
	if err := d.elsewhere(); err != nil {
		return err
	}
	report, err := d.look(ctx)
	if err == nil {
		err = d.print(report.Lines, report)
	}
	if err != nil || !d.watch {
		return errors.Join(err, failed(report))
	}
	d.options.Started = report.At
	d.options.Alert = nil // one is enough
	return d.keepLooking(ctx, report)
}

// failed is the error of a report with a FAIL.
func failed(report *doctor.Report) error {
	if report == nil || !report.Failed() {
		return nil
	}
	return cli.WithCode(cli.Unsound, errors.New("a check failed"))
}

// look looks once, within the timeout.
func (d *doctorFlags) look(ctx context.Context) (*doctor.Report, error) {
	looking, cancel := d.service.Context(ctx)
	defer cancel()
	report := doctor.Run(looking, d.options)
	return report, ctx.Err()
}

// keepLooking prints what changes, until a key is refused: asking on would close the address.
func (d *doctorFlags) keepLooking(ctx context.Context, last *doctor.Report) error {
	for !last.Refused {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
		now, err := d.look(ctx)
		if err != nil {
			return err
		}
		if lines := doctor.Changed(last, now); len(lines) > 0 {
			if err := d.print(lines, now); err != nil {
				return err
			}
		}
		last = now
	}
	return cli.WithCode(cli.Unsound, errors.New("the service refused a key, and is not asked again"))
}

// reportView is a report as JSON.
type reportView struct {
	At       time.Time     `json:"at"`
	Requests int           `json:"requests"`
	Failed   bool          `json:"failed"`
	Measured measuredView  `json:"measured"`
	Lines    []doctor.Line `json:"lines"`
}

// measuredView has its times as text, such as "12.5ms".
type measuredView struct {
	AnswerTime    string `json:"answerTime"`
	SlowestAnswer string `json:"slowestAnswer"`
	ClockAtLeast  string `json:"clockAtLeast"`
	ClockAtMost   string `json:"clockAtMost"`
	HealthAge     string `json:"healthAge"`
	Sync          string `json:"sync"`
}

func (d *doctorFlags) print(lines []doctor.Line, r *doctor.Report) error {
	m := r.Measured
	view := reportView{r.At, r.Requests, r.Failed(), measuredView{
		m.AnswerTime.String(), m.SlowestAnswer.String(), m.ClockAtLeast.String(), m.ClockAtMost.String(), m.HealthAge.String(), m.Sync.String(),
	}, lines}
	return d.out.Print(view, func(w io.Writer) {
		subject, counts := "", map[doctor.Status]int{}
		for _, l := range lines {
			counts[l.Status]++
			if l.Subject != subject {
				subject = l.Subject
				fmt.Fprintln(w, cli.Printable(subject))
			}
			cli.Row(w, "  "+string(l.Status), l.Check, l.Saw)
			if l.Do != "" {
				cli.Row(w, "", "", "-> "+l.Do)
			}
		}
		if len(lines) == len(r.Lines) {
			fmt.Fprintf(w, "%d FAIL, %d warn, %d skipped, %d ok, by %d requests\n", counts[doctor.Fail], counts[doctor.Warn], counts[doctor.Skipped], counts[doctor.OK], r.Requests)
		}
	})
}

// fill takes the configuration from the shell or the process.
func (d *doctorFlags) fill(ctx context.Context) error {
	o, env := &d.options, d.app
	if d.pid != 0 {
		p, environ, err := doctor.FromProcess(d.pid)
		if err != nil {
			return cli.WithCode(cli.Usage, err)
		}
		o.Process, env, d.processFolder = p, &cli.App{Environ: environ}, p.Folder
	}
	o.Environ, o.Transport, o.Built = env.Environ, d.app.Transport, built()
	var err error
	if o.BaseURL, o.SandboxKey, o.LiveKey, o.KeyFile, err = d.service.Settings(env); err != nil {
		return err
	}
	o.Journal = d.path(d.journal, env.Getenv("TRADING_JOURNAL"))
	o.StateDir = d.path(d.stateDir, env.Getenv("TRADING_STATE_DIR"))
	o.SmallestOrder = d.smallest
	for _, id := range d.accounts {
		o.Accounts = append(o.Accounts, trading.AccountID(id))
	}
	if d.profile != "" {
		p, err := profile.Load(d.profile)
		if err != nil {
			return cli.WithCode(cli.Usage, err)
		}
		o.Profiled = p.MeasuredAt
	}
	if d.alert != "" {
		o.Alert = func(text string) error { return postAlert(ctx, d.app.Transport, d.alert, text) }
	}
	return nil
}

// elsewhere adds looks at what the bot keeps on other machines.
func (d *doctorFlags) elsewhere() error {
	o := &d.options
	if d.fleet.given() {
		lease := postgres.Options{Name: d.fleet.lease, BaseURL: o.BaseURL.Value, Accounts: d.accounts}
		o.More = append(o.More, func(ctx context.Context) []doctor.Line { return postgres.Doctor(ctx, d.fleet.url, lease) })
	}
	if d.redis == "" {
		if d.owner != "" {
			return cli.Misuse("--redis-owner is for --redis")
		}
		return nil
	}
	to, err := goredis.ParseURL(d.redis)
	if err != nil {
		return cli.Misuse("--redis: want redis://host:6379")
	}
	if to.Password != "" {
		return cli.Misuse("--redis: a password is not for arguments, which everybody on the machine sees: set REDISCLI_AUTH")
	}
	goredis.SetLogger(noLines{})
	to.Password, to.ContextTimeoutEnabled, to.MaxRetries, to.DialerRetries = d.app.Getenv("REDISCLI_AUTH"), true, -1, 1
	o.More = append(o.More, func(ctx context.Context) []doctor.Line {
		client := goredis.NewClient(to)
		defer func() { _ = client.Close() }()
		return redis.Doctor(ctx, client, d.owner)
	})
	return nil
}

// noLines keeps the Redis client from writing lines of its own: what is wrong is in the report.
type noLines struct{}

// Printf does nothing.
func (noLines) Printf(context.Context, string, ...any) {}

// path is a file that a flag names, or one of the environment, which is below the working
// folder of its process.
func (d *doctorFlags) path(flag, variable string) string {
	switch {
	case flag != "":
		return flag
	case variable == "" || filepath.IsAbs(variable):
		return variable
	default:
		return filepath.Join(d.processFolder, variable)
	}
}

// built is when the sources of this program were committed; zero if it does not know.
func built() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, _ := time.Parse(time.RFC3339, s.Value)
			return at
		}
	}
	return time.Time{}
}

// postAlert sends a text, and returns nil once it was accepted.
func postAlert(ctx context.Context, rt http.RoundTripper, address, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: rt}).Do(r)
	if err != nil {
		return errors.New("no answer") // its text has the address, which may be a secret
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("answered %d", resp.StatusCode)
	}
	return nil
}

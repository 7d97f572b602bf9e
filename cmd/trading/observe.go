package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/observe"
	"github.com/tradingapi/trading-go/profile"
)

// observation is a verdict with its experiment in words.
type observation struct {
	Experiment  string              `json:"experiment"`
	Assumption  string              `json:"assumption,omitempty"`
	Environment profile.Environment `json:"environment"`
	Verdict     profile.Verdict     `json:"verdict"`
	Count       string              `json:"count,omitempty"`
	Says        string              `json:"says"`
	Why         string              `json:"why,omitempty"`
}

// begun is a visit that is still to be made.
type begun struct {
	Experiment string    `json:"experiment"`
	Due        time.Time `json:"due"`
}

// observationsView is what observe prints.
type observationsView struct {
	MeasuredAt time.Time        `json:"measuredAt"`
	Exchanges  int              `json:"exchanges"`
	Sources    []string         `json:"sources"`
	Passed     []string         `json:"passed,omitempty"`
	Results    []observation    `json:"results"`
	Measured   profile.Measured `json:"measured"`
	Changes    []profile.Change `json:"changes,omitempty"`
	Begun      []begun          `json:"begun,omitempty"`

	neither []observation
	proof   map[string][]profile.Exchange
}

// observer is the command's flags.
type observer struct {
	app     *cli.App
	service *cli.Service
	out     *cli.Output
	from    []string
	ask     []string
	due     bool
	yes     bool
	file    string
	against string
	asking  observe.Questions
}

func newObserve(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "observe", Short: "Judge what the service does where its document is silent", Args: cli.Args(),
		Long: `Judge what the service does where its document leaves room: by evidence that is there (--from),
or by asking (--ask).

--from takes audits, flight recordings, exchanges that were recorded from the service, and the
log of "trading sim". It sends nothing.

--ask read sends reads. --ask live also sends cancels of what cannot exist, 40 at the most and one
a second; they name an account of nobody, one that is FAILED or EXPIRED, or the one of --tradeable.
It takes four visits: now, after 1, 23 and 25 hours. --due makes the visit that is due.

--ask paper and --ask trial trade one market, about 15 dollars an order, one after another, and
leave the account flat: when they are interrupted too. What a run that was killed has left, the
next "trading observe --ask" closes first. They refuse an account that is not flat, and
--trial-account one that the service does not call a trial. The exit code is 5 if the account
may not be flat.

A verdict is first (the simulator's own reading, n of n), other, mixed (both were seen: the
worse holds), neither (something that no reading foresees), or unseen, with the reason. --profile
is the file of the verdicts so far, and what they are written to, with the exchanges that prove
them, without keys and ids. --against compares with an older file; the exit code is 6 if the
service answers otherwise now.`,
		Example: "  trading observe --from bot.audit.jsonl --profile service.json\n  trading observe --ask read --ask live --profile service.json\n  trading observe --due --profile service.json --yes",
	}
	o := &observer{app: app, service: app.Connection(cmd, 0), out: app.Output(cmd)}
	f := cmd.Flags()
	f.StringArrayVar(&o.from, "from", nil, "a file or a folder of evidence; repeat it for several")
	f.StringArrayVar(&o.ask, "ask", nil, "ask: read, live, paper or trial; repeat it for several")
	f.BoolVar(&o.due, "due", false, "make the visit that is due; nothing is sent if none is")
	f.BoolVar(&o.yes, "yes", false, "do not ask before anything is sent; required without a terminal")
	f.StringVar(&o.file, "profile", "", "the profile so far, if there is one, and where it is written (required to ask)")
	f.StringVar(&o.against, "against", "", "compare with this older profile")
	f.StringVar(&o.asking.Tradeable, "tradeable", "", "an active account that the cancels may name, where nothing rests or runs")
	f.StringVar(&o.asking.TrialAccount, "trial-account", "", "the trial account of --ask trial")
	f.StringVar(&o.asking.Symbol, "symbol", "BTC", "the market of --ask paper and --ask trial")
	f.StringVar(&o.asking.Journal, "journal", "", "the bot's journal: a pending write stops a visit (default $TRADING_JOURNAL)")
	f.StringVar(&o.asking.StateDir, "state-dir", "", "folder of the bot's protection: a halt stops a visit (default $TRADING_STATE_DIR)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) }
	return cmd
}

func (o *observer) run(ctx context.Context) error {
	asks := len(o.ask) > 0 || o.due
	switch {
	case !asks && len(o.from) == 0:
		return cli.Misuse("what shall be judged? give --from, --ask or --due")
	case asks && o.file == "":
		return cli.Misuse("--profile is missing: what is asked goes on over several visits")
	}
	var before *profile.Profile
	var err error
	if asks {
		if before, err = loaded(o.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	against, err := loaded(o.against)
	if err != nil {
		return err
	}
	evidence := &observe.Evidence{}
	var cut error // what has cut a visit short: what was seen until then counts
	if asks {
		if evidence, cut = o.visit(ctx, before); evidence == nil {
			return cut
		}
	}
	if len(o.from) > 0 {
		found, err := observe.Read(o.from...)
		if err != nil {
			return cli.WithCode(cli.Usage, err)
		}
		evidence.Add(found)
	}
	switch {
	case len(evidence.Exchanges) > 0:
		err = o.print(evidence, before, against)
	case cut == nil:
		err = cli.WithCode(cli.NotApplied, errors.New("there is no exchange in the evidence"))
	}
	if errors.Is(cut, errEarly) {
		return cmp.Or(err, cut)
	}
	return cmp.Or(cut, err)
}

// errEarly is the error of a visit that ended early.
var errEarly = errors.New("not everything was asked")

// loaded reads a profile, if one is named.
func loaded(path string) (*profile.Profile, error) {
	if path == "" {
		return nil, nil
	}
	p, err := profile.Load(path)
	if err != nil {
		return nil, cli.WithCode(cli.Usage, err)
	}
	return p, nil
}

// visit asks the service, after somebody has agreed. It returns nil where nothing is due.
func (o *observer) visit(ctx context.Context, before *profile.Profile) (*observe.Evidence, error) {
	base, sandbox, live, _, err := o.service.Settings(o.app)
	if err != nil {
		return nil, err
	}
	q := o.asking
	q.BaseURL, q.SandboxKey, q.LiveKey, q.SecondKey = base.Value, sandbox.Value, live.Value, o.app.Getenv("TRADING_SECOND_LIVE_KEY")
	q.Journal, q.StateDir = cmp.Or(q.Journal, o.app.Getenv("TRADING_JOURNAL")), cmp.Or(q.StateDir, o.app.Getenv("TRADING_STATE_DIR"))
	q.Before, q.Note, q.SecondSandboxKey = before, o.file+".open", o.app.Getenv("TRADING_SECOND_SANDBOX_KEY")
	if o.app.Transport != nil {
		q.Connect = func() http.RoundTripper { return o.app.Transport }
	}
	if q.Classes, err = o.classes(before); err != nil || len(q.Classes) == 0 {
		return nil, err
	}
	for _, line := range q.Plan() {
		o.app.Sayf("%s", line)
	}
	if !o.yes {
		if err := o.app.Confirm(ctx, "Ask "+cli.Printable(q.BaseURL)+"?"); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	e, err := observe.Ask(ctx, q)
	switch {
	case errors.As(err, new(*observe.NotDueError)):
		err = cli.WithCode(cli.NotApplied, err)
		if e.Writes+e.Trades == 0 && !slices.Contains(q.Classes, observe.Reads) {
			e = nil // it saw whose key it is, and nothing that judges
		}
	case errors.As(err, new(*observe.NotFlatError)):
		err = cli.WithCode(cli.NotFlat, err)
	case err != nil && ctx.Err() == nil:
		err = cli.WithCode(cli.Refused, err)
	}
	if e != nil {
		o.app.Sayf("sent: %d reads, %d cancels of what cannot exist, %d writes that trade, in %s", e.Reads, e.Writes, e.Trades, time.Since(began).Round(time.Second))
		if e.Ended != "" {
			o.app.Sayf("the visit ended early: %s", cli.PrintableLines(e.Ended))
			err = cmp.Or(err, cli.WithCode(cli.NotApplied, errEarly))
		}
	}
	return e, err
}

// classes are what is asked now.
func (o *observer) classes(before *profile.Profile) (all []observe.Class, err error) {
	for _, name := range o.ask {
		class := observe.Class(name)
		if !slices.Contains([]observe.Class{observe.Reads, observe.Locked, observe.OnPaper, observe.Trial}, class) {
			return nil, cli.Misuse("--ask takes read, live, paper or trial, not %q", name)
		}
		all = append(all, class)
	}
	if !o.due || slices.Contains(all, observe.Locked) {
		return all, nil
	}
	due, later := observe.Due(before, time.Now())
	if len(due) > 0 {
		return append(all, observe.Locked), nil
	}
	for _, b := range later {
		o.app.Sayf("%s is due at %s", b.Experiment, cli.Stamp(b.Due))
	}
	if len(all) == 0 {
		o.app.Sayf("nothing is due")
	}
	return all, nil
}

// print judges, writes the profile and prints it.
func (o *observer) print(evidence *observe.Evidence, before, against *profile.Profile) error {
	baseURL := o.service.BaseURL()
	if baseURL == "" {
		baseURL = o.app.Getenv("TRADING_BASE_URL")
	}
	p := observe.Judge(evidence, observe.About{BaseURL: baseURL, By: trading.Version, Before: before})
	if o.file != "" {
		if err := p.Save(o.file); err != nil {
			return err
		}
	}
	view := viewObservations(evidence, p)
	if against != nil {
		view.Changes = profile.Compare(against, p)
	}
	if err := o.out.Print(view, view.table); err != nil {
		return err
	}
	if len(view.Changes) > 0 {
		return cli.WithCode(cli.Breaking, errors.New("the service answers otherwise than it did"))
	}
	return nil
}

func viewObservations(evidence *observe.Evidence, p *profile.Profile) observationsView {
	v := observationsView{
		MeasuredAt: p.MeasuredAt, Exchanges: len(evidence.Exchanges), Sources: evidence.Sources, Passed: evidence.Passed,
		Results: []observation{}, Measured: p.Measured, proof: map[string][]profile.Exchange{},
	}
	for _, b := range p.Begun {
		v.Begun = append(v.Begun, begun{b.Experiment, b.Due})
	}
	for i := range observe.Experiments {
		x := &observe.Experiments[i]
		r, _ := p.Result(x.Number, x.Environment)
		o := observation{Experiment: x.Number, Assumption: x.Assumption, Environment: x.Environment, Verdict: r.Verdict, Says: x.First, Why: r.Why}
		switch r.Verdict {
		case profile.First:
			o.Count = fmt.Sprintf("%d of %d", r.CountFirst, r.N)
		case profile.Other:
			o.Says, o.Count = x.Other, fmt.Sprintf("%d of %d", r.CountOther, r.N)
		case profile.Mixed:
			o.Says, o.Count = x.First+"; also: "+x.Other, fmt.Sprintf("%d and %d of %d", r.CountFirst, r.CountOther, r.N)
		case profile.Unseen:
			if r.N > 0 {
				o.Count = fmt.Sprintf("%d so far", r.N)
			}
		case profile.Neither:
			o.Count = fmt.Sprintf("%d of %d", r.CountNeither, r.N)
			v.neither = append(v.neither, o)
			for _, place := range r.Proof {
				v.proof[x.Number] = append(v.proof[x.Number], p.Exchanges[place])
			}
		}
		v.Results = append(v.Results, o)
	}
	return v
}

// short is a time to a hundredth of a millisecond.
func short(d profile.Duration) time.Duration { return time.Duration(d).Round(10 * time.Microsecond) }

func (v observationsView) table(w io.Writer) {
	cli.Row(w, "", "IN", "VERDICT", "COUNT", "")
	var unseen []string
	for _, o := range v.Results {
		if o.Verdict == profile.Unseen {
			of := o.Experiment
			if o.Count != "" {
				of += " (" + o.Count + ")"
			}
			unseen = append(unseen, of)
			continue
		}
		cli.Row(w, o.Experiment, o.Environment, o.Verdict, o.Count, o.Says)
	}
	from := ""
	if len(v.Sources) > 0 {
		from = fmt.Sprintf(" of %d files", len(v.Sources))
	}
	fmt.Fprintf(w, "%d exchanges%s, measured at %s\n", v.Exchanges, from, cli.Stamp(v.MeasuredAt))
	fmt.Fprintf(w, "unseen, %d of %d: %s (-o json says why)\n", len(unseen), len(v.Results), strings.Join(unseen, " "))
	for _, operation := range slices.Sorted(maps.Keys(v.Measured.AnswerTime)) {
		s := v.Measured.AnswerTime[operation]
		cli.Row(w, operation, "", "", s.N, fmt.Sprintf("median %s, 99 percent below %s, most %s", short(s.Median), short(s.P99), short(s.Most)))
	}
	if s := v.Measured.ReadLag; s.N > 0 {
		cli.Row(w, "lag of reads", "", "", s.N, fmt.Sprintf("median %s, most %s", short(s.Median), short(s.Most)))
	}
	for _, passed := range v.Passed {
		cli.Row(w, "not read: "+passed)
	}
	for _, b := range v.Begun {
		cli.Row(w, b.Experiment, "", "due", "", cli.Stamp(b.Due))
	}
	if len(v.Begun) > 0 {
		fmt.Fprintln(w, "A verdict needs these visits too: trading observe --due, with the same --profile, each hour.")
	}
	for _, c := range v.Changes {
		cli.Row(w, "CHANGED  "+c.String())
	}
	for _, o := range v.neither {
		fmt.Fprintf(w, "\n!! NEITHER: %s (%s): %s\n", o.Experiment, o.Environment, cli.Printable(o.Why))
		cli.Row(w, "   one reading: "+o.Says)
		for _, x := range v.proof[o.Experiment] {
			cli.Row(w, fmt.Sprintf("   %s %s %s -> %d%s %s", cli.Stamp(x.At), x.Operation, x.Request, x.Status, map[bool]string{true: " (marked as stored)"}[x.Replayed], x.Response))
		}
		cli.Row(w, "   The client takes no verdict from such an answer. Report it, with the profile: it has the exchanges without keys and ids.")
	}
}

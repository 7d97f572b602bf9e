package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
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

// observationsView is what observe prints.
type observationsView struct {
	MeasuredAt time.Time        `json:"measuredAt"`
	Exchanges  int              `json:"exchanges"`
	Sources    []string         `json:"sources"`
	Passed     []string         `json:"passed,omitempty"`
	Results    []observation    `json:"results"`
	Measured   profile.Measured `json:"measured"`
	Changes    []profile.Change `json:"changes,omitempty"`

	neither []observation
	proof   map[string][]profile.Exchange
}

func newObserve(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "observe", Short: "What the service does where its document is silent, by evidence that is there", Args: cli.Args(),
		Long: `Judge what the service does where its document leaves room, by audits, flight recordings,
exchanges that were recorded from the service, and the log of "trading sim". It sends nothing.

A verdict is first (the simulator's own reading, n of n), other, mixed (both were seen: the
worse holds), neither (something that no reading foresees), or unseen, with the reason. --profile
writes them to a file, with the exchanges that prove them, without keys and ids. --against
compares with an older file; the exit code is 6 if the service answers otherwise now.`,
	}
	var from []string
	var baseURL, file, against string
	f := cmd.Flags()
	f.StringArrayVar(&from, "from", nil, "a file or a folder of evidence (required); repeat it for several")
	f.StringVar(&baseURL, "base-url", "", "root of the API that the evidence is of (default $TRADING_BASE_URL)")
	f.StringVar(&file, "profile", "", "write the profile to this file")
	f.StringVar(&against, "against", "", "compare with this older profile")
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.Require(cmd, "from"); err != nil {
			return err
		}
		if baseURL == "" {
			baseURL = app.Getenv("TRADING_BASE_URL")
		}
		return runObserve(out, from, observe.About{BaseURL: baseURL, By: trading.Version}, file, against)
	}
	return cmd
}

func runObserve(out *cli.Output, from []string, about observe.About, file, against string) error {
	var before *profile.Profile
	if against != "" {
		var err error
		if before, err = profile.Load(against); err != nil {
			return cli.WithCode(cli.Usage, err)
		}
	}
	evidence, err := observe.Read(from...)
	if err != nil {
		return cli.WithCode(cli.Usage, err)
	}
	if len(evidence.Exchanges) == 0 {
		return cli.WithCode(cli.NotApplied, errors.New("there is no exchange in the evidence"))
	}
	p := observe.Judge(evidence, about)
	if file != "" {
		if err := p.Save(file); err != nil {
			return err
		}
	}
	view := viewObservations(evidence, p)
	if before != nil {
		view.Changes = profile.Compare(before, p)
	}
	if err := out.Print(view, view.table); err != nil {
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

func (v observationsView) table(w io.Writer) {
	cli.Row(w, "", "IN", "VERDICT", "COUNT", "")
	var unseen []string
	for _, o := range v.Results {
		if o.Verdict == profile.Unseen {
			unseen = append(unseen, o.Experiment)
			continue
		}
		cli.Row(w, o.Experiment, o.Environment, o.Verdict, o.Count, o.Says)
	}
	fmt.Fprintf(w, "%d exchanges of %d files, the last of %s\n", v.Exchanges, len(v.Sources), cli.Stamp(v.MeasuredAt))
	fmt.Fprintf(w, "unseen, %d of %d: %s (-o json says why)\n", len(unseen), len(v.Results), strings.Join(unseen, " "))
	for _, operation := range slices.Sorted(maps.Keys(v.Measured.AnswerTime)) {
		s := v.Measured.AnswerTime[operation]
		cli.Row(w, operation, "", "", s.N, fmt.Sprintf("median %s, 99 percent below %s, most %s", time.Duration(s.Median), time.Duration(s.P99), time.Duration(s.Most)))
	}
	if s := v.Measured.ReadLag; s.N > 0 {
		cli.Row(w, "lag of reads", "", "", s.N, fmt.Sprintf("median %s, most %s", time.Duration(s.Median), time.Duration(s.Most)))
	}
	for _, passed := range v.Passed {
		cli.Row(w, "not read: "+passed)
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

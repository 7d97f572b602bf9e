package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/protect"
)

// compare orders results as scenarios does.
func compare(a, b result) int {
	return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.number(), b.number()), cmp.Compare(a.Mode, b.Mode))
}

// count is of the runs of one mode.
type count struct {
	lost, passed int
	within       int // lost, although no move was beyond the shock
	flattened    int
	falsely      int // flattened, and without protection it was not lost
	cost         decimal.Decimal
	causes       map[string]int
}

// tally counts runs, each made once in each mode.
type tally struct {
	runs         int
	by           []count // by mode
	inconsistent int
	failed       int
}

func newTally() tally { return tally{by: make([]count, len(modes))} }

// add counts the runs of one scenario, by mode.
func (t *tally) add(of []result) {
	t.runs++
	without := of[0]
	for _, r := range of {
		if !r.Balanced {
			t.inconsistent++
		}
		if r.Err != "" {
			t.failed++
		}
		t.by[r.Mode].add(without, r)
	}
}

func (c *count) add(without, r result) {
	if r.Lost {
		c.lost++
		if c.causes == nil {
			c.causes = map[string]int{}
		}
		c.causes[r.Cause]++
		if r.Cause == "drift" {
			c.within++
		}
	}
	if r.Passed {
		c.passed++
	}
	if held(r.State) {
		c.flattened++
		if !without.Lost {
			c.falsely++
		}
	}
	if !without.Lost {
		c.cost = c.cost.Add(without.Equity.Sub(r.Equity))
	}
}

// price is what a mode took, on average, of the equity of an account that was not lost
// without protection.
func (t *tally) price(of mode) decimal.Decimal {
	lived := t.runs - t.by[nothing].lost
	if lived == 0 {
		return decimal.Zero
	}
	return t.by[of].cost.DivRound(decimal.NewFromInt(int64(lived)), 0)
}

func held(s protect.State) bool {
	return s == protect.Held || s == protect.Flattening || s == protect.Stuck
}

// percent is n of all.
func percent(n, all int) string {
	if all == 0 {
		return "-"
	}
	return decimal.NewFromInt(int64(n*100)).DivRound(decimal.NewFromInt(int64(all)), 1).StringFixed(1) + " %"
}

// each hands the runs of each scenario to a function, that with nothing first.
func each(all []result, e experiment, f func(of []result)) {
	for of := range slices.Chunk(all, len(e.modes)) {
		f(of)
	}
}

// section is a table by one property.
type section struct {
	title string
	names []string
	of    func(result) int
}

func sections(e experiment) []section {
	named := func(n int, name func(int) string) (names []string) {
		for i := range n {
			names = append(names, name(i))
		}
		return names
	}
	return []section{
		{"jump", named(len(jumps), jumpName), func(r result) int { return r.Jump }},
		{"strategy", named(e.strategies, func(i int) string { return strategies[i].name }), func(r result) int { return r.Strategy }},
		{"market", named(len(kinds), func(i int) string { return kinds[i].name }), func(r result) int { return r.Market }},
		{"fault", named(len(faults), func(i int) string { return faults[i] }), func(r result) int { return r.Fault }},
		{"reading", named(len(readings), func(i int) string { return fmt.Sprint(readings[i]) }), func(r result) int { return slices.Index(readings, r.Reading) }},
	}
}

func jumpName(i int) string { return decimal.New(jumps[i], -2).String() + " %" }

// table is the report as text.
func table(all []result, s settings) string {
	var text strings.Builder
	e, whole := s.experiment(), newTally()
	each(all, e, whole.add)
	fmt.Fprintf(&text, "%d runs in each of %d modes, of %d virtual seconds; %d seeds.\n", whole.runs, len(e.modes), s.length, s.seeds)
	text.WriteString("Assumed: shock 0.5 %, gap 2 %, and 0.5 % of the balance is kept; half and a quarter of that where the mode says so.\n")
	text.WriteString("false: flattened, though the account without protection was not lost.\n")
	text.WriteString("cost: what protection took of the equity of an account that was not lost without it, on average.\n\n")
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "mode\truns\tlost\tby drift\tpassed\tflattened\tfalse\tcost $\t\n")
	for _, m := range e.modes {
		c := whole.by[m]
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t\n", modes[m], whole.runs, percent(c.lost, whole.runs), c.within,
			percent(c.passed, whole.runs), percent(c.flattened, whole.runs), percent(c.falsely, whole.runs), whole.price(m))
	}
	_ = w.Flush() // a builder never fails
	fmt.Fprintf(&text, "\nBelow, passed, flattened, false and cost are of: %s.\n", e.shown)
	for _, part := range sections(e) {
		part.write(&text, all, e)
	}
	for _, m := range e.modes[1:] {
		fmt.Fprintf(&text, "\nLost with %s, by the largest move of a second within 20 seconds before:\n", modes[m])
		for _, cause := range slices.Sorted(maps.Keys(whole.by[m].causes)) {
			fmt.Fprintf(&text, "  %s: %d\n", cause, whole.by[m].causes[cause])
		}
	}
	fmt.Fprintf(&text, "\nRuns whose balance the harness and the service disagree about: %d. Runs that failed: %d.\n", whole.inconsistent, whole.failed)
	return text.String()
}

// write writes the table of a section.
func (part section) write(text *strings.Builder, all []result, e experiment) {
	tallies := make([]tally, len(part.names))
	for i := range tallies {
		tallies[i] = newTally()
	}
	each(all, e, func(of []result) { tallies[part.of(of[0])].add(of) })
	text.WriteString("\n")
	w := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\truns", part.title)
	for _, m := range e.modes {
		fmt.Fprintf(w, "\tlost: %s", m)
	}
	fmt.Fprint(w, "\tpassed\tflattened\tfalse\tcost $\t\n")
	for i, t := range tallies {
		fmt.Fprintf(w, "%s\t%d", part.names[i], t.runs)
		for _, m := range e.modes {
			fmt.Fprintf(w, "\t%s", percent(t.by[m].lost, t.runs))
		}
		both := t.by[e.shown]
		fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\t\n", percent(both.passed, t.runs), percent(both.flattened, t.runs), percent(both.falsely, t.runs), t.price(e.shown))
	}
	_ = w.Flush() // a builder never fails
}

// csvOf has a line for each run.
func csvOf(all []result) string {
	var text strings.Builder
	text.WriteString("seed,strategy,market,jump_bps,fault,reading,mode,lost,cause,passed,equity,lowest,state,refused,service,balanced,error\n")
	for _, r := range all {
		fmt.Fprintf(&text, "%d,%q,%s,%d,%s,%d,%q,%t,%s,%t,%s,%s,%s,%d,%s,%t,%q\n",
			r.Seed, strategies[r.Strategy].name, kinds[r.Market].name, jumps[r.Jump], faults[r.Fault], r.Reading, r.Mode.String(),
			r.Lost, r.Cause, r.Passed, r.Equity.StringFixed(2), r.Lowest.StringFixed(2), r.State, r.Refused, r.Service, r.Balanced, r.Err)
	}
	return text.String()
}

// colors are of the modes in the picture.
var colors = []string{"#c0392b", "#ca6f1e", "#7d3c98", "#909497", "#2471a3", "#5dade2", "#aed6f1", "#1e8449"}

// picture draws the lost accounts by the size of the jumps and by mode.
func picture(all []result, e experiment) string {
	tallies := make([]tally, len(jumps))
	for i := range tallies {
		tallies[i] = newTally()
	}
	each(all, e, func(of []result) { tallies[of[0].Jump].add(of) })
	var svg strings.Builder
	const width, height, base, top, group, bar = 980, 320, 270, 60, 155, 20
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&svg, `<text x="40" y="20" font-size="14">Accounts lost, by the size of sudden jumps (percent of %d runs in each mode)</text>`+"\n", len(all)/len(e.modes))
	for i, m := range e.modes {
		x := 40 + i*130
		fmt.Fprintf(&svg, `<rect x="%d" y="29" width="10" height="10" fill="%s"/><text x="%d" y="38">%s</text>`+"\n", x, colors[m], x+15, m)
	}
	fmt.Fprintf(&svg, `<line x1="40" y1="%d" x2="%d" y2="%d" stroke="black"/>`+"\n", base, width-20, base)
	for i, t := range tallies {
		x := 50 + i*group
		for m, of := range e.modes {
			if t.runs == 0 {
				continue
			}
			c := t.by[of]
			h := c.lost * (base - top) / t.runs
			fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, x+m*bar, base-h, bar-2, h, colors[of])
			fmt.Fprintf(&svg, `<text x="%d" y="%d" font-size="9" text-anchor="middle">%s</text>`+"\n", x+m*bar+bar/2-1, base-h-3, strings.TrimSuffix(percent(c.lost, t.runs), " %"))
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x+len(e.modes)*bar/2, base+18, jumpName(i))
	}
	fmt.Fprintf(&svg, `<text x="40" y="%d">The assumed shock is 0.5 %%. Lost: equity at or below the loss floor at any second.</text>`+"\n", height-8)
	svg.WriteString("</svg>\n")
	return svg.String()
}

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
	with := func(r result) int {
		if r.Protected {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.number(), b.number()), cmp.Compare(with(a), with(b)))
}

// tally counts pairs of runs.
type tally struct {
	runs         int
	lost, saved  [2]int // without, with: lost; passed
	within       int    // lost with protection, although no move was beyond the shock
	flattened    int
	falsely      int // flattened, and the twin was not lost
	cost         decimal.Decimal
	causes       map[string]int
	inconsistent int
	failed       int
}

// add counts a run without protection and its twin with it.
func (t *tally) add(without, with result) {
	t.runs++
	if t.causes == nil {
		t.causes = map[string]int{}
	}
	for i, r := range []result{without, with} {
		if r.Lost {
			t.lost[i]++
		}
		if r.Passed {
			t.saved[i]++
		}
		if !r.Balanced {
			t.inconsistent++
		}
		if r.Err != "" {
			t.failed++
		}
	}
	if with.Lost {
		t.causes[with.Cause]++
		if with.Cause == "drift" {
			t.within++
		}
	}
	if held(with.State) {
		t.flattened++
		if !without.Lost {
			t.falsely++
		}
	}
	if !without.Lost {
		t.cost = t.cost.Add(without.Equity.Sub(with.Equity))
	}
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

// pairs hands each run and its twin to a function.
func pairs(all []result, f func(without, with result)) {
	for i := 0; i+1 < len(all); i += 2 {
		f(all[i], all[i+1])
	}
}

// section is a table by one property.
type section struct {
	title string
	names []string
	of    func(result) int
}

func sections() []section {
	named := func(n int, name func(int) string) (names []string) {
		for i := range n {
			names = append(names, name(i))
		}
		return names
	}
	return []section{
		{"all", []string{"all"}, func(result) int { return 0 }},
		{"jump", named(len(jumps), jumpName), func(r result) int { return r.Jump }},
		{"strategy", named(len(strategies), func(i int) string { return strategies[i].name }), func(r result) int { return r.Strategy }},
		{"market", named(len(kinds), func(i int) string { return kinds[i].name }), func(r result) int { return r.Market }},
		{"fault", named(len(faults), func(i int) string { return faults[i] }), func(r result) int { return r.Fault }},
		{"reading", named(len(readings), func(i int) string { return fmt.Sprint(readings[i]) }), func(r result) int { return slices.Index(readings, r.Reading) }},
	}
}

func jumpName(i int) string { return decimal.New(jumps[i], -2).String() + " %" }

// table is the report as text.
func table(all []result, s settings) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d runs without protection and %d with it, of %d virtual seconds; %d seeds.\n", len(all)/2, len(all)/2, s.length, s.seeds)
	text.WriteString("Assumed: shock 0.5 %, gap 2 %. false: flattened, though the account without protection was not lost.\n")
	text.WriteString("cost: what protection took of the equity of an account that was not lost without it, on average.\n")
	var whole tally
	for _, part := range sections() {
		counts := make([]tally, len(part.names))
		pairs(all, func(without, with result) { counts[part.of(with)].add(without, with) })
		text.WriteString("\n")
		w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "%s\truns\tlost without\tlost with\tby drift\tpassed without\tpassed with\tflattened\tfalse\tcost $\t\n", part.title)
		for i, t := range counts {
			cost := decimal.Zero
			if lived := t.runs - t.lost[0]; lived > 0 {
				cost = t.cost.DivRound(decimal.NewFromInt(int64(lived)), 0)
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t\n", part.names[i], t.runs,
				percent(t.lost[0], t.runs), percent(t.lost[1], t.runs), t.within, percent(t.saved[0], t.runs), percent(t.saved[1], t.runs),
				percent(t.flattened, t.runs), percent(t.falsely, t.runs), cost)
		}
		_ = w.Flush() // a builder never fails
		if part.title == "all" {
			whole = counts[0]
		}
	}
	text.WriteString("\nLost with protection, by the largest move of a second within 20 seconds before:\n")
	for _, cause := range slices.Sorted(maps.Keys(whole.causes)) {
		fmt.Fprintf(&text, "  %s: %d\n", cause, whole.causes[cause])
	}
	fmt.Fprintf(&text, "Runs whose balance the harness and the service disagree about: %d. Runs that failed: %d.\n", whole.inconsistent, whole.failed)
	return text.String()
}

// csvOf has a line for each run.
func csvOf(all []result) string {
	var text strings.Builder
	text.WriteString("seed,strategy,market,jump_bps,fault,reading,protected,lost,cause,passed,equity,lowest,state,refused,service,balanced,error\n")
	for _, r := range all {
		fmt.Fprintf(&text, "%d,%q,%s,%d,%s,%d,%t,%t,%s,%t,%s,%s,%s,%d,%s,%t,%q\n",
			r.Seed, strategies[r.Strategy].name, kinds[r.Market].name, jumps[r.Jump], faults[r.Fault], r.Reading, r.Protected,
			r.Lost, r.Cause, r.Passed, r.Equity.StringFixed(2), r.Lowest.StringFixed(2), r.State, r.Refused, r.Service, r.Balanced, r.Err)
	}
	return text.String()
}

// picture draws the lost accounts by the size of the jumps.
func picture(all []result) string {
	counts := make([]tally, len(jumps))
	pairs(all, func(without, with result) { counts[with.Jump].add(without, with) })
	var svg strings.Builder
	const width, height, base, top, group = 640, 320, 270, 50, 95
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&svg, `<text x="40" y="20" font-size="14">Accounts lost, by the size of sudden jumps (percent of %d runs)</text>`+"\n", len(all)/2)
	svg.WriteString(`<rect x="40" y="29" width="10" height="10" fill="#c0392b"/><text x="55" y="38">without protection</text>` + "\n")
	svg.WriteString(`<rect x="190" y="29" width="10" height="10" fill="#2471a3"/><text x="205" y="38">with it</text>` + "\n")
	svg.WriteString(`<rect x="280" y="29" width="10" height="10" fill="#b2babb"/><text x="295" y="38">flattened although it would have lived</text>` + "\n")
	fmt.Fprintf(&svg, `<line x1="40" y1="%d" x2="620" y2="%d" stroke="black"/>`+"\n", base, base)
	for i, t := range counts {
		x := 50 + i*group
		for bar, n := range []int{t.lost[0], t.lost[1], t.falsely} {
			if t.runs == 0 {
				continue
			}
			h := n * (base - top) / t.runs
			color := [...]string{"#c0392b", "#2471a3", "#b2babb"}[bar]
			fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="22" height="%d" fill="%s"/>`, x+bar*26, base-h, h, color)
			fmt.Fprintf(&svg, `<text x="%d" y="%d" font-size="9" text-anchor="middle">%s</text>`+"\n", x+bar*26+11, base-h-3, strings.TrimSuffix(percent(n, t.runs), " %"))
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", x+37, base+18, jumpName(i))
	}
	fmt.Fprintf(&svg, `<text x="40" y="%d">The assumed shock is 0.5 %%. Lost: equity at or below the loss floor at any second.</text>`+"\n", height-8)
	svg.WriteString("</svg>\n")
	return svg.String()
}

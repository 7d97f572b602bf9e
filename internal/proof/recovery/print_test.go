package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// original reports whether a cell is one of the 180 that the protocol was first counted by.
func (c cell) original() bool {
	return c.state.name != "running run" && c.fault.name != "part-way, before" && c.restart != inProcess
}

// String prints a table: a line for each fault, a group for each restart, and in it a
// sign for each state.
func (tab *table) String() string {
	var b strings.Builder
	var names []string
	for _, c := range tab.cells {
		if !slices.Contains(names, c.state.name) {
			names = append(names, c.state.name)
		}
	}
	decided, wrong, original, ofOriginal := 0, 0, 0, 0
	reasons := map[string][]string{}
	at := map[string]verdict{}
	for i, c := range tab.cells {
		v := tab.result[i]
		at[c.String()] = v
		if c.original() {
			original++
		}
		if c.original() && v.decided() {
			ofOriginal++
		}
		switch {
		case v.wrong != "":
			wrong++
		case v.decided():
			decided++
		default:
			why := fmt.Sprint(v.Err)
			reasons[why] = append(reasons[why], strings.TrimPrefix(c.String(), c.write.name+", "))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d of %d decided, %d wrong; %d of %d after a restart, part-way counted once, without runs\n",
		tab.title, decided, len(tab.cells), wrong, ofOriginal, original)
	fmt.Fprintf(&b, "%-24s", "")
	for _, r := range restarts {
		fmt.Fprintf(&b, "%-*s", 6*len(names)+1, nameOf(r))
	}
	fmt.Fprintln(&b)
	for _, f := range faults {
		fmt.Fprintf(&b, "%-24s", f.name)
		for _, r := range restarts {
			for _, n := range names {
				c := cell{write: tab.cells[0].write, state: state{name: n}, fault: f, restart: r}
				fmt.Fprintf(&b, "%-6s", sign(at, c))
			}
			fmt.Fprint(&b, " ")
		}
		fmt.Fprintln(&b)
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&b, "  %d not decided: %s\n", len(reasons[why]), why)
		if *fullMatrix {
			fmt.Fprintf(&b, "      %s\n", strings.Join(reasons[why], "; "))
		}
	}
	return b.String()
}

func sign(at map[string]verdict, c cell) string {
	v, ok := at[c.String()]
	switch {
	case !ok:
		return "."
	case v.wrong != "":
		return "WRONG"
	case !v.decided():
		return "?"
	}
	if v.took < time.Minute {
		return fmt.Sprintf("%.0fs", v.took.Seconds())
	}
	return fmt.Sprintf("%.0fm", v.took.Minutes())
}

package recovery

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var (
	printMatrix = flag.Bool("matrix.print", false, "run every cell and print the table")
	fullMatrix  = flag.Bool("matrix.full", false, "run every cell")
)

// table is one matrix: all cells of one write on one kind of account.
type table struct {
	title  string
	cells  []cell
	result []verdict
}

func cellsOf(w write, of []state, kind cell) (cells []cell) {
	for _, s := range of {
		if len(w.states) > 0 && !slices.Contains(w.states, s.name) {
			continue
		}
		for _, f := range faults {
			for _, r := range restarts {
				if f.kill && r == inProcess {
					continue
				}
				c := kind
				c.write, c.state, c.fault, c.restart = w, s, f, r
				cells = append(cells, c)
			}
		}
	}
	return cells
}

func tables() (all []*table) {
	add := func(w write, of []state, name string, kind cell) {
		all = append(all, &table{title: w.name + ", " + name, cells: cellsOf(w, of, kind)})
	}
	for _, w := range writes {
		add(w, states, "declared", cell{exclusive: true})
		add(w, states, "not declared", cell{})
		add(w, states, "not declared, somebody else trades as much", cell{beside: true})
		add(w, states, "declared, closed trades without sizes and times", cell{exclusive: true, bare: true})
		for _, l := range lagsApart {
			add(w, states, fmt.Sprintf("declared, positions %s behind and trades %s", l[0], l[1]), cell{exclusive: true, lags: l})
		}
	}
	add(writes[0], busyStates, "declared, beside own orders that trade", cell{exclusive: true})
	add(writes[0], states, "declared, state of an earlier run", cell{exclusive: true, inherited: true})
	add(writes[0], states, "declared, state of an earlier run, a second after the start", cell{exclusive: true, inherited: true, soon: true})
	return append(all, accidentTables()...)
}

// sampled reports whether a cell is played without a flag. They take turns, so that
// each fault, state and restart is among them.
func sampled(tab, i int) bool {
	switch {
	case *printMatrix || *fullMatrix:
		return true
	case depth.Race:
		return i%29 == tab%29
	case tab < 2:
		return true
	case tab >= plainTables:
		return i%53 == tab%53
	default:
		return i%11 == tab%11
	}
}
func TestMatrix(t *testing.T) {
	for n, tab := range tables() {
		t.Run(tab.title, func(t *testing.T) {
			tab.result = make([]verdict, len(tab.cells))
			for i, c := range tab.cells {
				if !sampled(n, i) {
					continue
				}
				play := func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { tab.result[i] = c.run(t) })
					v := &tab.result[i]
					assert.Empty(t, v.wrong, c)
					assert.Equal(t, v.expected, v.decided(), "%s: decided, by %s: %v", c, v.Evidence, v.Err)
					if v.decided() {
						assert.LessOrEqual(t, v.took, c.patience(v.Evidence), "%s: by %s", c, v.Evidence)
					}
				}
				if *printMatrix { // no line for each cell
					play(t)
				} else {
					t.Run(c.String(), play)
				}
			}
			if *printMatrix {
				fmt.Println(tab)
			}
		})
	}
}

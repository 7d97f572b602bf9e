// Package defects is the table of what searches have found: each as the seed that shows it again where the
// code that mends it is left out. The searches play the seeds of their own with every run.
package defects

import (
	"fmt"
	"strings"
)

// Defect is one of them.
type Defect struct {
	Suite string // the folder of the search
	Play  string // what it plays: parts of it are apart by " | "
	Seed  uint64
	Was   string // what was wrong

	File, Rule, Without string // the code that mends it, and what shows the defect again
}

// Of are those of a search.
func Of(suite string) (list []Defect) {
	for _, d := range table {
		if d.Suite == suite {
			list = append(list, d)
		}
	}
	return list
}

// Parts are those of what is played.
func (d *Defect) Parts() []string { return strings.Split(d.Play, " | ") }

// String names a defect.
func (d *Defect) String() string { return fmt.Sprintf("%s | %d", d.Play, d.Seed) }

package contract

import (
	"cmp"
	"maps"
	"slices"
)

// maxWork bounds how many nodes are looked at. Each operation looks at each pair
// of schemas once, so that a description made for it could cost the square of its
// size. The project's own takes nine thousand.
const maxWork = 200_000

// comparison collects what differs between two descriptions.
type comparison struct {
	was, is   *document
	operation string // that is looked at
	seen      map[pair]bool
	found     map[finding][]string // to the operations
	work      int
}

type finding struct {
	where, what string
	breaking    bool
}

// pair is two schemas that were compared, in a direction.
type pair struct {
	was, is uintptr
	way     way
}

func newComparison(was, is *document) *comparison {
	return &comparison{was: was, is: is, found: map[finding][]string{}}
}

func (c *comparison) note(breaking bool, where, what string) {
	key := finding{where, what, breaking}
	operations := c.found[key]
	if c.operation != "" && !slices.Contains(operations, c.operation) {
		operations = append(operations, c.operation)
	}
	c.found[key] = operations
}

// spend counts steps, and ends a comparison that takes too many.
func (c *comparison) spend(steps int) error {
	if c.work += steps; c.work > maxWork {
		return invalid("it would take more than %d steps to compare", maxWork)
	}
	return nil
}

func (c *comparison) changes() []Change {
	var all []Change
	for key, operations := range c.found {
		slices.Sort(operations)
		all = append(all, Change{
			Where: key.where, What: key.what, Breaking: key.breaking,
			Operations: operations,
		})
	}
	slices.SortFunc(all, func(a, b Change) int {
		switch {
		case a.Breaking != b.Breaking && a.Breaking:
			return -1
		case a.Breaking != b.Breaking:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return all
}

// both walks the names of two objects, sorted: those of either, once.
func both(a, b object) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

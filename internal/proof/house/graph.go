package house

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Arrow says that one file uses what another declares.
type Arrow struct{ From, To string }

// Graph is how the files of a package use each other.
type Graph struct {
	Files []string
	uses  map[Arrow]map[string]bool
}

func (g *Graph) add(from, to, name string) {
	if from == to {
		return
	}
	a := Arrow{from, to}
	if g.uses[a] == nil {
		g.uses[a] = map[string]bool{}
	}
	g.uses[a][name] = true
}

// Arrows returns all arrows, sorted.
func (g *Graph) Arrows() []Arrow { return g.within(g.Files) }

// Describe names an arrow and what the first file uses of the second.
func (g *Graph) Describe(a Arrow) string {
	return fmt.Sprintf("%s -> %s: %s", a.From, a.To, strings.Join(slices.Sorted(maps.Keys(g.uses[a])), ", "))
}

// within returns the arrows between some files, sorted.
func (g *Graph) within(files []string) []Arrow {
	var arrows []Arrow
	for a := range g.uses {
		if slices.Contains(files, a.From) && slices.Contains(files, a.To) {
			arrows = append(arrows, a)
		}
	}
	slices.SortFunc(arrows, func(a, b Arrow) int {
		return strings.Compare(a.From+" "+a.To, b.From+" "+b.To)
	})
	return arrows
}

// Circles returns the strongly connected components of more than one file, the
// largest first, each sorted.
func (g *Graph) Circles() [][]string {
	next := map[string][]string{}
	for a := range g.uses {
		next[a.From] = append(next[a.From], a.To)
	}
	reached := map[string]map[string]bool{}
	for _, file := range g.Files {
		reached[file] = reach(next, file)
	}
	var circles [][]string
	seen := map[string]bool{}
	for _, file := range slices.Sorted(slices.Values(g.Files)) {
		if seen[file] || !reached[file][file] {
			continue
		}
		var circle []string
		for other := range reached[file] {
			if reached[other][file] {
				circle = append(circle, other)
				seen[other] = true
			}
		}
		slices.Sort(circle)
		circles = append(circles, circle)
	}
	slices.SortStableFunc(circles, func(a, b []string) int { return len(b) - len(a) })
	return circles
}

// reach returns the files that a file uses, directly or not.
func reach(next map[string][]string, from string) map[string]bool {
	found := map[string]bool{}
	for open := slices.Clone(next[from]); len(open) > 0; {
		file := open[len(open)-1]
		open = open[:len(open)-1]
		if !found[file] {
			found[file] = true
			open = append(open, next[file]...)
		}
	}
	return found
}

// Back returns the arrows of a circle that run against its order, which is the one
// found with the fewest of them: without these arrows there is no circle. The search
// is a heuristic, so that fewer can be enough.
func (g *Graph) Back(circle []string) []Arrow {
	place := map[string]int{}
	for i, file := range g.order(circle) {
		place[file] = i
	}
	return slices.DeleteFunc(g.within(circle), func(a Arrow) bool { return place[a.From] < place[a.To] })
}

// order puts users before what they use, as far as a circle allows: it moves one file
// at a time to where the fewest arrows run back, until no move helps.
func (g *Graph) order(circle []string) []string {
	net := func(file string) int { // uses more than it is used
		n := 0
		for _, a := range g.within(circle) {
			switch file {
			case a.From:
				n++
			case a.To:
				n--
			}
		}
		return n
	}
	nets := map[string]int{}
	for _, file := range circle {
		nets[file] = net(file)
	}
	order := slices.Clone(circle)
	slices.SortStableFunc(order, func(a, b string) int { return nets[b] - nets[a] })
	for moved := true; moved; {
		moved = false
		for _, file := range slices.Clone(order) {
			moved = g.moveBest(order, file) || moved
		}
	}
	return order
}

// moveBest moves a file to its best place and reports whether that is better than
// where it was.
func (g *Graph) moveBest(order []string, file string) bool {
	at := slices.Index(order, file)
	best, bestGain := at, 0
	for _, step := range []int{-1, 1} {
		gain := 0
		for i := at + step; i >= 0 && i < len(order); i += step {
			_, uses := g.uses[Arrow{file, order[i]}]
			_, used := g.uses[Arrow{order[i], file}]
			switch {
			case uses && !used:
				gain -= step
			case used && !uses:
				gain += step
			}
			if gain > bestGain {
				best, bestGain = i, gain
			}
		}
	}
	if best == at {
		return false
	}
	copy(order[at:], order[at+1:])
	copy(order[best+1:], order[best:len(order)-1])
	order[best] = file
	return true
}

package house

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const listFile = "testdata/circles.txt"

var update = flag.Bool("update", false, "write "+listFile+" anew where circles have shrunk")

func TestNoNewCircle(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command, to find what it compiled")
	}
	g, err := Load("../../..")
	require.NoError(t, err)
	require.NotEmpty(t, g.Arrows())
	text, err := os.ReadFile(listFile)
	require.NoError(t, err)
	allowed := parseCircles(string(text))
	grown, shrunk := compare(g, allowed)
	if len(grown) == 0 && len(shrunk) > 0 && *update {
		require.NoError(t, os.WriteFile(listFile, []byte(formatCircles(string(text), g.Circles())), 0o600))
		return
	}
	for _, failure := range append(grown, shrunk...) {
		t.Error(failure)
	}
}

// compare returns where the circles go beyond the listed ones, and where the list goes
// beyond the circles.
func compare(g *Graph, allowed [][]string) (grown, shrunk []string) {
	circles := g.Circles()
	for _, circle := range circles {
		if !slices.ContainsFunc(allowed, func(of []string) bool { return contains(of, circle) }) {
			grown = append(grown, describe(g, circle, allowed))
		}
	}
	for _, list := range allowed {
		if !slices.ContainsFunc(circles, func(c []string) bool { return slices.Equal(c, list) }) {
			shrunk = append(shrunk, fmt.Sprintf("%s lists a circle that is smaller now, or gone; run this test with -update:\n\t%s",
				listFile, strings.Join(list, " ")))
		}
	}
	return grown, shrunk
}

// describe says which arrows close a circle: where it has grown out of a listed one,
// those of the files that are new in it.
func describe(g *Graph, circle []string, allowed [][]string) string {
	added := slices.Clone(circle)
	for _, list := range allowed {
		added = slices.DeleteFunc(added, func(file string) bool { return slices.Contains(list, file) })
	}
	arrows := g.Back(circle)
	what := "files that use each other in a circle; cut these arrows"
	if len(added) > 0 && len(added) < len(circle) {
		what = strings.Join(added, ", ") + " joined a circle; cut the arrows into it, or those out of it"
		arrows = slices.DeleteFunc(g.within(circle), func(a Arrow) bool {
			return !slices.Contains(added, a.From) && !slices.Contains(added, a.To)
		})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:", what)
	for _, a := range arrows {
		fmt.Fprintf(&text, "\n\t%s", g.Describe(a))
	}
	return text.String()
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(file string) bool { return !slices.Contains(all, file) })
}

// parseCircles reads a list: a file a line, a blank line between circles, and # before
// a comment.
func parseCircles(text string) [][]string {
	var circles [][]string
	var circle []string
	end := func() {
		if len(circle) > 0 {
			slices.Sort(circle)
			circles = append(circles, circle)
		}
		circle = nil
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			end()
		case !strings.HasPrefix(line, "#"):
			circle = append(circle, line)
		}
	}
	end()
	return circles
}

// formatCircles writes a list, below the comment at the head of the old one.
func formatCircles(old string, circles [][]string) string {
	var text strings.Builder
	for line := range strings.Lines(old) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		text.WriteString(line)
	}
	for _, circle := range circles {
		text.WriteString("\n" + strings.Join(circle, "\n") + "\n")
	}
	return text.String()
}

// made returns a graph of arrows such as "a b", each with one use.
func made(arrows ...string) *Graph {
	g := &Graph{uses: map[Arrow]map[string]bool{}}
	for _, arrow := range arrows {
		from, to, _ := strings.Cut(arrow, " ")
		g.add(from, to, "name")
		for _, file := range []string{from, to} {
			if !slices.Contains(g.Files, file) {
				g.Files = append(g.Files, file)
			}
		}
	}
	return g
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name          string
		arrows        []string
		allowed       [][]string
		grown, shrunk string // part of the failure, empty for none
	}{
		{name: "no circle", arrows: []string{"a b", "b c", "a c"}},
		{name: "a file uses itself", arrows: []string{"a a", "a b"}},
		{name: "a listed circle", arrows: []string{"a b", "b a"}, allowed: [][]string{{"a", "b"}}},
		{name: "a new circle", arrows: []string{"a b", "b c", "c a"}, grown: "cut these arrows:\n\t"},
		{
			name: "a file joins", arrows: []string{"a b", "b a", "b c", "c a"}, allowed: [][]string{{"a", "b"}},
			grown: "c joined a circle; cut the arrows into it, or those out of it:\n\tb -> c: name\n\tc -> a: name", shrunk: "a b",
		},
		{
			name: "two circles become one", arrows: []string{"a b", "b a", "c d", "d c", "a c", "c a"},
			allowed: [][]string{{"a", "b"}, {"c", "d"}}, grown: "cut these arrows", shrunk: "a b",
		},
		{name: "a circle shrinks", arrows: []string{"a b", "b a", "b c"}, allowed: [][]string{{"a", "b", "c"}}, shrunk: "a b c"},
		{name: "a circle is gone", arrows: []string{"a b"}, allowed: [][]string{{"a", "b"}}, shrunk: "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			grown, shrunk := compare(made(c.arrows...), c.allowed)
			for want, got := range map[string][]string{"grown " + c.grown: grown, "shrunk " + c.shrunk: shrunk} {
				if _, part, _ := strings.Cut(want, " "); part == "" {
					require.Empty(t, got, want)
				} else {
					require.Contains(t, strings.Join(got, "\n"), part)
				}
			}
		})
	}
}

func TestBackLeavesNoCircle(t *testing.T) {
	g := made("a b", "b c", "c d", "d a", "b a", "d b", "c a")
	require.Len(t, g.Circles(), 1)
	back := g.Back(g.Circles()[0])
	require.Len(t, back, 2, "%v", back)
	for _, a := range back {
		delete(g.uses, a)
	}
	require.Empty(t, g.Circles())
}

func TestListIsReadAsItIsWritten(t *testing.T) {
	circles := [][]string{{"a.go", "b.go"}, {"c.go", "d.go"}}
	text := formatCircles("# head\n\nold.go\n", circles)
	require.Equal(t, "# head\n\na.go\nb.go\n\nc.go\nd.go\n", text)
	require.Equal(t, circles, parseCircles(text))
}

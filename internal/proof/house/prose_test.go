package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A habit is what this project does not write, and what it writes instead. It looks for
// words with a private meaning, and for phrases that a reader has to read twice.
type habit struct{ pattern, better string }

var habits = []habit{
	{`\b(unsettled|settlements?)\b`, "pending, resolution: a settlement is of money"},
	{`\bbudgets?\b`, "rate limit: a budget is of losses"},
	{`\b(lane|lanes)\b`, "priority"},
	{`\b(airborne|in mid-air)\b`, "in flight, sent"},
	{`\b(foremost)\b`, "next"},
	{`\b(tells|told)\b`, "says, shows, reports, returns"},
	{`\b(edge page|edge pages)\b`, "a page of a gateway"},
	{`\b(come|comes|came) to nothing\b`, "fail, does not happen"},
	{`\banswer and no error\b`, "a normal result, not an error"},
	{`\bof then\b`, "of that time"},
	{`\bcannot be had\b`, "is missing, failed"},
	{`\bwas given no\b`, "no … configured"},
	{`\b(sole actor|soleactor)\b`, "exclusive account"},
	{`\bunhalt\b`, "resume"},
	{`\balways knows which\b`, "finds out which"},
	{`\b(utilise|utilize|leverage[sd]? the|in order to|please note|simply|obviously)\b`, "the plain word, or none"},
}

var bans = func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, h := range habits {
		all = append(all, regexp.MustCompile(`(?i)`+h.pattern))
	}
	return all
}()

// faults are where a text has a habit, as lines.
func faults(where, text string) (found []string) {
	for i, ban := range bans {
		for _, at := range ban.FindAllStringIndex(text, -1) {
			line := 1 + strings.Count(text[:at[0]], "\n")
			found = append(found, where+": "+strings.TrimSpace(lineOf(text, line))+": "+text[at[0]:at[1]]+": better: "+habits[i].better)
		}
	}
	return found
}

func lineOf(text string, n int) string { return strings.Split(text, "\n")[n-1] }

// exempt are files whose subject is a word that is not used elsewhere.
var exempt = map[string]bool{
	"CHANGELOG.md":                       true, // old names
	"internal/proof/house/prose_test.go": true,
}

// Pages, comments and texts of the code hold to plain words. Tests may say what they like.
func TestProse(t *testing.T) {
	for _, file := range tracked(t, "*.md", "*.go", "*.yml") {
		generated := strings.HasSuffix(file, ".gen.go") || strings.HasPrefix(file, "bench/internal/")
		if exempt[file] || generated || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, fault := range faultsOf(t, file) {
			t.Error(fault)
		}
	}
}

func faultsOf(t *testing.T, file string) (found []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "..", file))
	if os.IsNotExist(err) {
		return nil // deleted, and not committed yet
	}
	require.NoError(t, err)
	if filepath.Ext(file) != ".go" {
		return faults(file, string(source))
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, comment := range parsed.Comments {
		found = append(found, faults(set.Position(comment.Pos()).String(), comment.Text())...)
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			found = append(found, faults(set.Position(literal.Pos()).String(), literal.Value)...)
		}
		return true
	})
	return found
}

// tracked are the files of the repository, new ones included.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git, to find the files")
	}
	list := exec.CommandContext(t.Context(), git, append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...)
	list.Dir = filepath.Join("..", "..", "..")
	out, err := list.Output()
	if err != nil {
		t.Skip("needs the repository: ", err)
	}
	files := strings.Fields(string(out))
	require.NotEmpty(t, files)
	return files
}

// The check finds what it is there for.
func TestProseFindsHabits(t *testing.T) {
	for _, text := range []string{"no trade is told twice", "an Edge page", "the budget", "Unsettled writes", "this came to nothing", "simply call it"} {
		assert.Len(t, faults("x", text), 1, text)
	}
	for _, text := range []string{"the outcome", "TellMe", "a page of a gateway", "budgeted", "pending writes", "leverage is required"} {
		assert.Empty(t, faults("x", text), text)
	}
}

package trading_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var readmeSnippet = regexp.MustCompile("(?s)<!-- (Example\\w*) -->\n```go\n(.*?)```")

// Each Go snippet of the README is the part of an Example behind its README
// comment, so the tests compile and run it.
func TestReadmeSnippetsAreExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	bodies := exampleBodies(t, "example_test.go")
	snippets := readmeSnippet.FindAllStringSubmatch(string(readme), -1)
	assert.Equal(t, strings.Count(string(readme), "```go\n"), len(snippets), "each Go snippet names its Example")
	require.NotEmpty(t, snippets)
	for _, snippet := range snippets {
		name, code := snippet[1], snippet[2]
		body, ok := bodies[name]
		require.True(t, ok, "the README names %s, which does not exist", name)
		before, shown, ok := strings.Cut(body, "// README\n")
		require.True(t, ok, "%s has no README comment", name)
		shown = outdent(shown, before[strings.LastIndexByte(before, '\n')+1:])
		assert.True(t, strings.HasPrefix(shown, code), "the README's snippet is not what %s runs:\n%s\n--- runs ---\n%s", name, code, shown)
	}
}

// exampleBodies returns the text of each Example, without its indentation.
func exampleBodies(t *testing.T, file string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.ParseComments)
	require.NoError(t, err)
	bodies := map[string]string{}
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		text := string(source[files.Position(fn.Body.Lbrace).Offset+1 : files.Position(fn.Body.Rbrace).Offset])
		text = strings.TrimPrefix(text, "\n")
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "\t")
		}
		bodies[fn.Name.Name] = strings.Join(lines, "\n")
	}
	return bodies
}

// outdent takes the indentation of a snippet within its Example from each line.
func outdent(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	return strings.Join(lines, "\n")
}

package client

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents are the pages whose Go snippets and links are checked.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	texts := map[string]string{}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		texts[page] = string(text)
	}
	return texts
}

// A snippet stands below a comment that names its source: an Example of the root package,
// a whole file such as "examples/firstbot/main.go", or a file and what is shown of
// it, such as "examples/firstbot/main_test.go TestALostReply". Of an Example the part behind its
// README comment is shown.
var snippetPattern = regexp.MustCompile("(?s)<!-- ([\\w./]+ )?([\\w./]+) -->\n```go\n(.*?)```")

// Each Go snippet of the README and of docs is code that the tests compile, and run where
// it takes no time. Each Example that is marked as one is on a page.
func TestSnippetsAreCompiled(t *testing.T) {
	examples := exampleBodies(t, "example_test.go")
	shownOf := map[string][]string{} // the Examples on a page, by file
	for page, text := range documents(t) {
		snippets := snippetPattern.FindAllStringSubmatch(text, -1)
		assert.Equal(t, strings.Count(text, "```go\n"), len(snippets), "%s: each Go snippet names its source", page)
		for _, snippet := range snippets {
			file, name, code := strings.TrimSpace(snippet[1]), snippet[2], snippet[3]
			shown := examples[name]
			if strings.HasPrefix(name, "Example") {
				from := cmp.Or(file, "example_test.go")
				shownOf[from] = append(shownOf[from], name)
			}
			switch {
			case strings.HasSuffix(name, ".go"):
				shown, _, _ = parseFile(t, name)
			case file != "" && strings.HasPrefix(name, "Example"):
				shown = exampleBodies(t, file)[name]
			case file != "":
				shown = declaration(t, file, name)
			}
			require.NotEmpty(t, shown, "%s names %s %s, which does not exist", page, file, name)
			assert.True(t, strings.HasPrefix(shown, code), "%s: the snippet is not what %s has:\n%s\n--- has ---\n%s", page, name, code, shown)
		}
	}
	for _, folders := range []string{"", "*/", "*/*/", "*/*/*/"} {
		files, err := filepath.Glob(folders + "*_test.go")
		require.NoError(t, err)
		for _, file := range files {
			for name := range exampleBodies(t, file) {
				assert.Contains(t, shownOf[file], name, "%s marks an Example as the README's, and no page shows it", file)
			}
		}
	}
}

// The first Go snippet of the README and of each guide is a whole program, to paste and to run, or stands below a
// command that runs one. A reference is read behind its guide.
func TestFirstSnippetsAreWholePrograms(t *testing.T) {
	pages := documents(t)
	whole := 0
	for page, text := range pages {
		at := snippetPattern.FindStringSubmatchIndex(text)
		if at == nil || strings.HasSuffix(page, "-reference.md") {
			continue // TestSnippetsAreCompiled finds each Go snippet
		}
		whole++
		if !strings.Contains(text[:at[0]], "go run ./examples/") && !strings.Contains(text[:at[0]], "go run ./docs/programs/") {
			assert.Contains(t, text[at[6]:at[7]], "package main\n\nimport (\n", page)
		}
		if page != "README.md" {
			assert.Contains(t, pages["README.md"]+pages["docs/README.md"], filepath.Base(page))
		}
	}
	assert.Positive(t, whole)
}

var (
	linkPattern    = regexp.MustCompile(`\]\(([^)#: ]*)(#[^)]*)?\)`)
	codePattern    = regexp.MustCompile("(?s)\n```.*?\n```")
	headingPattern = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Each link of a page within the repository leads to a file that exists, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	files, anchors := 0, 0
	for page, text := range documents(t) {
		for _, link := range linkPattern.FindAllStringSubmatch(text, -1) {
			target := page
			if link[1] != "" {
				files++
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if link[2] == "" {
				assert.True(t, exists(target), "%s links to %s, which does not exist", page, link[1])
				continue
			}
			anchors++
			assert.Contains(t, anchorsOf(t, target), link[2][1:], "%s links to a heading that %s does not have", page, target)
		}
	}
	assert.Positive(t, files)
	assert.Positive(t, anchors)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// anchorsOf returns what a link to a heading of a page ends with.
func anchorsOf(t *testing.T, page string) (anchors []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, heading := range headingPattern.FindAllStringSubmatch(codePattern.ReplaceAllString(string(text), ""), -1) {
		anchors = append(anchors, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-"))
	}
	return anchors
}

// An example is short enough to be read before it is copied, and has a test.
func TestExamplesAreShort(t *testing.T) {
	programs, err := filepath.Glob("examples/*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		source, err := os.ReadFile(program)
		require.NoError(t, err)
		assert.LessOrEqual(t, strings.Count(string(source), "\n"), 150, program)
		assert.FileExists(t, filepath.Join(filepath.Dir(program), "main_test.go"))
	}
}

// exampleBodies returns what each Example shows: its body behind a README comment.
func exampleBodies(t *testing.T, files ...string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for _, file := range files {
		source, set, parsed := parseFile(t, file)
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
				continue
			}
			body := source[set.Position(fn.Body.Lbrace).Offset+1 : set.Position(fn.Body.Rbrace).Offset]
			before, shown, ok := strings.Cut(body, "// README\n")
			if !ok {
				continue
			}
			bodies[fn.Name.Name] = outdent(shown, before[strings.LastIndexByte(before, '\n')+1:])
		}
	}
	return bodies
}

// declaration returns a top-level declaration of a file, with its comment.
func declaration(t *testing.T, file, name string) string {
	t.Helper()
	source, set, parsed := parseFile(t, file)
	for _, decl := range parsed.Decls {
		var doc *ast.CommentGroup
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.Name != name {
				continue
			}
			doc = decl.Doc
		case *ast.GenDecl:
			spec, ok := decl.Specs[0].(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				continue
			}
			doc = decl.Doc
		}
		from := decl.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		return source[set.Position(from).Offset:set.Position(decl.End()).Offset] + "\n"
	}
	return ""
}

func parseFile(t *testing.T, file string) (source string, set *token.FileSet, parsed *ast.File) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	set = token.NewFileSet()
	parsed, err = parser.ParseFile(set, file, text, parser.ParseComments)
	require.NoError(t, err)
	return string(text), set, parsed
}

// outdent takes the indentation of a snippet within its Example from each line.
func outdent(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	return strings.Join(lines, "\n")
}

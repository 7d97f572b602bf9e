package surface

import (
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

// forTests are packages that need a test or a process of their own to run in: their
// examples are compiled alone.
var forTests = map[string]bool{"backtest.report": true, "journal.journaltest": true, "ratelimit.ratelimittest": true, "tradingtest": true}

// Each package has an Example with checked output.
func TestPackagesHaveExamples(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		examples := examplesIn(t, pkg.Dir)
		assert.NotEmpty(t, examples, "%s has no Example", pkg.short())
		checked := forTests[pkg.short()]
		for _, text := range examples {
			checked = checked || strings.Contains(text, "// Output:")
		}
		assert.True(t, checked, "no Example of %s has checked output", pkg.short())
	}
}

var (
	writeName  = regexp.MustCompile(`(?m)^\t(Op\w+)\s+Operation = "POST `)
	usesName   = regexp.MustCompile(`\bOp[A-Z]\w*`)
	optionFunc = regexp.MustCompile(`(?m)^func (\w+)\(.*\) (Option|CallOption|SharedOption)$`)
)

// Each method that sends a write has an Example of its own with checked output.
func TestWritesHaveExamples(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	table, err := os.ReadFile(filepath.Join(root, "names.gen.go"))
	require.NoError(t, err)
	writes := map[string]bool{}
	for _, row := range writeName.FindAllStringSubmatch(string(table), -1) {
		writes[row[1]] = true
	}
	require.NotEmpty(t, writes)
	examples := examplesIn(t, root)
	for _, file := range []string{"live.go", "pro.go", "sandbox.go"} {
		for name, body := range methodsOf(t, filepath.Join(root, file)) {
			for _, operation := range usesName.FindAllString(body, -1) {
				if !writes[operation] {
					continue
				}
				text, ok := examples["Example"+name]
				if assert.True(t, ok, "%s sends a write and has no Example%s", file, name) {
					assert.Contains(t, text, "// Output:", name)
				}
				delete(writes, operation)
			}
		}
	}
	assert.Empty(t, writes, "writes that no method sends")
}

// Each option is used by an Example.
func TestOptionsHaveExamples(t *testing.T) {
	surface, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "api", "trading.txt"))
	require.NoError(t, err)
	options := optionFunc.FindAllStringSubmatch(string(surface), -1)
	require.NotEmpty(t, options)
	var all strings.Builder
	for _, text := range examplesIn(t, filepath.Join("..", "..", "..")) {
		all.WriteString(text)
	}
	for _, option := range options {
		assert.Contains(t, all.String(), "trading."+option[1]+"(", "no Example uses it")
	}
}

// examplesIn returns the text of each Example of a folder's tests, comments included.
func examplesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	examples := map[string]string{}
	for _, file := range files {
		for name, text := range functions(t, file) {
			if strings.HasPrefix(name, "Example") {
				examples[name] = text
			}
		}
	}
	return examples
}

// methodsOf returns the text of the exported methods of a file, named as their Examples
// are: Account_PlaceOrder. What names the operation of a Pro order is named as its type.
func methodsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	methods := map[string]string{}
	for name, text := range functions(t, file) {
		switch typ, method, ok := strings.Cut(name, "_"); {
		case ok && ast.IsExported(method):
			methods[name] = text
		case method == "operation":
			methods[typ] = text
		}
	}
	return methods
}

// functions returns the text of each function of a file; a method is named Type_Method.
func functions(t *testing.T, file string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			receiver := fn.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if of, ok := receiver.(*ast.Ident); ok {
				name = of.Name + "_" + name
			}
		}
		texts[name] = string(source[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset])
	}
	return texts
}

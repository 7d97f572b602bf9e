package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// TestExceptionsAreListed holds what the search counts apart against the list.
func TestExceptionsAreListed(t *testing.T) {
	list := rig.Exceptions()
	for f := apart; f < findingCount; f++ {
		if f != probeRanTwice && list[findings[f]] == "" {
			t.Errorf("counted apart, and not in the list: %s", findings[f])
		}
	}
}

// Each accident that the page names is one of the list, and the other way round: one by one,
// and none of them twice.
func TestNoDocumentNamesAnotherException(t *testing.T) {
	list := rig.Exceptions()
	source, err := parser.ParseFile(token.NewFileSet(), "../../testing/rig/exceptions.go", nil, 0)
	require.NoError(t, err)
	names := 0
	ast.Inspect(source, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			names += len(spec.Names)
		}
		return true
	})
	if names != len(list) {
		t.Errorf("%d exceptions have a name, %d are in the list", names, len(list))
	}
	before, outcomes, _ := strings.Cut(section(t, "docs/outcomes.md", "## What no client can promise", "## "), "possible besides: - ")
	assert.Contains(t, before, list[rig.LateProbe], "docs/outcomes.md does not say %q", list[rig.LateProbe])
	parts := strings.Split(outcomes, " - ")
	if len(parts) < 9 {
		t.Errorf("docs/outcomes.md: %q", parts)
	}
	for _, part := range parts {
		known := slices.ContainsFunc(slices.Collect(maps.Values(list)), func(words string) bool { return strings.Contains(part, words) })
		assert.True(t, known, "docs/outcomes.md says %q, which is no exception of the list", part)
	}
	for exception, words := range list {
		said := 0
		for _, part := range parts {
			if strings.Contains(part, words) {
				said++
			}
		}
		if said != 1 && !(exception == rig.LateProbe && said == 0) { // it stands before them
			t.Errorf("docs/outcomes.md says %q in %d places", exception, said)
		}
	}
}

// section is a part of a document in one line, in small letters.
func section(t *testing.T, name, from, to string) string {
	t.Helper()
	data, err := os.ReadFile("../../../" + name)
	require.NoError(t, err)
	_, text, found := strings.Cut(string(data), from)
	require.True(t, found, "%s has no %q", name, from)
	text, _, _ = strings.Cut(text, "\n"+to)
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// TestPromises holds that each test that README.md names for a sentence exists.
func TestPromises(t *testing.T) {
	rows := promises(t)
	if len(rows) < 40 {
		t.Errorf("%d sentences", len(rows))
	}
	sources := map[string]string{}
	for _, row := range rows {
		path, test, named := strings.Cut(row.test, " ")
		if !named {
			if row.test != "none" {
				t.Errorf("%q: a test is a folder and a name, or \"none\", not %q", row.sentence, row.test)
			}
			continue
		}
		if _, read := sources[path]; !read {
			sources[path] = sourcesOf(t, path)
		}
		for part := range strings.SplitSeq(test, ", ") {
			name, of, _ := strings.Cut(part, "/")
			if !strings.Contains(sources[path], "func "+name+"(") || !strings.Contains(sources[path], strings.ReplaceAll(of, "_", " ")) {
				t.Errorf("%q: %s has no test %s", row.sentence, path, part)
			}
		}
	}
}

// TestPromisesNameTheirCode holds that the functions, constants and types exist that README.md
// names as the code of a sentence, each with its file or folder.
func TestPromisesNameTheirCode(t *testing.T) {
	for _, row := range promises(t) {
		named := false
		for part := range strings.SplitSeq(row.code, ", ") {
			words := strings.Fields(part)
			if len(words) == 0 || len(words) == 1 {
				t.Errorf("%q: %q names nothing in it", row.sentence, row.code)
				continue
			}
			declared := declaredIn(t, words[0])
			for _, name := range words[1:] {
				if named = true; !declared[name] {
					t.Errorf("%q: %s declares no %s", row.sentence, words[0], name)
				}
			}
		}
		assert.True(t, named, "%q has no code", row.sentence)
	}
}

// declaredIn are the names that a folder declares, or a file: of internal/ledger, or of the root.
func declaredIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	files := []string{"../../ledger/" + path}
	if _, err := os.Stat(files[0]); err != nil {
		files[0] = "../../../" + path
	}
	if !strings.HasSuffix(path, ".go") {
		var err error
		if files, err = filepath.Glob("../../../" + path + "/*.go"); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// promise is a row of the table.
type promise struct{ sentence, code, test string }

func promises(t *testing.T) (rows []promise) {
	t.Helper()
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(data), "## Each sentence, its code and its test\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 1 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "sentence" {
			continue
		}
		if len(cells) != 5 {
			t.Fatalf("no row of the table: %s", line)
		}
		cells = slices.Collect(func(yield func(string) bool) {
			for _, c := range cells[1:4] {
				yield(strings.ReplaceAll(strings.TrimSpace(c), "`", ""))
			}
		})
		rows = append(rows, promise{cells[0], cells[1], cells[2]})
	}
	return rows
}

// sourcesOf are the tests of a folder, "." for the root.
func sourcesOf(t *testing.T, folder string) string {
	t.Helper()
	dir := "../../../" + folder
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var b strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			data, err := os.ReadFile(dir + "/" + f.Name())
			require.NoError(t, err)
			b.Write(data)
		}
	}
	return b.String()
}

package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestExceptionsAreDocumented holds the list against both documents, and what the search
// counts apart against the list.
func TestExceptionsAreDocumented(t *testing.T) {
	list := Exceptions()
	for f := apart; f < findingCount; f++ {
		if f != probeRanTwice && list[findings[f]] == "" {
			t.Errorf("counted apart, and not in the list: %s", findings[f])
		}
	}
	for _, name := range []string{"README.md", "docs/outcomes.md"} {
		text := section(t, name, "What no client can promise", "## ")
		for exception, words := range list {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q of %s", name, words, exception)
			}
		}
	}
}

// Each accident that a document names is one of the list, and the other way round: one by one.
func TestNoDocumentNamesAnotherException(t *testing.T) {
	list := Exceptions()
	source, err := parser.ParseFile(token.NewFileSet(), "exceptions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
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
	readme := section(t, "README.md", "What no client can promise", "[Outcomes]")
	_, outcomes, _ := strings.Cut(section(t, "docs/outcomes.md", "## What no client can promise", "## "), "possible besides: - ")
	for name, parts := range map[string][]string{
		"README.md":        strings.FieldsFunc(strings.Trim(strings.ReplaceAll(readme, ". ", ";"), "*.; "), func(r rune) bool { return r == ';' }),
		"docs/outcomes.md": strings.Split(outcomes, " - "),
	} {
		if len(parts) < 9 {
			t.Errorf("%s: %q", name, parts)
		}
		for _, part := range parts {
			known := slices.ContainsFunc(slices.Collect(maps.Values(list)), func(words string) bool { return strings.Contains(part, words) })
			if !known {
				t.Errorf("%s says %q, which is no exception of the list", name, part)
			}
		}
		for exception, words := range list {
			in := slices.IndexFunc(parts, func(part string) bool { return strings.Contains(part, words) })
			if in < 0 && exception != LateProbe { // docs/outcomes.md has it before them
				t.Errorf("%s: nothing says %s", name, exception)
			}
		}
	}
}

// section is a part of a document in one line, in small letters.
func section(t *testing.T, name, from, to string) string {
	t.Helper()
	data, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), from)
	if !found {
		t.Fatalf("%s has no %q", name, from)
	}
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
			name, _, _ := strings.Cut(part, "/")
			if !strings.Contains(sources[path], "func "+name+"(") {
				t.Errorf("%q: %s has no test %s", row.sentence, path, name)
			}
		}
	}
}

// promise is a row of the table.
type promise struct{ sentence, code, test string }

func promises(t *testing.T) (rows []promise) {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "## Each sentence, its code and its test\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "sentence" {
			continue
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
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			data, err := os.ReadFile(dir + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
		}
	}
	return b.String()
}

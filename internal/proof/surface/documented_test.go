package surface

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each exported name has a sentence. The linter revive asks for those of packages, types, functions
// and methods; here are constants, variables, fields, and the methods of interfaces.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		t.Run(pkg.short(), func(t *testing.T) {
			fset := token.NewFileSet()
			var files []*ast.File
			for _, name := range slices.Concat(pkg.GoFiles, pkg.IgnoredGoFiles) { // of every platform
				if matched, _ := filepath.Match("*_test.go", name); matched {
					continue
				}
				file, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
				require.NoError(t, err)
				files = append(files, file)
			}
			for _, where := range undocumented(fset, files) {
				t.Error(where)
			}
		})
	}
}

// The test above is worth something only if it finds what lacks a sentence.
func TestMissingSentencesAreFound(t *testing.T) {
	for source, want := range map[string][]string{
		`const A = 1`:                              {"A"},
		"// A is one.\nconst A = 1":                nil,
		"const A = 1 // is one":                    nil,
		"// All.\nconst (\nA = 1\nB = 2\n)":        {"A", "B"},
		"// A and more.\nconst (\nA = 1\nB = 2\n)": {"B"},
		"var A, b int":                             {"A"},
		"// A has fields.\ntype A struct {\nB int\nC int // is one\n}":               {"A.B"},
		"// A has fields.\ntype A struct {\n// B and C are two.\nB, C int\nd int\n}": nil,
		"// A has fields.\ntype A struct {\n// B has them.\nB struct { C int }\n}":   {"A.B.C"},
		"// A embeds.\ntype A struct {\nB\n}\ntype b struct { C int }":               nil,
		"// A has methods.\ntype A interface {\nB()\n// C is one.\nC()\n}":           {"A.B"},
		"type a struct{ B int }\n\n// A is one.\ntype A = a":                         nil,
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", "package p\n\n"+source, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		var got []string
		for _, where := range undocumented(fset, []*ast.File{file}) {
			got = append(got, where.name)
		}
		assert.Equal(t, want, got, source)
	}
}

// undocumentedName is an exported name without a sentence.
type undocumentedName struct {
	at   token.Position
	name string
}

func (u undocumentedName) String() string {
	return fmt.Sprintf("%s: %s is not documented", u.at, u.name)
}

type documentation struct {
	fset  *token.FileSet
	found []undocumentedName
}

func undocumented(fset *token.FileSet, files []*ast.File) []undocumentedName {
	d := documentation{fset: fset}
	for _, file := range files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				d.declarations(decl)
			}
		}
	}
	return d.found
}

func (d *documentation) want(name *ast.Ident, prefix string, comments ...*ast.CommentGroup) {
	for _, comment := range comments {
		if comment.Text() != "" { // which directives are not in
			return
		}
	}
	if name.IsExported() {
		d.found = append(d.found, undocumentedName{d.fset.Position(name.Pos()), prefix + name.Name})
	}
}

// declarations looks at a group. A sentence about the group as a whole is one about
// those of its names that it mentions.
func (d *documentation) declarations(decl *ast.GenDecl) {
	var whole *ast.CommentGroup
	if !decl.Lparen.IsValid() {
		whole = decl.Doc
	}
	var above block
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			sentence := above.sentence(d.fset, spec, spec.Doc, spec.Comment)
			for _, name := range spec.Names {
				if !mentions(decl.Doc, name.Name) {
					d.want(name, "", whole, sentence)
				}
			}
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				d.members(spec.Type, spec.Name.Name+".", cmp.Or(spec.Doc, decl.Doc))
			}
		}
	}
}

// members looks at the fields and methods of a type written out. What is embedded
// is documented where it is declared.
func (d *documentation) members(expr ast.Expr, prefix string, about *ast.CommentGroup) {
	var list *ast.FieldList
	switch expr := expr.(type) {
	case *ast.StructType:
		list = expr.Fields
	case *ast.InterfaceType:
		list = expr.Methods
	default:
		return
	}
	var above block
	for _, field := range list.List {
		sentence := above.sentence(d.fset, field, field.Doc, field.Comment)
		for _, name := range field.Names {
			if !mentions(about, name.Name) {
				d.want(name, prefix, sentence)
			}
			if name.IsExported() {
				d.members(field.Type, prefix+name.Name+".", sentence)
			}
		}
	}
}

// block is lines that follow each other with none between them. A comment above
// them is about all, up to the next.
type block struct {
	last    int
	comment *ast.CommentGroup
}

func (b *block) sentence(fset *token.FileSet, node ast.Node, own ...*ast.CommentGroup) *ast.CommentGroup {
	if fset.Position(node.Pos()).Line != b.last+1 {
		b.comment = nil
	}
	b.last = fset.Position(node.End()).Line
	if doc := own[0]; doc.Text() != "" {
		b.comment = doc
	}
	for _, comment := range own {
		if comment.Text() != "" {
			return comment
		}
	}
	return b.comment
}

// mentions tells whether the comment of a type names one of its fields.
func mentions(about *ast.CommentGroup, name string) bool {
	return slices.Contains(strings.FieldsFunc(about.Text(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name)
}

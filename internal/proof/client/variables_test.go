package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Clear and All would be constants if Go had constants of a struct type.
// As variables anybody can assign to them, so no code of this package depends on
// what they hold: each occurs once, where it is declared.
func TestExportedVariablesAreNotRead(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	occurs := map[string]int{"Clear": 0, "All": 0}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		members := map[*ast.Ident]bool{} // names of fields and methods, which can be the same
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.SelectorExpr:
				members[node.Sel] = true
			case *ast.FuncDecl:
				members[node.Name] = true
			case *ast.Field:
				for _, name := range node.Names {
					members[name] = true
				}
			case *ast.Ident:
				if _, ok := occurs[node.Name]; ok && !members[node] {
					occurs[node.Name]++
				}
			}
			return true
		})
	}
	for name, n := range occurs {
		if n != 1 {
			t.Errorf("%s occurs %d times", name, n)
		}
	}
}

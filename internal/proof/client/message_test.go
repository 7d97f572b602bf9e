package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A message is for people. No code of this module that ships decides by one: a
// Message may be passed on and printed, compared with "" to see whether there is
// one to print, and nothing else.
func TestTrap_T35_NoCodeDecidesByAMessage(t *testing.T) {
	var complaints []string
	files := sources(t, false)
	for _, name := range files {
		complaints = append(complaints, decidesByMessage(t, name, nil)...)
	}
	assert.Empty(t, complaints)
	assert.Greater(t, len(files), 40)

	// What the check finds, and what it lets pass.
	for source, found := range map[string]int{
		`if e.Message == "busy" {}`:                           1,
		`if e.Message != "" { println(e.Message) }`:           0,
		`switch e.Message { case "busy": }`:                   1,
		`switch { case e.Message > "b": }`:                    1,
		`_ = strings.Contains(e.Message, "again")`:            1,
		`_ = strings.Contains(strings.ToLower(e.Message), x)`: 1,
		`_ = working.FindString(e.Message)`:                   1,
		`_ = e.Message[0]`:                                    1,
		`_ = e.Message[:5]`:                                   1,
		`for _, r := range e.Message { _ = r }`:               1,
		`x := &Error{Message: e.Message}; _ = x`:              0,
		`text += ": " + e.Message`:                            0,
		`_ = slog.String("message", e.Message)`:               0,
	} {
		text := "package p\nfunc f() {\n" + source + "\n}\n"
		assert.Len(t, decidesByMessage(t, "snippet.go", text), found, source)
	}
}

// sources are the Go files of the module that ship, or its tests; examples and
// generated code are among them, data is not.
func sources(t *testing.T, tests bool) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") == tests && !strings.HasPrefix(name, "tradingsim/") {
				files = append(files, name)
			}
		}
	}
	return files
}

// decidesByMessage finds where a Message is compared, searched or taken apart.
func decidesByMessage(t *testing.T, name string, source any) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	reads := func(node ast.Expr) bool {
		is := false
		ast.Inspect(node, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Message" {
				is = true
			}
			return !is
		})
		return is
	}
	complain := func(node ast.Node, parts ...ast.Expr) {
		for _, part := range parts {
			if part != nil && reads(part) {
				found = append(found, fset.Position(node.Pos()).String())
				return
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BinaryExpr:
			switch node.Op {
			case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
				if literal, ok := node.Y.(*ast.BasicLit); !ok || literal.Value != `""` {
					complain(node, node.X, node.Y)
				}
			}
		case *ast.SwitchStmt:
			if node.Tag != nil {
				complain(node, node.Tag)
			}
		case *ast.IndexExpr:
			complain(node, node.X)
		case *ast.SliceExpr:
			complain(node, node.X)
		case *ast.RangeStmt:
			complain(node, node.X)
		case *ast.CallExpr:
			selector, ok := node.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			searching := []string{"Match", "Find", "Contains", "HasPrefix", "HasSuffix", "Index", "Cut", "Split", "Fields",
				"EqualFold", "Compare", "Equal", "Sscan", "ToLower", "ToUpper", "Trim"}
			for _, verb := range searching {
				if strings.HasPrefix(selector.Sel.Name, verb) {
					complain(node, node.Args...)
					return false // once is enough
				}
			}
		}
		return true
	})
	return found
}

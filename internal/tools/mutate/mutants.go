package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change of the code.
type mutant struct {
	number  int
	file    string
	line    int
	kind    string
	was, is string // in a line each

	// Where it is in the file, and what stands there instead. %[1]s is the code
	// as it is, with the other mutants within it.
	from, to int
	template string
}

func (m mutant) String() string {
	return fmt.Sprintf("#%d %s:%d: %s: %s -> %s", m.number, m.file, m.line, m.kind, m.was, m.is)
}

var comparisons = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// finder collects the mutants of one file.
type finder struct {
	name    string
	source  []byte
	fset    *token.FileSet
	info    *types.Info
	pkg     *types.Package
	imports map[string]string // path to name in this file
	swaps   map[types.Type][]*types.Const
	next    *int
	found   []mutant
}

// find walks the functions: what is outside of them is constants and tables,
// which a switch at run time cannot change.
func (f *finder) find(file *ast.File) {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, f.visit)
		}
	}
}

func (f *finder) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.GenDecl:
		return node.Tok != token.CONST
	case *ast.ArrayType:
		return false // its length is a constant
	case *ast.CaseClause:
		for _, expr := range node.List {
			f.condition(expr)
		}
	case *ast.IfStmt:
		f.condition(node.Cond)
	case *ast.ForStmt:
		f.condition(node.Cond)
	case *ast.BlockStmt:
		f.drops(node.List)
	case *ast.BinaryExpr:
		f.binary(node)
	case *ast.BasicLit:
		f.literal(node)
	case *ast.Ident:
		f.constantName(node)
	case *ast.SelectorExpr:
		ast.Inspect(node.X, f.visit)
		return false
	case *ast.KeyValueExpr:
		ast.Inspect(node.Value, f.visit)
		return false
	}
	if clause, ok := node.(*ast.CaseClause); ok {
		f.drops(clause.Body)
	}
	if clause, ok := node.(*ast.CommClause); ok {
		f.drops(clause.Body)
	}
	return true
}

// condition negates one, unless a mutant of the comparison would be the same.
func (f *finder) condition(expr ast.Expr) {
	if expr == nil || !f.isBool(expr) {
		return
	}
	if binary, ok := ast.Unparen(expr).(*ast.BinaryExpr); ok && (binary.Op == token.EQL || binary.Op == token.NEQ) {
		return
	}
	if tv := f.info.Types[expr]; tv.Value != nil {
		return
	}
	text := f.text(expr)
	f.add(expr, "negate", "!("+text+")", "func() bool { if mutantIs(%[2]d) { return !("+escape(text)+") }; return %[1]s }()")
}

// binary takes a comparison or a connective for its neighbour.
func (f *finder) binary(expr *ast.BinaryExpr) {
	other, ok := comparisons[expr.Op]
	if !ok || !f.isBool(expr) || f.info.Types[expr].Value != nil {
		return
	}
	text := f.text(expr.X) + " " + other.String() + " " + f.text(expr.Y)
	f.add(expr, "operator", text, "func() bool { if mutantIs(%[2]d) { return "+escape(text)+" }; return %[1]s }()")
}

// literal counts one up.
func (f *finder) literal(lit *ast.BasicLit) {
	tv, ok := f.info.Types[lit]
	if !ok || lit.Kind != token.INT || tv.Value == nil {
		return
	}
	basic, ok := tv.Type.(*types.Basic)
	var name string
	switch {
	case ok && basic.Kind() != types.UntypedInt:
		name = basic.Name()
	case !ok:
		if name, ok = f.typeName(tv.Type, lit.Pos()); !ok {
			return
		}
	default:
		return // of a larger constant
	}
	n, exact := constant.Int64Val(tv.Value)
	if !exact {
		return
	}
	is := fmt.Sprint(n + 1)
	f.add(lit, "number", is, "mutantPick["+name+"](%[2]d, "+lit.Value+", "+is+")")
}

// constantName takes a constant for another of its type, and true for false.
func (f *finder) constantName(ident *ast.Ident) {
	object, ok := f.info.Uses[ident].(*types.Const)
	if !ok {
		return
	}
	if object.Pkg() == nil {
		switch ident.Name {
		case "true":
			f.add(ident, "constant", "false", "!mutantIs(%[2]d)")
		case "false":
			f.add(ident, "constant", "true", "mutantIs(%[2]d)")
		}
		return
	}
	name, ok := f.typeName(object.Type(), ident.Pos())
	if !ok || object.Pkg() != f.pkg {
		return
	}
	same := f.swaps[object.Type()]
	i := slices.Index(same, object)
	if i < 0 || len(same) < 2 {
		return
	}
	other := same[(i+1)%len(same)].Name()
	if !f.means(other, same[(i+1)%len(same)], ident.Pos()) {
		return
	}
	f.add(ident, "constant", other, "mutantPick["+name+"](%[2]d, "+ident.Name+", "+other+")")
}

// drops leaves out each statement that the code compiles without.
func (f *finder) drops(list []ast.Stmt) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok {
				if fn, ok := call.Fun.(*ast.Ident); ok && fn.Name == "panic" {
					continue
				}
			}
		case *ast.AssignStmt:
			if stmt.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt, *ast.BranchStmt:
		default:
			continue
		}
		f.add(stmt, "drop", "", "if !mutantIs(%[2]d) { %[1]s }")
	}
}

func (f *finder) add(node ast.Node, kind, is, template string) {
	*f.next++
	if is == "" {
		is = "nothing"
	}
	f.found = append(f.found, mutant{
		number: *f.next, file: f.name, line: f.fset.Position(node.Pos()).Line, kind: kind,
		was: oneLine(f.text(node)), is: oneLine(is),
		from: f.offset(node.Pos()), to: f.offset(node.End()), template: template,
	})
}

func (f *finder) isBool(expr ast.Expr) bool {
	basic, ok := f.info.Types[expr].Type.(*types.Basic)
	return ok && (basic.Kind() == types.Bool || basic.Kind() == types.UntypedBool)
}

// typeName is a type as this file would write it at a place.
func (f *finder) typeName(typ types.Type, at token.Pos) (string, bool) {
	named, ok := types.Unalias(typ).(*types.Named)
	if !ok || named.TypeArgs().Len() > 0 || named.Obj().Pkg() == nil {
		return "", false
	}
	name := named.Obj().Name()
	if named.Obj().Pkg() == f.pkg {
		return name, f.means(name, named.Obj(), at)
	}
	qualifier, ok := f.imports[named.Obj().Pkg().Path()]
	return qualifier + "." + name, ok
}

// means reports that no variable hides the package's name at a place.
func (f *finder) means(name string, object types.Object, at token.Pos) bool {
	_, found := f.pkg.Scope().Innermost(at).LookupParent(name, at)
	return found == object
}

func (f *finder) offset(pos token.Pos) int { return f.fset.Position(pos).Offset }
func (f *finder) text(node ast.Node) string {
	return string(f.source[f.offset(node.Pos()):f.offset(node.End())])
}
func escape(text string) string { return strings.ReplaceAll(text, "%", "%%") }
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100]) + "..."
	}
	return text
}

// render writes the file with all its mutants in it. They nest, as the nodes of
// the code do; of two at one node the one found first is outside.
func render(source []byte, mutants []mutant) string {
	mutants = slices.Clone(mutants)
	slices.SortStableFunc(mutants, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.number, b.number))
	})
	var within func(from, to int) string
	i := 0
	within = func(from, to int) string {
		var text strings.Builder
		at := from
		for i < len(mutants) && mutants[i].from >= from && mutants[i].to <= to {
			m := mutants[i]
			i++
			text.Write(source[at:m.from])
			inner := within(m.from, m.to)
			if strings.Contains(m.template, "%[1]s") {
				fmt.Fprintf(&text, m.template, inner, m.number)
			} else {
				// Nothing is within a name or a number.
				text.WriteString(fmt.Sprintf(strings.ReplaceAll(m.template, "%[2]d", "%d"), m.number))
			}
			at = m.to
		}
		text.Write(source[at:to])
		return text.String()
	}
	return within(0, len(source))
}

package surface

import (
	"cmp"
	"flag"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/api at the root anew")

// What each package exports is in a file, so that a change of it is seen in review,
// and nothing is added, changed or lost unnoticed.
func TestTheAPIIsTheOneOnFile(t *testing.T) {
	directory := filepath.Join("..", "..", "..", "testdata", "api")
	imp := typesImporter(t)
	expected := map[string]bool{}
	for _, pkg := range publicPackages(t) {
		imported, err := imp.Import(pkg.ImportPath)
		require.NoError(t, err)
		features := surface(imported)
		file := filepath.Join(directory, pkg.short()+".txt")
		expected[filepath.Base(file)] = true
		for _, feature := range features {
			assert.NotContains(t, feature, "/internal/", "%s shows what nobody can name", pkg.short())
		}
		now := strings.Join(features, "\n") + "\n"
		if *update {
			require.NoError(t, os.MkdirAll(directory, 0o755))
			require.NoError(t, os.WriteFile(file, []byte(now), 0o644))
		}
		was, err := os.ReadFile(file)
		require.NoError(t, err, "a new package: run go test ./internal/proof/surface -update, and commit the file")
		if now != string(was) {
			t.Errorf("the API of %s is not the one on file; if that is meant, run go test ./internal/proof/surface -update, and commit it:\n%s",
				pkg.short(), difference(strings.Split(string(was), "\n"), strings.Split(now, "\n")))
		}
	}
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	for _, entry := range entries {
		if !expected[entry.Name()] && *update {
			require.NoError(t, os.Remove(filepath.Join(directory, entry.Name())))
		} else {
			assert.True(t, expected[entry.Name()], "%s is of no package", entry.Name())
		}
	}
}

// difference is what one sorted list has and the other has not.
func difference(was, now []string) string {
	var text strings.Builder
	for _, line := range was {
		if !slices.Contains(now, line) {
			text.WriteString("- " + line + "\n")
		}
	}
	for _, line := range now {
		if !slices.Contains(was, line) {
			text.WriteString("+ " + line + "\n")
		}
	}
	return text.String()
}

// surface is what a package exports, in sorted lines that each stand alone. The
// names of parameters are not in it.
func surface(pkg *types.Package) []string {
	d := &dump{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if object := pkg.Scope().Lookup(name); object.Exported() {
			d.object(object)
		}
	}
	slices.Sort(d.lines)
	return slices.Compact(d.lines)
}

type dump struct {
	pkg   *types.Package
	lines []string
}

func (d *dump) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *dump) object(object types.Object) {
	switch object := object.(type) {
	case *types.Const:
		d.say("const %s %s = %s", object.Name(), d.text(object.Type()), exact(object.Val()))
	case *types.Var:
		d.say("var %s %s", object.Name(), d.text(object.Type()))
	case *types.Func:
		d.say("func %s%s", object.Name(), d.signature(object.Signature()))
	case *types.TypeName:
		d.typeName(object)
	}
}

// exact is a constant in full: String shortens it.
func exact(value constant.Value) string { return value.ExactString() }

func (d *dump) typeName(object *types.TypeName) {
	name := object.Name()
	if object.IsAlias() {
		d.say("type %s = %s", name, d.text(types.Unalias(object.Type())))
	}
	named, ok := types.Unalias(object.Type()).(*types.Named)
	if !ok || object.IsAlias() && !strings.Contains(named.Obj().Pkg().Path(), "/internal/") { // which has its own file
		return
	}
	name += d.typeParams(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		// Whether == compiles, which a hidden field can change.
		d.say("type %s struct%s", name, map[bool]string{true: ", comparable"}[types.Comparable(named)])
		d.fields(name, under)
	case *types.Interface:
		d.iface(name, under)
	default:
		d.say("type %s %s", name, d.text(under))
	}
	if types.IsInterface(named) {
		return
	}
	// Those of what is embedded too. The method set of the pointer has all.
	values := types.NewMethodSet(named)
	pointers := types.NewMethodSet(types.NewPointer(named))
	for selection := range pointers.Methods() {
		method := selection.Obj()
		if !method.Exported() {
			continue
		}
		receiver := "*" + name
		if values.Lookup(method.Pkg(), method.Name()) != nil {
			receiver = name
		}
		if signature, ok := selection.Type().(*types.Signature); ok {
			d.say("method (%s) %s%s", receiver, method.Name(), d.signature(signature))
		}
	}
}

func (d *dump) fields(name string, under *types.Struct) {
	for i := range under.NumFields() {
		field := under.Field(i)
		switch {
		case field.Embedded() && !field.Exported():
			// What it exports can be named all the same.
			typ := field.Type()
			if pointer, ok := typ.(*types.Pointer); ok {
				typ = pointer.Elem()
			}
			if hidden, ok := typ.Underlying().(*types.Struct); ok {
				d.fields(name, hidden)
			}
		case !field.Exported():
		case field.Embedded():
			d.say("field %s embeds %s%s", name, d.text(field.Type()), tag(under.Tag(i)))
		default:
			d.say("field %s.%s %s%s", name, field.Name(), d.text(field.Type()), tag(under.Tag(i)))
		}
	}
}

// tag is how a field is written, where that is told: files are an API too.
func tag(text string) string {
	if text == "" {
		return ""
	}
	return " `" + text + "`"
}

func (d *dump) iface(name string, under *types.Interface) {
	closed := false
	for method := range under.Methods() {
		if !method.Exported() {
			closed = true
			continue
		}
		d.say("interface %s.%s%s", name, method.Name(), d.signature(method.Signature()))
	}
	kind := ""
	if closed {
		kind = ", implemented in its package alone"
	}
	if !under.IsMethodSet() {
		kind += ", of types " + d.text(under)
	}
	d.say("type %s interface%s", name, kind)
}

func (d *dump) typeParams(list *types.TypeParamList) string {
	var params []string
	for param := range list.TypeParams() {
		params = append(params, param.Obj().Name()+" "+d.text(param.Constraint()))
	}
	if len(params) == 0 {
		return ""
	}
	return "[" + strings.Join(params, ", ") + "]"
}

// signature is that of a function, without the names of what it takes and returns.
func (d *dump) signature(of *types.Signature) string {
	text := d.text(types.NewSignatureType(nil, nil, nil, d.nameless(of.Params()), d.nameless(of.Results()), of.Variadic()))
	return d.typeParams(of.TypeParams()) + strings.TrimPrefix(text, "func")
}

func (d *dump) nameless(tuple *types.Tuple) *types.Tuple {
	var variables []*types.Var
	for variable := range tuple.Variables() {
		variables = append(variables, types.NewParam(token.NoPos, variable.Pkg(), "", variable.Type()))
	}
	return types.NewTuple(variables...)
}

// text is a type, its package by the path within the module.
func (d *dump) text(typ types.Type) string {
	return types.TypeString(typ, func(other *types.Package) string {
		switch {
		case other == d.pkg:
			return ""
		case other.Path() == modulePath:
			return "trading"
		}
		return cmp.Or(strings.TrimPrefix(other.Path(), modulePath+"/"), other.Path())
	})
}

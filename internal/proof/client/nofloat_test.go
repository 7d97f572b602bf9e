package client

import (
	"fmt"
	"go/types"
	"slices"
	"testing"
)

// A float cannot hold 0.1. None is in the API: in no parameter, result, field,
// variable, constant or constraint.
func TestNoFloatInTheAPI(t *testing.T) {
	pkg := rootPackage(t)
	for _, where := range floatsIn(pkg) {
		t.Errorf("float in the API: %s", where)
	}
	if pkg.Scope().Lookup("Order") == nil {
		t.Error("looked at the wrong package")
	}
}

// The test above is worth something only if it finds floats wherever they hide.
func TestFloatsAreFound(t *testing.T) {
	for _, declaration := range []string{
		`func Exported(x float64) {}`,
		`func Exported() float32 { return 0 }`,
		`func Exported(x ...float64) {}`,
		`func Exported(f func(map[string]chan []*float64)) {}`,
		`func Exported[T ~float64 | ~int](t T) {}`,
		`var Exported float64`,
		`var Exported = 1.5`,
		`const Exported = 1.5`,
		`const Exported float32 = 1`,
		`type Exported float64`,
		`type Exported = []float64`,
		`type Exported struct{ Field [2]float64 }`,
		`type Exported struct{ hidden }; type hidden struct{ Field float64 }`,
		`type Exported struct{ Field hidden }; type hidden struct{ Field float64 }`,
		`type Exported struct{}; func (Exported) Method() complex128 { return 0 }`,
		`type Exported struct{}; func (*Exported) Method(x *float64) {}`,
		`type Exported interface{ Method() (int, float64) }`,
		`type Exported = opt[float64]; type opt[T any] struct{ v T }`,
		`type hidden struct{}; func (hidden) Method() float64 { return 0 }; var Exported hidden`,
	} {
		pkg, complaints := compile(t, "package snippet; "+declaration)
		if len(complaints) > 0 {
			t.Errorf("%s: %v", declaration, complaints)
		}
		if len(floatsIn(pkg)) == 0 {
			t.Errorf("not found: %s", declaration)
		}
	}
	for _, declaration := range []string{
		`func hidden(x float64) {}`,
		`type Exported struct{ hidden float64 }`,
		`type Exported struct{}; func (Exported) hidden() float64 { return 0 }`,
		`func Exported(x int, s string) error { return nil }`,
	} {
		pkg, _ := compile(t, "package snippet; "+declaration)
		if found := floatsIn(pkg); len(found) > 0 {
			t.Errorf("%s: %v", declaration, found)
		}
	}
}

// floatsIn returns where floats are in what a package exports. Types of other
// packages are taken as they are.
func floatsIn(pkg *types.Package) []string {
	w := floatWalk{pkg: pkg, seen: map[*types.TypeName]bool{}}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if object := scope.Lookup(name); object.Exported() {
			w.walk(name, object.Type())
		}
	}
	slices.Sort(w.found)
	return w.found
}

type floatWalk struct {
	pkg   *types.Package
	seen  map[*types.TypeName]bool
	found []string
}

func (w *floatWalk) walk(where string, typ types.Type) {
	switch typ := types.Unalias(typ).(type) {
	case *types.Basic:
		if typ.Info()&(types.IsFloat|types.IsComplex) != 0 {
			w.found = append(w.found, fmt.Sprintf("%s: %s", where, typ))
		}
	case *types.Named:
		w.walkNamed(where, typ)
	case *types.Pointer:
		w.walk(where, typ.Elem())
	case *types.Slice:
		w.walk(where, typ.Elem())
	case *types.Array:
		w.walk(where, typ.Elem())
	case *types.Chan:
		w.walk(where, typ.Elem())
	case *types.Map:
		w.walk(where, typ.Key())
		w.walk(where, typ.Elem())
	case *types.Tuple:
		for variable := range typ.Variables() {
			w.walk(where, variable.Type())
		}
	case *types.Signature:
		for param := range typ.TypeParams().TypeParams() {
			w.walk(where, param.Constraint())
		}
		w.walk(where+"()", typ.Params())
		w.walk(where+"()", typ.Results())
	case *types.Struct:
		for field := range typ.Fields() {
			if field.Exported() || field.Embedded() {
				w.walk(where+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range typ.Methods() {
			w.walk(where+"."+method.Name(), method.Type())
		}
		for embedded := range typ.EmbeddedTypes() {
			w.walk(where, embedded)
		}
	case *types.Union:
		for term := range typ.Terms() {
			w.walk(where, term.Type())
		}
	}
}

func (w *floatWalk) walkNamed(where string, typ *types.Named) {
	for argument := range typ.TypeArgs().Types() {
		w.walk(where, argument)
	}
	name := typ.Obj()
	if name.Pkg() != w.pkg || w.seen[name] {
		return
	}
	w.seen[name] = true
	w.walk(name.Name(), typ.Origin().Underlying())
	for param := range typ.TypeParams().TypeParams() {
		w.walk(name.Name(), param.Constraint())
	}
	for method := range typ.Origin().Methods() {
		if method.Exported() {
			w.walk(name.Name()+"."+method.Name(), method.Type())
		}
	}
}

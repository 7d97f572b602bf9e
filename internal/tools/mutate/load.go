package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// switchVariable is the variable of the environment that chooses a mutant.
const switchVariable = "MUTANT"

// program is a package with its mutants.
type program struct {
	dir, name string
	rendered  map[string]string // by file
	mutants   []mutant
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
	DepOnly                       bool
}

func list(ctx context.Context, dir string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly", ".")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		switch err := decoder.Decode(&one); err {
		case nil:
			all = append(all, one)
		case io.EOF:
			return all, nil
		default:
			return nil, err
		}
	}
}

// load type-checks the package and finds the mutants of some of its files.
func load(ctx context.Context, dir string, files []string) (*program, error) {
	all, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var target listed
	for _, one := range all {
		exports[one.ImportPath] = one.Export
		if !one.DepOnly {
			target = one
		}
	}
	fset := token.NewFileSet()
	parsed := map[string]*ast.File{}
	sources := map[string][]byte{}
	var syntax []*ast.File
	for _, name := range target.GoFiles {
		if sources[name], err = os.ReadFile(filepath.Join(target.Dir, name)); err != nil {
			return nil, err
		}
		if parsed[name], err = parser.ParseFile(fset, name, sources[name], parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		syntax = append(syntax, parsed[name])
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	pkg, err := config.Check(target.ImportPath, fset, syntax, info)
	if err != nil {
		return nil, err
	}

	p := &program{dir: target.Dir, name: target.Name, rendered: map[string]string{}}
	swaps := constants(pkg)
	next := 0
	for _, name := range files {
		file, ok := parsed[name]
		if !ok {
			return nil, fmt.Errorf("%s is no file of %s", name, target.ImportPath)
		}
		f := &finder{
			name: name, source: sources[name], fset: fset, info: info, pkg: pkg,
			imports: importNames(file), swaps: swaps, next: &next,
		}
		f.find(file)
		p.rendered[name] = render(sources[name], f.found)
		p.mutants = append(p.mutants, f.found...)
	}
	return p, nil
}

// constants are those of the package by their named type, in order of their
// declaration.
func constants(pkg *types.Package) map[types.Type][]*types.Const {
	byType := map[types.Type][]*types.Const{}
	for _, name := range pkg.Scope().Names() {
		if object, ok := pkg.Scope().Lookup(name).(*types.Const); ok && name != "_" {
			if _, named := object.Type().(*types.Named); named {
				byType[object.Type()] = append(byType[object.Type()], object)
			}
		}
	}
	for _, same := range byType {
		slices.SortFunc(same, func(a, b *types.Const) int { return cmp.Compare(a.Pos(), b.Pos()) })
	}
	return byType
}

func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name != nil:
			names[of] = spec.Name.Name
		default:
			names[of] = path.Base(of)
		}
	}
	return names
}

// build compiles the tests of the package with all the mutants in it.
func (p *program) build(ctx context.Context, scratch, program string) error {
	replace := map[string]string{}
	place := func(name, text string) error {
		file := filepath.Join(scratch, name)
		replace[filepath.Join(p.dir, name)] = file
		return os.WriteFile(file, []byte(text), 0o600)
	}
	for name, text := range p.rendered {
		if err := place(name, text); err != nil {
			return err
		}
	}
	if err := place("mutant_switch.go", "package "+p.name+"\n"+switchSource); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlayFile := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlayFile, "-o", program, ".")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

const switchSource = `
import (
	"os"
	"strconv"
)

var mutantNumber, _ = strconv.Atoi(os.Getenv("` + switchVariable + `"))

func mutantIs(number int) bool { return number == mutantNumber }

func mutantPick[T any](number int, original, other T) T {
	if mutantIs(number) {
		return other
	}
	return original
}
`

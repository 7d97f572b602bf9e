package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// readProfile returns how often each block of a profile ran, by where it is.
func readProfile(name string) (map[string]int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	runs := map[string]int{}
	for line := range strings.Lines(string(text)) {
		// path/file.go:10.2,12.3 statements count
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue // the mode
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no line of a profile", name, line)
		}
		runs[fields[0]] += n
	}
	return runs, nil
}

// source is the module's files, parsed as they are asked for.
type source struct {
	dir, module string
	fset        *token.FileSet
	parsed      map[string]*ast.File
}

// functionAt returns the file and the function that a block of a profile is in.
func (s *source) functionAt(at string) (file, function string, err error) {
	path, place, _ := strings.Cut(at, ":")
	start, _, _ := strings.Cut(place, ".")
	line, err := strconv.Atoi(start)
	if err != nil {
		return "", "", fmt.Errorf("%q is no place", at)
	}
	file = strings.TrimPrefix(path, s.module+"/")
	if s.parsed[file] == nil {
		s.parsed[file], err = parser.ParseFile(s.fset, filepath.Join(s.dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
	}
	for _, declared := range s.parsed[file].Decls {
		if s.fset.Position(declared.Pos()).Line <= line && line <= s.fset.Position(declared.End()).Line {
			return file, nameOf(declared), nil
		}
	}
	return file, "?", nil
}

// nameOf names a function, or a method with its type. A function that a variable
// holds has no name.
func nameOf(declared ast.Decl) string {
	function, ok := declared.(*ast.FuncDecl)
	if !ok {
		return "a variable's"
	}
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	for {
		switch of := receiver.(type) {
		case *ast.StarExpr:
			receiver = of.X
		case *ast.IndexExpr:
			receiver = of.X
		case *ast.Ident:
			return of.Name + "." + function.Name.Name
		default:
			return function.Name.Name
		}
	}
}

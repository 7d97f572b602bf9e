package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// size is how long a file is; code counts the lines that are neither blank nor a
// comment alone.
type size struct {
	lines, code int
	generated   bool
}

// measure returns the size of each Go file below a folder that is no test, by its path
// from there.
func measure(dir string) (map[string]size, error) {
	sizes := map[string]size{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && (name == "testdata" || strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sizes[filepath.ToSlash(short)], err = sizeOf(path, text)
		return err
	})
	return sizes, err
}

func sizeOf(path string, text []byte) (size, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return size{}, err
	}
	s := size{lines: strings.Count(string(text), "\n"), generated: ast.IsGenerated(parsed)}
	file := fset.AddFile(path, -1, len(text))
	var tokens scanner.Scanner
	tokens.Init(file, text, nil, 0)
	last := 0
	for {
		at, kind, literal := tokens.Scan()
		if kind == token.EOF {
			return s, nil
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // there is none in the text
		}
		first := file.Line(at)
		end := first + strings.Count(literal, "\n") // of a raw string
		s.code += max(end-max(first, last+1)+1, 0)
		last = max(last, end)
	}
}

// sum says how large some files are together.
func sum(sizes map[string]size, names []string) string {
	lines, code := 0, 0
	for _, name := range names {
		lines += sizes[name].lines
		code += sizes[name].code
	}
	return fmt.Sprintf("%d files, %d lines, %d of code", len(names), lines, code)
}

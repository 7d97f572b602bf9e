package house

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// listed is what the go command reports about a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// Load type-checks the package in a folder and returns its graph. Its imports come
// from the export data of the build: checking them from source takes seconds.
func Load(dir string) (*Graph, error) {
	root, exports, err := list(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range root.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(root.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	pkg, err := config.Check(root.ImportPath, fset, files, info)
	if err != nil {
		return nil, fmt.Errorf("type-check %s: %w", root.ImportPath, err)
	}
	g := &Graph{Files: root.GoFiles, uses: map[Arrow]map[string]bool{}}
	nameOf := func(at token.Pos) string { return filepath.Base(fset.Position(at).Filename) }
	for ident, object := range info.Uses {
		if object.Pkg() == pkg {
			g.add(nameOf(ident.Pos()), nameOf(object.Pos()), object.Name())
		}
	}
	return g, nil
}

// list asks the go command for the package in a folder, and for the export data of
// all that it imports.
func list(dir string) (listed, map[string]string, error) {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return listed{}, nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, &stderr)
	}
	var root listed
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return root, exports, nil
		} else if err != nil {
			return listed{}, nil, fmt.Errorf("read the output of go list: %w", err)
		}
		exports[one.ImportPath] = one.Export
		if !one.DepOnly {
			root = one
		}
	}
}

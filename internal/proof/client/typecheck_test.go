package client

import (
	"bytes"
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
	"strings"
	"sync"
	"testing"
)

const rootPath = "github.com/tradingapi/trading-go"

// compiledPackages imports this package and all that it depends on, as the go
// command built them: type-checking them from source again would take seconds.
var compiledPackages = sync.OnceValues(func() (types.Importer, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{with .Export}}{{$.ImportPath}}\t{{.}}{{end}}", rootPath)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			files[path] = file
		}
	}
	lookup := func(path string) (io.ReadCloser, error) {
		file, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("%s is not among the dependencies of %s", path, rootPath)
		}
		return os.Open(file)
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", lookup), nil
})

// rootPackage is the exported API of this package.
func rootPackage(t *testing.T) *types.Package {
	t.Helper()
	imp := typesImporter(t)
	pkg, err := imp.Import(rootPath)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func typesImporter(t *testing.T) types.Importer {
	t.Helper()
	if _, err := exec.LookPath("go"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the go command, to find what it compiled")
	}
	imp, err := compiledPackages()
	if err != nil {
		t.Fatal(err)
	}
	return imp
}

// compile type-checks a source file and returns what the compiler would say.
func compile(t *testing.T, source string) (pkg *types.Package, complaints []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	config := types.Config{
		Importer: typesImporter(t),
		Error: func(err error) {
			if complaint := (types.Error{}); errors.As(err, &complaint) {
				complaints = append(complaints, complaint.Msg)
			}
		},
	}
	pkg, _ = config.Check("snippet", fset, []*ast.File{file}, nil) // errors are in complaints
	return pkg, complaints
}

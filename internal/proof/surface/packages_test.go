package surface

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/tradingapi/trading-go"

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles, IgnoredGoFiles       []string
	DepOnly                       bool
}

// public reports whether a program of others can import the package.
func (l listed) public() bool {
	return !l.DepOnly && len(l.GoFiles) > 0 && l.Name != "main" && !strings.Contains(l.ImportPath+"/", "/internal/") && !strings.HasPrefix(l.ImportPath, modulePath+"/examples/")
}

// short is the name of the package within the module, trading for the root.
func (l listed) short() string {
	if l.ImportPath == modulePath {
		return "trading"
	}
	return strings.ReplaceAll(strings.TrimPrefix(l.ImportPath, modulePath+"/"), "/", ".")
}

// packages are all that the module's packages are made of, as the go command
// built them: type-checking them from source again would take seconds.
var packages = sync.OnceValues(func() ([]listed, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,IgnoredGoFiles,DepOnly", modulePath+"/...")
	list.Dir = filepath.Join("..", "..", "..")
	list.Env = append(os.Environ(), "GOWORK=off") // modules of their own have a surface of their own
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if !one.DepOnly && one.ImportPath != modulePath && !strings.HasPrefix(one.ImportPath, modulePath+"/") {
			continue
		}
		all = append(all, one)
	}
})

func publicPackages(t *testing.T) []listed {
	t.Helper()
	if _, err := exec.LookPath("go"); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the go command, to find what it compiled")
	}
	all, err := packages()
	require.NoError(t, err)
	var public []listed
	names := map[string]bool{}
	for _, one := range all {
		if one.public() {
			public = append(public, one)
			names[one.short()] = true
		}
	}
	for _, name := range []string{"trading", "journal", "tradingsim", "watch"} {
		require.True(t, names[name], "%s was not found", name)
	}
	return public
}

func typesImporter(t *testing.T) types.Importer {
	t.Helper()
	all, err := packages()
	require.NoError(t, err)
	files := map[string]string{}
	for _, one := range all {
		files[one.ImportPath] = one.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each picture is of the page as it is, in the README, and small.
func TestPicturesAreOfThePagesAsTheyAre(t *testing.T) {
	const root, most = "../../..", 500 << 10
	sums, err := os.ReadFile(filepath.Join(root, PictureSums))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, p := range Pictures() {
		line, err := p.Line(root)
		require.NoError(t, err)
		assert.Contains(t, strings.Split(string(sums), "\n"), line,
			"%s is older than the page that it shows. Make it anew, and look at it:\n\tgo test ./internal/proof/browser -run TestPictures -pictures", p.File)
		assert.Contains(t, string(readme), `src="`+p.File+`"`)
		image, err := os.Stat(filepath.Join(root, p.File))
		require.NoError(t, err)
		assert.Less(t, image.Size(), int64(most), p.File)
	}
}

// A source that changes, or is gone, changes the line of its picture.
func TestALineFollowsItsSources(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	p := Picture{File: "a.png", Sources: []string{"*.css", "*.go"}}
	_, err := p.Line(root)
	require.ErrorContains(t, err, "a.png: no file is *.css")
	write("page.css", "a {}")
	write("page.go", "package page")
	first, err := p.Line(root)
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}  a.png$", first)
	write("page_test.go", "package page")
	same, err := p.Line(root)
	require.NoError(t, err)
	require.Equal(t, first, same, "a test is no source")
	write("page.css", "a { }")
	second, err := p.Line(root)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
}

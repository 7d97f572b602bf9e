package house

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Picture is a picture of the README, made from a page of this repository.
type Picture struct {
	File    string   // below the root
	Sources []string // patterns of the files that make the page, below the root
}

// Pictures are those of the README.
func Pictures() []Picture {
	return []Picture{
		{"docs/pictures/console.gif", []string{"tradingsim/control/page/*", "internal/demobot/*.go"}},
		{"docs/pictures/report.png", []string{"backtest/report/*.go", "backtest/report/*.html"}},
	}
}

// PictureSums is the file with the sums of the sources that the pictures were made from.
const PictureSums = "docs/pictures/sums.txt"

// Line is the picture's line in [PictureSums], for the sources below root as they are now.
func (p Picture) Line(root string) (string, error) {
	sum := sha256.New()
	for _, pattern := range p.Sources {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("%s: no file is %s", p.File, pattern)
		}
		for _, file := range files { // in the order of their names
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(file), len(text), text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)) + "  " + p.File, nil
}

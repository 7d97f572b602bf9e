// Command filegraph prints how the files of a package use each other: its circles, the
// arrows that run back in them, and how many lines there are.
//
//	filegraph [-dir FOLDER] [-arrows] [-files]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tradingapi/trading-go/internal/proof/house"
)

func main() {
	dir := flag.String("dir", ".", "`folder` of the package, at the top of its repository")
	arrows := flag.Bool("arrows", false, "print all arrows, and what each uses")
	files := flag.Bool("files", false, "print the size of each file of the package")
	flag.Parse()
	if err := run(os.Stdout, *dir, *arrows, *files); err != nil {
		fmt.Fprintln(os.Stderr, "filegraph:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string, arrows, files bool) error {
	g, err := house.Load(dir)
	if err != nil {
		return err
	}
	sizes, err := measure(dir)
	if err != nil {
		return err
	}
	if arrows {
		for _, a := range g.Arrows() {
			fmt.Fprintln(out, g.Describe(a))
		}
		fmt.Fprintln(out)
	}
	if files {
		for _, name := range g.Files {
			fmt.Fprintf(out, "%6d lines, %6d of code  %s\n", sizes[name].lines, sizes[name].code, name)
		}
		fmt.Fprintln(out)
	}
	back := 0
	for _, circle := range g.Circles() {
		runBack := g.Back(circle)
		back += len(runBack)
		fmt.Fprintf(out, "circle: %s, %d arrows run back\n", sum(sizes, circle), len(runBack))
		for _, name := range circle {
			fmt.Fprintln(out, "    ", name)
		}
		for _, a := range runBack {
			fmt.Fprintln(out, "    back:", g.Describe(a))
		}
	}
	fmt.Fprintf(out, "arrows:      %d, of which %d run back\n", len(g.Arrows()), back)
	var all, written []string
	for name, s := range sizes {
		all = append(all, name)
		if !s.generated {
			written = append(written, name)
		}
	}
	fmt.Fprintln(out, "root:       ", sum(sizes, g.Files))
	fmt.Fprintln(out, "  by hand:  ", sum(sizes, byHand(sizes, g.Files)))
	fmt.Fprintln(out, "repository: ", sum(sizes, all))
	fmt.Fprintln(out, "  by hand:  ", sum(sizes, written))
	return nil
}

func byHand(sizes map[string]size, names []string) []string {
	var written []string
	for _, name := range names {
		if !sizes[filepath.ToSlash(name)].generated {
			written = append(written, name)
		}
	}
	return written
}

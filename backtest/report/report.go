// Package report writes the result of a backtest as one HTML file: inline SVG, no script, no
// request to anywhere, readable on a telephone. Every figure in it is defined in it, and
// the same result gives the same bytes.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
)

//go:embed report.html
var page string

// Write writes the report of a result, with a section for each forecast that was made of it.
func Write(w io.Writer, r *backtest.Result, forecasts ...*odds.Forecast) error {
	if len(r.Paths) == 0 || len(r.Worse().Curve) == 0 {
		return fmt.Errorf("report: the result has no curve; a sweep keeps that of the best variant alone")
	}
	t, err := template.New("report").Funcs(template.FuncMap{"term": term}).Parse(page)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := t.Execute(w, newView(r, forecasts)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// WriteFile writes the report into a file.
func WriteFile(name string, r *backtest.Result, forecasts ...*odds.Forecast) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := Write(file, r, forecasts...); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// term is the name of a figure, as a link to its definition; one that is not defined is an
// error.
func term(name string) (template.HTML, error) {
	defined := slices.ContainsFunc(backtest.Definitions(), func(d backtest.Definition) bool { return d.Name == name })
	if !defined {
		return "", fmt.Errorf("%q is not defined", name)
	}
	return template.HTML(fmt.Sprintf(`<a class="term" href="#%s">%s</a>`, anchor(name), template.HTMLEscapeString(name))), nil
}

func anchor(name string) string {
	return "def-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

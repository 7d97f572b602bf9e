package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgimg" // .png
	_ "gonum.org/v1/plot/vg/vgsvg" // .svg

	"github.com/tradingapi/trading-go/tradingsim"
)

// savePlot draws the equity curve, by the ending of the name as PNG or SVG. Where the
// equity is not known there is a gap.
func savePlot(name, title string, a tradingsim.AccountReport) error {
	switch filepath.Ext(name) {
	case ".png", ".svg":
	default:
		return fmt.Errorf("%s: a plot is a .png or an .svg", name)
	}
	p := plot.New()
	p.Title.Text = title
	p.Y.Label.Text = "equity, $"
	p.X.Tick.Marker = plot.TimeTicks{Format: "02 Jan", Time: plot.UTCUnixTime}
	p.Add(plotter.NewGrid())

	opening, err := plotter.NewLine(plotter.XYs{
		{X: seconds(a.Curve[0].At), Y: a.Opening.InexactFloat64()},
		{X: seconds(a.Curve[len(a.Curve)-1].At), Y: a.Opening.InexactFloat64()},
	})
	if err != nil {
		return err
	}
	opening.Dashes = []vg.Length{vg.Points(4), vg.Points(4)}
	opening.Color = color.Gray{Y: 128}
	p.Add(opening)
	for _, piece := range pieces(a.Curve) {
		line, err := plotter.NewLine(piece)
		if err != nil {
			return err
		}
		line.Color = color.RGBA{B: 160, A: 255}
		p.Add(line)
	}
	return p.Save(24*vg.Centimeter, 12*vg.Centimeter, name)
}

// pieces are the parts of a curve between which the equity is not known. A picture
// has some thousand pixels: here alone a float does.
func pieces(curve []tradingsim.Point) (all []plotter.XYs) {
	var piece plotter.XYs
	for _, p := range curve {
		if p.Equity.Valid {
			piece = append(piece, plotter.XY{X: seconds(p.At), Y: p.Equity.Decimal.InexactFloat64()})
			continue
		}
		if len(piece) > 0 {
			all = append(all, piece)
		}
		piece = nil
	}
	if len(piece) > 0 {
		all = append(all, piece)
	}
	return all
}

func seconds(t time.Time) float64 { return float64(t.Unix()) }

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// report prints a summary and writes the files.
func report(out io.Writer, args arguments, r result) error {
	a, ok := r.report.Account(args.account())
	if !ok {
		return errors.New("the bot has not looked at its account")
	}
	summary(out, args, r, a)
	if err := os.MkdirAll(args.out, 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"equity.csv": a.WriteCurve,
		"trades.csv": a.WriteTrades,
		"counts.csv": r.report.WriteCounts,
	} {
		if err := writeFile(filepath.Join(args.out, name), write); err != nil {
			return err
		}
	}
	if args.plot == "" {
		return nil
	}
	return savePlot(filepath.Join(args.out, args.plot), args.title(), a)
}

func (s settings) title() string {
	if s.marks != "" {
		return fmt.Sprintf("%d days on %s", s.days, filepath.Base(s.marks))
	}
	return fmt.Sprintf("%d days on a random walk, seed %d", s.days, s.seed)
}

// summary is the same for the same seed, wherever and whenever it runs.
func summary(out io.Writer, args arguments, r result, a tradingsim.AccountReport) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(out, "%-13s %s\n", name, fmt.Sprintf(format, values...))
	}
	line("marks", "%s", args.title())
	if r.stopped != nil {
		line("stopped", "after %s: %v", a.Curve[len(a.Curve)-1].At.Sub(r.report.From).Round(time.Minute), r.stopped)
	}
	line("equity", "from $%s to %s, %s", a.Opening.StringFixed(2), money(a.Equity), a.Status)
	if pct, ok := a.ReturnPct(); ok {
		line("return", "%s%%", pct.StringFixed(2))
	}
	line("max drawdown", "%s%%, $%s; longest below a peak: %s", a.Drawdown.Pct.StringFixed(2), a.Drawdown.Amount.StringFixed(2), a.Drawdown.Longest.Round(time.Minute))
	won := 0
	causes := map[string]int{}
	for _, t := range a.Trades {
		causes[t.Cause]++
		if t.NetPnL().IsPositive() {
			won++
		}
	}
	line("trades", "%d, %d of them won; closed by %s", len(a.Trades), won, counts(causes))
	line("fees", "$%s", a.Fees.StringFixed(2))
	line("requests", "%d: %s", r.report.Sent(), counts(r.report.Requests))
	line("refusals", "%s", counts(r.report.Refusals))
}

func money(d decimal.NullDecimal) string {
	if !d.Valid {
		return "unknown"
	}
	return "$" + d.Decimal.StringFixed(2)
}

func counts(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	text := ""
	for i, name := range slices.Sorted(maps.Keys(of)) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", of[name], name)
	}
	return text
}

// record writes the marks of the walk.
func record(args arguments) error {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	walk := tradingsim.RandomWalk(args.seed, startPrice, args.step)
	rows := time.Duration(args.days) * 24 * time.Hour / max(args.every, 1)
	return writeFile(args.record, func(w io.Writer) error {
		return tradingsim.WriteCSV(w, walk, start, args.every, int(rows))
	})
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return file.Close()
}

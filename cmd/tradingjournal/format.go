package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// writes yields what a journal holds. An error is the last.
func writes(path string) iter.Seq2[*trading.JournaledWrite, error] {
	return func(yield func(*trading.JournaledWrite, error) bool) {
		for h, err := range journal.Read(path) {
			var w *trading.JournaledWrite
			if err == nil {
				w, err = trading.DescribeHistory(h)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

func find(path string, id trading.IntentID) (*trading.JournaledWrite, error) {
	for w, err := range writes(path) {
		if err != nil {
			return nil, err
		}
		if w.ID == id {
			return w, nil
		}
	}
	return nil, fmt.Errorf("there is no write %s", printable(id))
}

// list prints a line for each write, without what was sent and answered. What is
// before a damage is listed before the error.
func list(out io.Writer, path string, all bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DECIDED\tSTATE\tOPERATION\tACCOUNT\tSYMBOL\tTRY\tCLIENT ORDER ID\tID")
	count := 0
	for w, err := range writes(path) {
		if err != nil {
			return errors.Join(table.Flush(), err)
		}
		if !w.Pending && !all {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n",
			stamp(w.Decided), state(w), printable(w.Operation), printable(w.Account), printable(w.Symbol), w.Try,
			printable(w.ClientOrderID), printable(w.ID))
		count++
	}
	if count == 0 {
		_, err := fmt.Fprintln(out, "nothing")
		return err
	}
	return table.Flush()
}

func showOne(out io.Writer, path string, id trading.IntentID) error {
	w, err := find(path, id)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows(w) {
		if row.value != "" {
			fmt.Fprintf(table, "%s\t%s\n", row.name, row.value)
		}
	}
	for _, f := range w.Facts {
		fmt.Fprintf(table, "%s\t%s\n", stamp(f.At), printable(f.What))
	}
	return table.Flush()
}

func state(w *trading.JournaledWrite) string {
	switch {
	case w.Pending:
		return "pending"
	case w.Code != "":
		return fmt.Sprintf("%s (%s)", w.Outcome, printable(w.Code))
	default:
		return w.Outcome.String()
	}
}

type namedValue struct{ name, value string }

// rows describe a write; what is empty is left out by the caller.
func rows(w *trading.JournaledWrite) []namedValue {
	all := []namedValue{
		{"id", printable(w.ID)},
		{"state", state(w)},
		{"operation", printable(w.Operation)},
		{"environment", printable(w.Environment)},
		{"account", printable(w.Account)},
		{"symbol", printable(w.Symbol)},
		{"tag", printable(w.Tag)},
		{"client order id", printable(w.ClientOrderID)},
		{"try", strconv.Itoa(w.Try)},
		{"key", printable(w.Key)},
		{"base URL", printable(w.BaseURL)},
		{"process", printable(w.Process)},
		{"body", printable(w.Body)},
	}
	if w.Pending {
		return all
	}
	return append(all, []namedValue{
		{"resolved", stamp(w.ResolvedAt)},
		{"evidence", w.Evidence.String()},
		{"note", printable(w.Note)},
		{"answer", printable(w.Answer)},
	}...)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// printable quotes a text that would move or colour something on a terminal.
func printable[T ~string | ~[]byte](text T) string {
	s := string(text)
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

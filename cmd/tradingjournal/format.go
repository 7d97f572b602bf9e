package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// state is pending, fenced, or the outcome.
func state(entry trading.Entry) string {
	if s, ok := entry.Settlement.Get(); ok {
		if s.Code != "" {
			return fmt.Sprintf("%s (%s)", s.Outcome, printable(s.Code))
		}
		return s.Outcome.String()
	}
	if entry.Intent.Fenced {
		return "pending, fenced"
	}
	return "pending"
}

type namedValue struct{ name, value string }

// rows describes an entry in full; what is empty is left out by the caller.
func rows(entry trading.Entry) []namedValue {
	in := entry.Intent
	rows := []namedValue{
		{"id", printable(in.ID)},
		{"state", state(entry)},
		{"operation", printable(in.Operation)},
		{"environment", printable(in.Environment)},
		{"account", printable(in.Account)},
		{"symbol", printable(in.Symbol)},
		{"can add exposure", yes(in.Entry)},
		{"tag", printable(in.Tag)},
		{"decision", printable(in.Decision)},
		{"try", strconv.Itoa(in.Try)},
		{"key", printable(in.Key)},
		{"base URL", printable(in.BaseURL)},
		{"process", printable(in.Process)},
		{"created", stamp(in.Created)},
		{"expires", stamp(in.Expires)},
		{"body", printable(in.Body)},
	}
	if b, ok := in.Baseline.Get(); ok {
		rows = append(rows,
			namedValue{"before it, read", stamp(b.At)},
			namedValue{"  size", b.Size.String()},
			namedValue{"  entry price", b.EntryPrice.String()},
			namedValue{"  orders", join(b.Orders)},
			namedValue{"  runs", join(b.Runs)},
			namedValue{"  finished runs", join(b.Finished)},
			namedValue{"  trades", strconv.Itoa(len(b.Trades))},
		)
	}
	if s, ok := entry.Settlement.Get(); ok {
		rows = append(rows,
			namedValue{"settled", stamp(s.At)},
			namedValue{"  by", s.Basis.String()},
			namedValue{"  its key is spent", yes(s.Spent)},
			namedValue{"  code", printable(s.Code)},
			namedValue{"  note", printable(s.Note)},
			namedValue{"  answer", printable(s.Answer)},
		)
	}
	return rows
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func join[T ~string](ids []T) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = printable(id)
	}
	return strings.Join(texts, " ")
}

// printable quotes a text that would move or colour something on a terminal.
func printable[T ~string | ~[]byte](text T) string {
	s := string(text)
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

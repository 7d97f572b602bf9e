package tradingsim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// WriteCurve writes the equity curve as CSV with the heading
//
//	time,balance,equity,changed
//
// Times are RFC 3339 in UTC, amounts exact; an equity that is not known is empty;
// changed is true after a fill, a funding payment or a reset and false at a
// sample.
func (a AccountReport) WriteCurve(w io.Writer) error {
	return writeRows(w, []string{"time", "balance", "equity", "changed"}, len(a.Curve), func(i int) []string {
		p := a.Curve[i]
		equity := ""
		if p.Equity.Valid {
			equity = p.Equity.Decimal.String()
		}
		return []string{timeText(p.At), p.Balance.String(), equity, strconv.FormatBool(p.Changed)}
	})
}

// WriteTrades writes the closed trades as CSV with the heading
//
//	opened,closed,symbol,side,size,entry,exit,gross,fee,net,cause
//
// Amounts are exact. The fee is that of the round trip, and net is gross less fee.
func (a AccountReport) WriteTrades(w io.Writer) error {
	heading := []string{"opened", "closed", "symbol", "side", "size", "entry", "exit", "gross", "fee", "net", "cause"}
	return writeRows(w, heading, len(a.Trades), func(i int) []string {
		t := a.Trades[i]
		return []string{
			timeText(t.OpenedAt), timeText(t.ClosedAt), t.Symbol, t.Side, t.Size.String(),
			t.EntryPrice.String(), t.ExitPrice.String(),
			t.GrossPnL.String(), t.RoundTripFee.String(), t.NetPnL().String(), t.Cause,
		}
	})
}

// WriteCSV writes the marks of a feed as [ReadCSV] reads them: rows of them, from
// a time on and so far apart. A moment without a mark has an empty price. A feed
// of [RandomWalk] starts at 2000-01-01T00:00:00Z here.
func WriteCSV(w io.Writer, f Feed, from time.Time, every time.Duration, rows int) error {
	if every <= 0 || rows <= 0 || rows > maxCSVRows {
		return fmt.Errorf("tradingsim: WriteCSV: %d rows, %s apart", rows, every)
	}
	if f == nil {
		return errors.New("tradingsim: WriteCSV: no feed")
	}
	return writeRows(w, []string{"time", "price"}, rows, func(i int) []string {
		at := from.Add(time.Duration(i) * every)
		price, ok := f.At(at)
		if !ok || !price.IsPositive() {
			return []string{timeText(at), ""}
		}
		return []string{timeText(at), price.String()}
	})
}

func writeRows(w io.Writer, heading []string, n int, row func(i int) []string) error {
	out := csv.NewWriter(w)
	if err := out.Write(heading); err != nil {
		return err
	}
	for i := range n {
		if err := out.Write(row(i)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Trades writes closed trades, each at once and whole. It is for one goroutine.
type Trades struct {
	csv    *csv.Writer
	json   *json.Encoder
	headed bool
}

// CSV returns a writer of a file of its own, which begins with the names of the columns.
func CSV(w io.Writer) *Trades { return &Trades{csv: csv.NewWriter(w)} }

// CSVRows returns a writer that goes on with a file that [CSV] began.
func CSVRows(w io.Writer) *Trades { return &Trades{csv: csv.NewWriter(w), headed: true} }

// JSONLines returns a writer of one JSON object a line. Numbers are strings, so that no
// reader rounds them.
func JSONLines(w io.Writer) *Trades {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &Trades{json: encoder, headed: true}
}

// columns of the CSV; the package comment explains them.
var columns = []string{
	"Date", "Amount", "Currency", "Label", "Description",
	"Account", "Symbol", "Side", "Cause", "Size", "Entry Price", "Exit Price", "Gross PnL", "Fee", "Opened At",
}

const (
	currency = "USD"
	label    = "realized gain"
)

// Begin writes the names of the columns, unless they are there. Without it the first
// Write does, and a file without a trade is empty.
func (t *Trades) Begin() error {
	if t.headed {
		return nil
	}
	t.headed = true
	return t.row(columns)
}

// Write writes a trade of an account; an empty one is the paper account.
func (t *Trades) Write(account trading.AccountID, trade trading.Trade) error {
	if t.json != nil {
		if err := t.json.Encode(lineOf(account, trade)); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return nil
	}
	if err := t.Begin(); err != nil {
		return err
	}
	return t.row([]string{
		stamp(trade.ClosedAt), trade.NetPnL().String(), currency, label, Text(describe(trade)),
		Text(string(account)), Text(trade.Symbol), Text(string(trade.Side)), Text(string(trade.Cause)),
		number(trade.Size), number(trade.EntryPrice), trade.ExitPrice.String(),
		trade.GrossPnL.String(), trade.RoundTripFee.String(), stamp(trade.OpenedAt),
	})
}

// row writes a row at once: a program that is killed leaves whole rows.
func (t *Trades) row(cells []string) error {
	if err := t.csv.Write(cells); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	t.csv.Flush()
	if err := t.csv.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// describe is the trade in words, as a person looks for it in a tool.
func describe(t trading.Trade) string {
	size := ""
	if n, ok := t.Size.Get(); ok {
		size = " " + n.String()
	}
	return fmt.Sprintf("%s%s %s closed by %s", t.Side, size, t.Symbol, t.Cause)
}

// stamp is a time; empty for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// number is a number; empty for none.
func number(n trading.Opt[decimal.Decimal]) string {
	d, ok := n.Get()
	if !ok {
		return ""
	}
	return d.String()
}
